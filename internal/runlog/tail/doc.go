// Package tail follows what runs print while they go on.
//
// It promises that a follower gets every byte from its place on, in order and once: what
// is missing is said in its place, and the end of the run comes last. Places are offsets in all
// that the command printed, so a follower may go on here where it stopped at another master.
//
// All followers of one run share one reader of the store, which keeps a window of the newest
// output in memory. Who is behind the window reads for itself until it has caught up, together with
// those that are at the same place. Nobody waits for a slow follower: each one takes what comes next when it likes.
//
// A run that is followed has one goroutine, which ends with its last follower. Memory is bounded
// by WindowBytes and four times PieceBytes for a run, and PieceBytes for each follower.
package tail
