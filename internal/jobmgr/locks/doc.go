// Package locks serves named locks to clients of the API. The client keeps no connection and no lease: a session, of
// which etcd has the hash, names the client, and the keys of the session have its lease. So each master can serve each
// request, and no lock is lost when a master dies.
//
// Promises: those of package namedlock. A waiter counts the grace period of an absent owner from the first request at
// the same master that found it absent; another master begins again, which only delays the takeover.
//
// A Service is safe for concurrent use and starts no goroutine.
package locks
