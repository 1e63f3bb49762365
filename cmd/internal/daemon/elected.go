package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/etcdkit"
)

// duty is what the elected master does, for as long as it is elected. It is begun again, after a
// while, where it ends before its context does. It must end when the context ends: nobody
// is elected in its place before it has.
type duty struct {
	name string
	run  func(ctx context.Context) error
}

// Waits before a duty is begun again.
const (
	dutyFirst = time.Second
	dutyMost  = time.Minute
	// dutyLate is how long after its context's end a duty is missed.
	dutyLate = 10 * time.Second
)

// errEnded says that a duty ended without a reason.
var errEnded = errors.New("it ended by itself")

// perform does all duties until the context ends, and waits for them.
func perform(ctx context.Context, log *slog.Logger, duties []duty) {
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

// persist begins the duty again and again.
func (d duty) persist(ctx context.Context, log *slog.Logger) {
	for wait := dutyFirst; ; {
		began := time.Now()
		err := d.run(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errEnded
		}
		if time.Since(began) > dutyMost {
			wait = dutyFirst
		}
		log.Error("duty_failed", "duty", d.name, "error", err, "again_in", wait)
		if !etcdkit.Sleep(ctx, wait) {
			return
		}
		wait = min(2*wait, dutyMost)
	}
}

// miss says so when the duty goes on for long after its context's end: nobody does it meanwhile.
func (d duty) miss(ctx context.Context, log *slog.Logger, ended <-chan struct{}) {
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
		log.Error("duty_does_not_end", "duty", d.name)
	}
}
