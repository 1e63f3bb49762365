package worker

import (
	"context"
	"errors"
	"testing"
)

// When a fire is re-run is set by the clocks of all workers: one that starts resolves nothing before it knows them.
func TestRecoveryAtTheStart_WaitsForTheMembers(t *testing.T) {
	t.Parallel()
	w := newLoopsWorker(t, shared.Start(t), 0)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := w.recover(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("it did not wait: %v", err)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { _ = w.members.Run(ctx); close(done) }()
	t.Cleanup(func() { end(); <-done })
	if err := w.recover(ctx); err != nil {
		t.Error(err)
	}
	if w.members.Snapshot().Generation == 0 {
		t.Error("it resolved before it knew the members")
	}
}
