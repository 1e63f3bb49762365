package common

import "time"

// MaxChunk is the maximum size of a chunk of output, in bytes.
const MaxChunk = 64 << 10

// Stream is one of the two outputs of a command.
type Stream string

// The streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// started is the stream of the chunk that records the start of a command.
const started Stream = "started"

// Chunk is a piece of a run's output. Offset is its position in everything that the command printed, over both streams.
// A chunk without data stands for dropped output: Missing is the number of dropped bytes.
type Chunk struct {
	Run     string
	Offset  int64
	Stream  Stream // empty if Missing is set
	At      time.Time
	Data    []byte
	Missing int64
}

// End returns the offset after the chunk.
func (c *Chunk) End() int64 { return c.Offset + int64(len(c.Data)) + c.Missing }

// StartChunk returns the chunk that records when the command of a run started. It is empty and ends at offset 0:
// readers of the output, which ask for chunks that end after an offset, do not get it.
func StartChunk(run string, at time.Time) Chunk { return Chunk{Run: run, Stream: started, At: at} }

// RecordsStart reports whether the chunk records the start of the command.
func (c *Chunk) RecordsStart() bool { return c.Stream == started }
