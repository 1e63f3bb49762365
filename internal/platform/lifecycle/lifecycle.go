package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"
)

// Daemon is an ordered list of parts.
type Daemon struct {
	log   *slog.Logger
	parts []Part
}

// New returns a daemon of parts, in the order in which they start. A part that reports readiness to the service manager
// must be the last one, so that it is the first to report the stop.
func New(log *slog.Logger, parts ...Part) *Daemon { return &Daemon{log: log, parts: parts} }

// running is a part that was started. Its fields are owned by Run.
type running struct {
	part   Part
	cancel context.CancelFunc // ends Serve
	done   chan struct{}      // closed when Serve has returned
	err    error              // of Serve; read after done
}

// ErrHopeless marks the failure of a part without which the others cannot end in order.
var ErrHopeless = errors.New("no other part can go on")

const hopelessTimeout = 3 * time.Second

// Run starts the parts, waits until ctx ends or a part fails, and stops the started parts. When hurry ends, or a part
// has failed with ErrHopeless, the contexts of all Stops end; after the latter, a part has hopelessTimeout at most. The
// error is nil if ctx ended and all parts stopped in time; otherwise it joins all reasons.
func (d *Daemon) Run(ctx, hurry context.Context) error {
	hurry, hasten := context.WithCancelCause(hurry)
	defer hasten(nil)
	most := time.Duration(math.MaxInt64)
	failed := make(chan *running, len(d.parts))
	started, err := d.start(ctx, failed)
	if err == nil {
		d.log.Info("ready", "parts", len(started))
		select {
		case <-ctx.Done():
			d.log.Info("stopping", "cause", context.Cause(ctx).Error())
		case r := <-failed:
			err = ended(r)
			d.log.Error("part_failed", "part", r.part.Name, "error", err)
			if errors.Is(err, ErrHopeless) {
				hasten(err)
				most = hopelessTimeout
			}
		}
	}
	for i := len(started) - 1; i >= 0; i-- {
		limit := min(started[i].part.stopTimeout(), most)
		if stopErr := d.stop(started[i], limit, hurry); stopErr != nil {
			err = errors.Join(err, stopErr)
		}
	}
	return err
}

// start starts the parts until one fails, or the daemon is stopped.
func (d *Daemon) start(ctx context.Context, failed chan<- *running) ([]*running, error) {
	var started []*running
	for _, p := range d.parts {
		if ctx.Err() != nil {
			return started, nil
		}
		begin := time.Now()
		if p.Start != nil {
			if err := p.Start(ctx); err != nil {
				if ctx.Err() != nil {
					return started, nil // the daemon was stopped meanwhile
				}
				return started, fmt.Errorf("start %s: %w", p.Name, err)
			}
		}
		d.log.Debug("part_started", "part", p.Name, "took", time.Since(begin))
		started = append(started, serve(ctx, p, failed))
	}
	return started, nil
}

// serve starts the part's loop. The loop outlives ctx: it ends in stop.
func serve(ctx context.Context, p Part, failed chan<- *running) *running {
	loop, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &running{part: p, cancel: cancel, done: make(chan struct{})}
	if p.Serve == nil {
		close(r.done)
		return r
	}
	go func() {
		defer close(r.done)
		r.err = p.Serve(loop)
		if loop.Err() == nil {
			failed <- r // has capacity for every part
		}
	}()
	return r
}

func ended(r *running) error {
	<-r.done
	if r.err == nil {
		return fmt.Errorf("%s ended by itself", r.part.Name)
	}
	return fmt.Errorf("%s failed: %w", r.part.Name, r.err)
}

// stop ends one part: its Stop, then its loop.
func (d *Daemon) stop(r *running, limit time.Duration, hurry context.Context) error {
	defer r.cancel()
	deadline, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ctx, cancelStop := context.WithCancelCause(deadline)
	defer cancelStop(nil)
	defer context.AfterFunc(hurry, func() { cancelStop(context.Cause(hurry)) })()

	begin := time.Now()
	result := make(chan error, 1)
	go func() {
		var err error
		if r.part.Stop != nil {
			err = r.part.Stop(ctx)
		}
		r.cancel()
		<-r.done
		result <- err
	}()
	late := time.NewTimer(limit + grace)
	defer late.Stop()
	select {
	case err := <-result:
		d.log.Debug("part_stopped", "part", r.part.Name, "took", time.Since(begin))
		if err != nil {
			return fmt.Errorf("stop %s: %w", r.part.Name, err)
		}
		return nil
	case <-late.C:
		return fmt.Errorf("stop %s: not done after %v", r.part.Name, limit)
	}
}

// grace is how long a Stop may take to return after its deadline.
const grace = time.Second
