package spool_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/spool"
	"carillon/internal/runlog/sqlitelog"
)

// gate is a log store that can be away; and, together with it, an outbox in which nothing waits.
type gate struct {
	runlog.Writer
	mu   sync.Mutex
	away bool
}

func (g *gate) Write(ctx context.Context, b runlog.Batch) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.away {
		return errors.New("away")
	}
	return g.Writer.Write(ctx, b)
}

func (g *gate) set(away bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.away = away
}

func (*gate) Pending(context.Context, int) (runlog.Pending, error) { return runlog.Pending{}, nil }
func (*gate) SinkWrite(int, time.Duration, bool)                   {}
func (*gate) QueueDepth(string, int)                               {}
func (*gate) OutputDropped(int)                                    {}

// Three lives of a sink over one folder, and a store that is away until the last: a reader
// of that store finds what was printed, and in the place of what had to go how much it was.
func TestSink_ThreeLives_OutputStoredOrRecorded(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlitelog.Open(t.Context(), filepath.Join(dir, "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	g := &gate{Writer: store}
	const chunks, size = 200, common.MaxChunk
	printed := int64(0)
	for _, away := range []bool{true, true, false} {
		g.set(away)
		output, err := spool.Open(spool.Config{Dir: dir, Max: 16 << 20, Log: slog.New(slog.DiscardHandler),
			Free: func() (uint64, uint64, error) { return 1 << 40, 1 << 40, nil }})
		if err != nil {
			t.Fatal(err)
		}
		cfg := runlog.SinkConfig{Spool: output, Report: func(error) {}}
		sink := runlog.NewSink(cfg, g, g, slog.New(slog.DiscardHandler), g)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		drain := time.Millisecond
		if !away {
			drain = time.Minute
		}
		go func() { done <- sink.Run(ctx, drain) }()
		for range chunks {
			data := make([]byte, size)
			copy(data, fmt.Sprintf("at %d\n", printed))
			sink.Chunk(common.Chunk{
				Run:    "long",
				Offset: printed,
				Stream: common.Stdout,
				At:     time.Unix(1, 0),
				Data:   data,
			})
			printed += size
		}
		stop()
		if err := <-done; (err != nil) != away {
			t.Fatalf("away %v, and the sink ends with %v", away, err)
		}
		if waiting := output.State().Waiting; (waiting > 8<<20) != away {
			t.Errorf("away %v, and %d bytes wait", away, waiting)
		}
		if err := output.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var end, missing int64
	for end < printed {
		page, err := store.Output(t.Context(), "long", end, 1<<20)
		if err != nil || len(page) == 0 {
			t.Fatalf("the output ends at %d, %v", end, err)
		}
		for _, c := range page {
			if c.Offset != end || c.Missing == 0 &&
				!strings.HasPrefix(string(c.Data), fmt.Sprintf("at %d\n", c.Offset)) {
				t.Fatalf("at %d is %.20q", end, c.Data)
			}
			end, missing = c.End(), missing+c.Missing
		}
	}
	if end != printed || missing < 4<<20 || missing > 30<<20 {
		t.Fatalf("the output ends at %d of %d, %d bytes are missing", end, printed, missing)
	}
}

// hung is a log store that does not answer.
type hung struct{}

func (hung) Write(ctx context.Context, _ runlog.Batch) error {
	<-ctx.Done()
	return ctx.Err()
}

// What a run has printed is there after its worker was killed, if its outcome was committed: neither the
// store nor the spool has it.
func TestSink_KilledAfterEnded_OutputSurvives(t *testing.T) {
	dir := t.TempDir()
	disk := func(dir string) *spool.Spool {
		output, err := spool.Open(spool.Config{Dir: dir, Max: 16 << 20, Log: slog.New(slog.DiscardHandler),
			Free: func() (uint64, uint64, error) { return 1 << 40, 1 << 40, nil }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = output.Close() })
		return output
	}
	g := &gate{}
	cfg := runlog.SinkConfig{Spool: disk(dir), Report: func(error) {}}
	sink := runlog.NewSink(cfg, g, hung{}, slog.New(slog.DiscardHandler), g)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- sink.Run(ctx, time.Millisecond) }()
	defer func() { stop(); <-done }()
	chunk := common.Chunk{Run: "short", Stream: common.Stdout, At: time.Unix(1, 0).UTC(), Data: []byte("done\n")}
	sink.Chunk(chunk)
	var left []common.Chunk
	for began := time.Now(); len(left) == 0 && time.Since(began) < 30*time.Second; { // the sink has just been started
		sink.Ended("short")
		killed := t.TempDir()
		if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		var err error
		if left, _, err = disk(killed).Next(1 << 20); err != nil {
			t.Fatal(err)
		}
	}
	if len(left) != 1 || left[0].Run != "short" || string(left[0].Data) != "done\n" {
		t.Errorf("after a kill there is %+v", left)
	}
}
