// Package etcd stores users, tokens, sessions and login codes in etcd.
//
// Promises: only hashes of secrets are stored; each change is one compare-and-swap transaction that
// includes its audit entry; a login code is valid for one session; the first admin token can be
// created once, and the last admin cannot be removed; a token or session that was deleted, or whose
// user was deleted or changed, is refused or restricted on all masters within three seconds,
// because reads are cached for no longer.
//
// Failed logins are part of the audit, up to a bound. The use of a token is not: it is stored
// separately, at most once a minute.
//
// The package starts no goroutine. A Store is safe for concurrent use.
package etcd
