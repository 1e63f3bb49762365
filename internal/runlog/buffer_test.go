package runlog

import (
	"testing"
	"time"

	"carillon/internal/common"
)

// The record of a start is not output: none is missing if there is no room for it.
func TestBufferFull_StartIsDropped_NoOutputIsMissing(t *testing.T) {
	b := buffer{limit: 1000, lost: map[string]common.Chunk{}}
	print := func(offset int64, size int) {
		b.add(common.Chunk{Run: "a", Offset: offset, At: time.Unix(1, 0), Data: make([]byte, size)})
	}
	print(0, 800)
	print(800, 100)
	if _, dropped, _ := b.add(common.StartChunk("a", time.Unix(1, 0))); dropped != 0 {
		t.Errorf("%d bytes dropped", dropped)
	}
	if _, dropped, _ := b.add(common.StartChunk("b", time.Unix(1, 0))); dropped != 0 {
		t.Errorf("%d bytes dropped", dropped)
	}
	if gap := b.lost["a"]; gap.Offset != 800 || gap.Missing != 100 || len(b.lost) != 1 || len(b.chunks) != 1 {
		t.Errorf("%d chunks, missing %+v", len(b.chunks), b.lost)
	}
}
