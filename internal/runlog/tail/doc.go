// Package tail follows the output of active runs.
//
// It promises that a follower receives every byte from its position on, in order and once: missing output is
// recorded in its place, and the end of the run comes last. Positions are offsets in the complete output of
// the command, so a follower can continue at another master.
//
// All followers of one run share one reader of the store, which keeps a window of the newest output in
// memory. A follower behind the window reads for itself until it has caught up, together with others at the
// same position. A slow follower delays no other: each one reads at its own pace.
//
// A run that is followed has one goroutine, which ends with its last follower. Memory is bounded
// by WindowBytes and four times PieceBytes for a run, and PieceBytes for each follower.
package tail
