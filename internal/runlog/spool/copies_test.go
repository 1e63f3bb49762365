package spool

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"carillon/internal/common"
)

// killed is the folder as a process leaves it that is killed now.
func killed(t *testing.T, dir string) string {
	t.Helper()
	left := t.TempDir()
	if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return left
}

func keep(t *testing.T, s *Spool, last uint64, chunks ...common.Chunk) {
	t.Helper()
	if err := s.Keep(chunks, last); err != nil {
		t.Fatal(err)
	}
}

// Copies come behind the queue in the next life, once, until they are released; a torn tail is cut off.
func TestCopiesOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	s := start(t, config(dir, 8<<20, 1<<20))
	queued, first, second, third := output("a", 0, 100), output("a", 100, 50), output("b", 0, 70), output("c", 0, 20)
	appendAll(t, s, queued)
	keep(t, s, 7, first, second)
	keep(t, s, 9, third)

	left := killed(t, dir)
	next := start(t, config(left, 8<<20, 1<<20))
	same(t, drain(t, next, 1<<20), []common.Chunk{queued, first, second, third})
	appendAll(t, next, third)
	same(t, drain(t, start(t, config(killed(t, left), 8<<20, 1<<20)), 1<<20), []common.Chunk{third})

	torn := killed(t, dir)
	change(t, filepath.Join(torn, "spool", copyName(0)), func(data []byte) []byte { return data[:len(data)-3] })
	same(t, drain(t, start(t, config(torn, 8<<20, 1<<20)), 1<<20), []common.Chunk{queued, first, second})

	s.Release(8)
	same(t, drain(t, start(t, config(killed(t, dir), 8<<20, 1<<20)), 1<<20),
		[]common.Chunk{queued, first, second, third})
	s.Release(9)
	same(t, drain(t, start(t, config(killed(t, dir), 8<<20, 1<<20)), 1<<20), []common.Chunk{queued})
	keep(t, s, 10, third)
	same(t, drain(t, start(t, config(killed(t, dir), 8<<20, 1<<20)), 1<<20), []common.Chunk{queued, third})
}

// While output goes on and on, one file is forgotten while the other one is written to.
func TestCopiesTakeTurns(t *testing.T) {
	s := start(t, config(t.TempDir(), 8<<20, 1<<20))
	for i := range uint64(200) {
		keep(t, s, i+2, output("a", int64(i)*common.MaxChunk, common.MaxChunk))
		s.Release(i)
		if size := s.copies.files[0].size + s.copies.files[1].size; size > 3*copyLarge {
			t.Fatalf("%d KiB of copies are kept", size>>10)
		}
	}
	s.Release(201)
	if s.copies.files[0].size+s.copies.files[1].size > 0 {
		t.Error("copies are left")
	}
}

func TestCopiesLeaveRoomOnTheDisk(t *testing.T) {
	cfg := config(t.TempDir(), 8<<20, 1<<20)
	cfg.Free = func() (uint64, uint64, error) { return 1 << 20, 1 << 30, nil }
	if err := start(t, cfg).Keep([]common.Chunk{output("a", 0, 10)}, 1); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a disk that is too full takes copies: %v", err)
	}
}
