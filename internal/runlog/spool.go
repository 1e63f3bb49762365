package runlog

import (
	"errors"

	"carillon/internal/common"
)

// Spool keeps output on the disk, in order, until the log store has it.
type Spool interface {
	// Append adds chunks to the end of the queue; the first few of them were sent to the store already. It
	// returns how many it has accepted, all unless there is an error. They survive the process.
	Append(chunks []common.Chunk, sent int) (int, error)
	// Sync ensures that all accepted output survives a crash of the machine.
	Sync() error
	// Next returns the oldest chunks, as many as fit into limit bytes, and the position after them; none if
	// there are no more.
	Next(limit int) (chunks []common.Chunk, upTo uint64, err error)
	// Ack records that everything before a position is stored.
	Ack(upTo uint64)
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
	Acked, End uint64
	Refused    error // why nothing more is accepted; nil if it is
}

// NoSpool is the spool of a sink that receives no output. It is always empty.
type NoSpool struct{}

// Append accepts nothing.
func (NoSpool) Append([]common.Chunk, int) (int, error) { return 0, errors.New("there is no spool") }

// Sync does nothing.
func (NoSpool) Sync() error { return nil }

// Next returns nothing.
func (NoSpool) Next(int) ([]common.Chunk, uint64, error) { return nil, 0, nil }

// Ack does nothing.
func (NoSpool) Ack(uint64) {}

// Check does nothing.
func (NoSpool) Check() {}

// State returns the state of an empty spool.
func (NoSpool) State() SpoolState { return SpoolState{} }
