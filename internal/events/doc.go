// Package events is the stream of events: changes of jobs, runs, flow runs and workers in the order of etcd's
// revisions, from any revision on.
//
// One watch serves all followers of a process, and without followers there is no watch. The latest
// events are kept in a bounded ring. A follower is a position in the ring: it has no buffer of its
// own, and a slow one does not delay the others. A follower whose position has left the ring, or
// that asks for a revision that is no longer available, gets a reset and continues with new events:
// then it has to read the lists again.
//
// Hub.Run is one goroutine, which waits for a second one, the watch. All methods of a Hub are safe
// for concurrent use; those of a Follower are for one goroutine.
package events
