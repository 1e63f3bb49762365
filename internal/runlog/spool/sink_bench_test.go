package spool_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/spool"
)

// quick is a log store and an outbox that take all at once.
type quick struct{ gate }

func (*quick) Write(context.Context, runlog.Batch) error { return nil }
func (*quick) Ack(context.Context, []string) error       { return nil }

// BenchmarkShortRun measures what a short run with a line of output costs in the sink and on the disk, with
// many runs at once.
func BenchmarkShortRun(b *testing.B) {
	output, err := spool.Open(spool.Config{Dir: b.TempDir(), Max: 1 << 30, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	q := &quick{}
	cfg := runlog.SinkConfig{Spool: output, Report: func(error) {}}
	sink := runlog.NewSink(cfg, q, q, slog.New(slog.DiscardHandler), q)
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error)
	go func() { done <- sink.Run(ctx, time.Minute) }()
	var n atomic.Int64
	data := []byte("hello\n")
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id := fmt.Sprintf("3f9a2c71e04b0001-%020d-1", n.Add(1))
			sink.Chunk(common.Chunk{Run: id, Stream: common.Stdout, Data: data})
			sink.Ended(id)
			sink.Written([]common.Run{{ID: id, Job: "job", Status: common.StatusSucceeded}})
		}
	})
	stop()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
