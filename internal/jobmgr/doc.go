// Package jobmgr changes jobs in etcd: the Store saves, deletes, triggers and kills.
//
// Every change is one transaction that compares the values it was decided on, accounts for every fire that
// the cursor passes, and records under /cron/changes the actor and the values before and after. A value that
// does not decode does not affect other jobs. The Store is safe for concurrent use.
package jobmgr
