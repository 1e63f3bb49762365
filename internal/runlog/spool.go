package runlog

import "carillon/internal/common"

// Spool keeps output on the disk while the log store does not take it, in order.
type Spool interface {
	// Append puts chunks behind all others; the first few of them were sent to the store
	// already. It tells how many are there for good, all unless there is an error.
	Append(chunks []common.Chunk, sent int) (int, error)
	// Next gives the oldest, as many as take limit bytes, and the place behind them;
	// none when there are no more.
	Next(limit int) (chunks []common.Chunk, upTo uint64, err error)
	// Ack says that everything before a place is stored.
	Ack(upTo uint64) error
	// Keep writes copies of output that is in memory, so that they outlive the process: the next life finds them behind
	// all others. last is the number of the newest chunk in memory. It is not for concurrent use.
	Keep(chunks []common.Chunk, last uint64) error
	// Release forgets the copies of chunks up to a number, which are stored or appended. Nor is it.
	Release(upTo uint64)
	// Check looks whether the disk has room.
	Check()
	// State never waits for the disk.
	State() SpoolState
}

// SpoolState is how a spool is filled. Sizes are bytes.
type SpoolState struct {
	Waiting    int64 // output that is not acknowledged, as it lies on the disk
	Bytes, Max int64 // of the disk
	Dropped    int64 // output that was dropped in this life since all was full
	End        uint64
	Refused    error // why nothing more is taken, if so
}
