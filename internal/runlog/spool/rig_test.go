package spool

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

// plenty is a disk that never fills.
func plenty() (free, total uint64, err error) { return 1 << 40, 1 << 40, nil }

func config(dir string, max, segment int64) Config {
	return Config{Dir: dir, Max: max, Segment: segment, Log: slog.New(slog.DiscardHandler), Free: plenty}
}

func start(t testing.TB, cfg Config) *Spool {
	t.Helper()
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

var base = time.Date(2026, 3, 1, 12, 0, 0, 123, time.UTC)

// output returns a piece of a run whose bytes encode their position.
func output(run string, offset int64, size int) common.Chunk {
	c := common.Chunk{
		Run:    run,
		Offset: offset,
		Stream: common.Stdout,
		At:     base.Add(time.Duration(offset)),
		Data:   make([]byte, size),
	}
	if offset%3 == 1 {
		c.Stream = common.Stderr
	}
	for i := range c.Data {
		c.Data[i] = byteAt(run, offset+int64(i))
	}
	return c
}

func byteAt(run string, at int64) byte { return byte(at*7) + run[len(run)-1] }

func appendAll(t testing.TB, s *Spool, chunks ...common.Chunk) {
	t.Helper()
	if n, err := s.Append(chunks, 0); err != nil || n != len(chunks) {
		t.Fatalf("%d of %d are there: %v", n, len(chunks), err)
	}
}

// drain reads and acknowledges everything.
func drain(t testing.TB, s *Spool, limit int) (all []common.Chunk) {
	t.Helper()
	for {
		chunks, upTo, err := s.Next(limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(chunks) == 0 {
			if state := s.State(); state.Waiting != 0 || state.Bytes != 0 {
				t.Fatalf("nothing comes, but there is %+v", state)
			}
			return all
		}
		all = append(all, chunks...)
		s.Ack(upTo)
	}
}

func text(chunks []common.Chunk) string {
	var b strings.Builder
	for _, c := range chunks {
		fmt.Fprintf(&b, "%s %d+%d-%d %s %v\n", c.Run, c.Offset, len(c.Data), c.Missing, c.Stream, c.At.UnixNano())
	}
	return b.String()
}

func same(t testing.TB, got, want []common.Chunk) {
	t.Helper()
	if text(got) != text(want) {
		t.Fatalf("got\n%swant\n%s", text(got), text(want))
	}
	for i := range got {
		if !bytes.Equal(got[i].Data, want[i].Data) {
			t.Fatalf("the data of chunk %d are others", i)
		}
	}
}

// outFiles returns the files of the queue, in order.
func outFiles(t testing.TB, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "spool", pattern))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func change(t testing.TB, path string, edit func(data []byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, edit(data), 0o600); err != nil {
		t.Fatal(err)
	}
}
