// Package jobmgr keeps jobs in etcd: the Store changes them, the Watcher notifies workers of changes, and the
// Catalog lists them for masters.
//
// Every change is one transaction that compares the values it was decided on, accounts for every fire that
// the cursor passes, and records under /cron/changes the actor and the values before and after. A value that
// does not decode is reported and does not affect other jobs.
//
// Watcher.Run and Catalog.Run are goroutines of their callers; everything else is safe for concurrent use.
package jobmgr
