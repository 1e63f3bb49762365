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

// BenchmarkOutcome is what the outcome of a run costs in the sink.
func BenchmarkOutcome(b *testing.B) {
	cfg := SinkConfig{Spool: NoSpool{}, Report: func(error) {}}
	s := NewSink(cfg, nothing{}, nothing{}, slog.New(slog.DiscardHandler), nothing{})
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx, time.Minute) }()
	runs := make([]common.Run, 1)
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = fmt.Sprintf("3f9a2c71e04b%04d-01770000000000000000-1", i)
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		id := ids[n%len(ids)]
		n++
		runs[0] = common.Run{ID: id, Job: "job", Status: common.StatusSucceeded}
		s.Written(runs)
	}
	stop()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
