// Package namedlock holds the protocol of named locks: the state of a lock as one client sees it (View), the pure
// decision about the client's next move (View.Next), and the transactions of these moves (Store).
//
// A key under the client's lease, the holder, shows that the client is alive; a key without a lease, the owner, shows
// that it has not finished. A client that has lost its lease takes the lock back at once, because it is still the
// owner; any other client waits until the owner has been away for its grace period. See docs/adr/0033-named-locks.md.
//
// Promises: there is at most one holder at any revision; tokens grow from owner to owner; a transaction whose response
// was lost is recognized by the session in the holder or the owner.
//
// It starts no goroutine. Package lock is the client for Go programs, and jobmgr/locks serves those of the API.
package namedlock
