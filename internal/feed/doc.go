// Package feed tells those who follow what changes: jobs, runs and workers, in the order in
// which etcd took the changes, from whatever revision on.
//
// There is one watch for all followers of a process, and none while nobody follows. What came
// last is kept, in a bounded ring, and a follower is a place in it: it has no buffer of its own, and
// none slows down another. Who falls so far behind that its place is gone, or asks for what
// nobody has any more, is told so, and goes on from now: then the lists have to be read again.
//
// Hub.Run is one goroutine, which waits for a second one, the watch. All methods of a Hub are
// safe for concurrent use; those of a Follower are for one goroutine.
package feed
