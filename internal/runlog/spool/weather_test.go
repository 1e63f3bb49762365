package spool

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"carillon/internal/common"
)

// shelf is a log store: the first chunk of a run at an offset, of a stream, stays.
type shelf map[string]common.Chunk

func (s shelf) put(c common.Chunk) {
	id := fmt.Sprintf("%s/%020d/%s", c.Run, c.Offset, c.Stream)
	if _, known := s[id]; !known {
		s[id] = c
	}
}

// TestSpool_RandomSteps_EachByteOnce checks that for output that is spooled, sent in part, acknowledged, dropped
// over the bound and truncated by crashes, finally each byte of a run is in the store or recorded as missing, and
// not both.
func TestSpool_RandomSteps_EachByteOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "spool")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		segment := rapid.Int64Range(512, 4096).Draw(t, "segment")
		log := &bytes.Buffer{}
		cfg := config(dir, segment*rapid.Int64Range(16, 40).Draw(t, "max"), segment)
		cfg.Log = slog.New(slog.NewTextHandler(log, nil))
		open := func() *Spool {
			s, err := Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s, store, ends := open(), shelf{}, map[string]int64{}
		runs := []string{"a", "b", "a-rather-long-name-of-a-run"}
		next := func() common.Chunk {
			run := rapid.SampledFrom(runs).Draw(t, "run")
			size := rapid.IntRange(1, int(segment/4)).Draw(t, "size")
			c := output(run, ends[run], size)
			if rapid.IntRange(0, 9).Draw(t, "hole") == 0 { // an earlier gap of the input
				c.Data, c.Stream, c.Missing = nil, "", int64(size)
			}
			ends[run] = c.End()
			return c
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1, 2:
				var batch []common.Chunk
				for range rapid.IntRange(1, 40).Draw(t, "batch") {
					batch = append(batch, next())
				}
				sent := 0
				if s.State().Waiting == 0 && rapid.Bool().Draw(t, "sent before") { // the store failed in the middle
					sent = rapid.IntRange(0, len(batch)).Draw(t, "sent")
					for _, c := range batch[:rapid.IntRange(0, sent).Draw(t, "taken")] {
						store.put(c)
					}
				}
				if n, err := s.Append(batch, sent); err != nil || n != len(batch) {
					t.Fatalf("%d of %d: %v", n, len(batch), err)
				}
				if state := s.State(); state.Bytes > cfg.Max {
					t.Fatalf("%+v", state)
				}
			case 3, 4:
				chunks, upTo, err := s.Next(rapid.IntRange(1, int(segment/2)).Draw(t, "limit"))
				if err != nil {
					t.Fatal(err)
				}
				taken := len(chunks)
				failed := rapid.Bool().Draw(t, "failed")
				if failed {
					taken = rapid.IntRange(0, len(chunks)).Draw(t, "taken")
				}
				for _, c := range chunks[:taken] {
					store.put(c)
				}
				if !failed && rapid.Bool().Draw(t, "acked") {
					s.Ack(upTo)
				}
			case 5:
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if rapid.Bool().Draw(t, "torn") {
					tear(t, dir, rapid.IntRange(1, 50).Draw(t, "garbage"))
				}
				s = open()
			}
		}
		for {
			chunks, upTo, err := s.Next(2000)
			if err != nil {
				t.Fatal(err)
			}
			if len(chunks) == 0 {
				break
			}
			for _, c := range chunks {
				store.put(c)
			}
			s.Ack(upTo)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log.String(), "spool_truncated") {
			t.Fatal("the bound is too narrow for this test")
		}
		store.check(t, ends)
	})
}

// tear appends an incomplete write to the newest file.
func tear(t *rapid.T, dir string, n int) {
	files, err := filepath.Glob(filepath.Join(dir, "spool", "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		return
	}
	f, err := os.OpenFile(files[len(files)-1], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func (s shelf) check(t *rapid.T, ends map[string]int64) {
	count := map[string][]int{}
	for run, end := range ends {
		count[run] = make([]int, end)
	}
	for id, c := range s {
		for i, b := range c.Data {
			if b != byteAt(c.Run, c.Offset+int64(i)) {
				t.Fatalf("byte %d of %s is not what it was", i, id)
			}
		}
		for at := c.Offset; at < c.End(); at++ {
			count[c.Run][at]++
		}
	}
	for run, times := range count {
		for at, n := range times {
			if n != 1 {
				t.Fatalf("byte %d of %s (of %d) is there %d times", at, run, len(times), n)
			}
		}
	}
}
