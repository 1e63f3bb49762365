// Package jobmgr keeps jobs in etcd: the Store changes them, the Watcher tells
// workers of them, and the Catalog lists them for masters.
//
// It promises that every change is one transaction that compares what it was
// decided on, accounts for every fire that it makes the cursor pass, and leaves
// under /cron/changes who did it, before and after. A value that does not decode
// is told of and stops nothing else.
//
// Watcher.Run and Catalog.Run are goroutines of their callers; everything else is
// safe for concurrent use.
package jobmgr
