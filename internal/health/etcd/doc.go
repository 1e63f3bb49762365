// Package etcd checks etcd, the log store and the workers for a master, and shows the state of the cluster as that
// master sees it: its conditions, its overview and its diagnosis.
//
// It promises that requests never wait for a dependency that is away: they get the result of the last check. The
// checks run in Run, which owns them; all other methods are safe for concurrent use.
package etcd
