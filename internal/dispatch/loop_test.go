package dispatch

import (
	"errors"
	"testing"
	"time"

	"carillon/internal/common"
)

// After Run has returned, messages are dropped: no sender waits, and recovery leaves the runs of this worker alone.
func TestMessages_AfterRun_AreDropped(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.long("a")
		r.hand(r.fire("a"))
		r.runner.deaf = true
		r.stop()
		r.returned(drain + 2*halt)
		for range 2 * cap(r.d.messages) {
			r.d.Kills(nil)
		}
		r.d.Release(common.Orphan{}, 0)
		if !r.d.Owns("any") || r.d.ask(func() { t.Error("executed") }) {
			r.Fatal("a message was answered")
		}
		if err := r.runner.started()[0].MayStart(); !errors.Is(err, errCutOff) {
			r.Fatalf("a command may start: %v", err)
		}
	})
}

// Runs start, end and are asked about while all other goroutines send messages too.
func TestMessages_FromManyGoroutines(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.long("a")
		r.hand(r.fire("a"))
		run := r.runner.started()[0].Record.Run
		done := make(chan bool)
		for range 3 * cap(r.d.messages) {
			go func() {
				r.d.Kills(nil)
				done <- r.d.Owns(run) && !r.d.Owns("other")
			}()
		}
		for range 3 * cap(r.d.messages) {
			if !<-done {
				t.Error("wrong answer")
			}
		}
		r.release("a")
		time.Sleep(time.Second)
		if r.d.Owns(run) || r.running() != 0 {
			r.Fatal("the run did not end")
		}
	})
}
