// Package runas decides as which user this worker runs a job, and whether it may run the job's command.
//
// Promise: the worker decides, not the job. Without a run-as file every command runs as the worker's own user, and a
// job that names another user is refused. The file defines which users the jobs of each group may name, and which
// shells and commands they may use; if it has a default, the worker's own user needs to be listed like any other. The
// file applies only if root owns it and all its parent folders, and no other user may write any of them. It is read
// again when it has changed; if the new version is invalid, the previous rules remain in force and the worker has a
// condition.
//
// The package starts no goroutines. A File is safe for concurrent use.
package runas
