package runlog

import "carillon/internal/common"

// Spool keeps output on the disk, in order, while the log store does not accept it.
type Spool interface {
	// Append adds chunks to the end of the queue; the first few of them were sent to the store already. It
	// returns how many are durable, all unless there is an error.
	Append(chunks []common.Chunk, sent int) (int, error)
	// Next returns the oldest chunks, as many as fit into limit bytes, and the position after them; none if
	// there are no more.
	Next(limit int) (chunks []common.Chunk, upTo uint64, err error)
	// Ack records that everything before a position is stored.
	Ack(upTo uint64) error
	// Keep writes copies of output in memory, so that they survive the process: the next incarnation appends
	// them to the queue. last is the number of the newest chunk in memory. It is not safe for concurrent use.
	Keep(chunks []common.Chunk, last uint64) error
	// Release deletes the copies of chunks up to a number, which are stored or appended. It is not safe for
	// concurrent use either.
	Release(upTo uint64)
	// Check updates whether the disk has room.
	Check()
	// State never waits for the disk.
	State() SpoolState
}

// SpoolState is the fill level of a spool. Sizes are bytes.
type SpoolState struct {
	Waiting    int64 // output that is not acknowledged, as stored on the disk
	Bytes, Max int64 // on the disk
	Dropped    int64 // output dropped in this incarnation because the spool was full
	End        uint64
	Refused    error // why nothing more is accepted; nil if it is
}
