package election

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/etcdkit"
	"carillon/internal/health"
)

// Duty is a task of the elected master. It is restarted after a pause if it returns before its context ends. It
// must return when the context ends: no other master is elected before.
type Duty struct {
	Name string
	Run  func(ctx context.Context) error
	Loop *health.Loop // counts its rounds while this master is elected
}

// Pauses before a duty is restarted.
const (
	dutyFirst = time.Second
	dutyMost  = time.Minute
	// dutyLate is how long after the end of its context a duty counts as stuck.
	dutyLate = 10 * time.Second
)

// errEnded reports that a duty returned without an error.
var errEnded = errors.New("ended without an error")

// Perform runs all duties until the context ends, and waits for them.
func Perform(ctx context.Context, log *slog.Logger, duties []Duty) {
	var all sync.WaitGroup
	for _, d := range duties {
		all.Go(func() {
			ended := make(chan struct{})
			all.Go(func() { d.miss(ctx, log, ended) })
			d.persist(ctx, log)
			close(ended)
		})
	}
	<-ctx.Done()
	all.Wait()
}

// persist restarts the duty until the context ends.
func (d *Duty) persist(ctx context.Context, log *slog.Logger) {
	d.Loop.Start()
	defer d.Loop.End()
	for wait := dutyFirst; ; {
		began := time.Now()
		err := d.Run(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errEnded
		}
		if time.Since(began) > dutyMost {
			wait = dutyFirst
		}
		d.Loop.Done(err)
		log.Error("duty_failed", "duty", d.Name, "error", err, "again_in", wait)
		if !etcdkit.Sleep(ctx, wait) {
			return
		}
		wait = min(2*wait, dutyMost)
	}
}

// miss logs a duty that continues long after the end of its context: until it returns, no master performs it.
func (d *Duty) miss(ctx context.Context, log *slog.Logger, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	timer := time.NewTimer(dutyLate)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		log.Error("duty_stuck", "duty", d.Name)
	}
}
