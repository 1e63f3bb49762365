package spool

import (
	"testing"

	"carillon/internal/common"
)

// BenchmarkAppend writes flushes of 64 KiB to the disk, in lines of a kibibyte.
func BenchmarkAppend(b *testing.B) {
	s := start(b, config(b.TempDir(), 1<<30, 0))
	flush := make([]common.Chunk, 64)
	for i := range flush {
		flush[i] = output("3f9a2c71e04b0001-01770000000000000000-1", int64(i)<<10, 1<<10)
	}
	b.SetBytes(64 << 10)
	for b.Loop() {
		if _, err := s.Append(flush, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReplay reads and acknowledges 64 MiB, in batches of 4 MiB.
func BenchmarkReplay(b *testing.B) {
	batch := make([]common.Chunk, 1024)
	for i := range batch {
		batch[i] = output("3f9a2c71e04b0001-01770000000000000000-1", int64(i)<<10, 1<<10)
	}
	s := start(b, config(b.TempDir(), 1<<30, 0))
	b.SetBytes(64 << 20)
	for b.Loop() {
		b.StopTimer()
		for range 64 {
			appendAll(b, s, batch...)
		}
		b.StartTimer()
		if n := len(drain(b, s, 4<<20)); n != 64*len(batch) {
			b.Fatalf("%d chunks", n)
		}
	}
}
