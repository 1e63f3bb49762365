// Package runas decides as whom this worker lets a job run, and what.
//
// Promise: what a job says is only a wish. Without a file every command runs as the worker's own
// user, and a job that names another is refused. A file says whom the jobs of each group may name,
// and which shells and commands they may use; with a default, the worker's own user is one like all others. It counts only if root owns it and each folder above it, and
// nobody else may write any of them. It is read again when it has changed; what it then says wrong leaves what it said
// before in force, and is a condition of the worker.
//
// Nothing here starts a goroutine. A File is safe for concurrent use.
package runas
