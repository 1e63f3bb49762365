package runlog

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"carillon/internal/common"
)

// nothing is a log store and an outbox that take all at once.
type nothing struct{}

func (nothing) Write(context.Context, Batch) error            { return nil }
func (nothing) Pending(context.Context, int) (Pending, error) { return Pending{}, nil }
func (nothing) Ack(context.Context, []string) error           { return nil }
func (nothing) SinkWrite(int, time.Duration, bool)            {}
func (nothing) QueueDepth(string, int)                        {}
func (nothing) OutputDropped(int)                             {}

// BenchmarkShortRun is what a short run with a line of output costs in the sink.
func BenchmarkShortRun(b *testing.B) {
	s := NewSink(SinkConfig{Spool: newDrawer()}, nothing{}, nothing{}, slog.New(slog.DiscardHandler), nothing{})
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx, time.Minute) }()
	runs := make([]common.Run, 1)
	data := []byte("hello\n")
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = fmt.Sprintf("3f9a2c71e04b%04d-01770000000000000000-1", i)
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		id := ids[n%len(ids)]
		n++
		s.Chunk(common.Chunk{Run: id, Stream: common.Stdout, Data: data})
		runs[0] = common.Run{ID: id, Job: "job", Status: common.StatusSucceeded}
		s.Written(runs)
	}
	stop()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
