package common

import "time"

// MaxChunk is the most bytes that one chunk of output holds.
const MaxChunk = 64 << 10

// Stream is one of a command's two outputs.
type Stream string

// The streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// Chunk is a piece of a run's output. Offset is its true place in all that the
// command printed, over both streams; what was dropped in the middle is a chunk
// without data that says how many bytes are missing.
type Chunk struct {
	Run     string
	Offset  int64
	Stream  Stream // empty where Missing is set
	At      time.Time
	Data    []byte
	Missing int64
}

// End is the offset after the chunk.
func (c *Chunk) End() int64 { return c.Offset + int64(len(c.Data)) + c.Missing }
