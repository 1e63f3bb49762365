package lifecycle

import (
	"context"
	"time"
)

// DefaultStopTimeout is the StopTimeout of parts that set none.
const DefaultStopTimeout = 10 * time.Second

// Part is one piece of a daemon. Start, Serve and Stop may each be absent.
type Part struct {
	Name string

	// Start returns when the part works, or an error. Its context ends when the daemon is stopped meanwhile. A Start
	// that fails must release its resources itself; Stop is not called.
	Start func(ctx context.Context) error

	// Serve is the part's loop. It begins after Start, and its context ends after Stop has returned. A Serve that
	// returns earlier, even without an error, stops the daemon; an error that it returns later is ignored.
	Serve func(ctx context.Context) error

	// Stop lets the part finish. Its context ends at the part's deadline, or
	// when the second stage begins.
	Stop func(ctx context.Context) error

	// StopTimeout bounds Stop and what is left of Serve together. Zero means
	// DefaultStopTimeout.
	StopTimeout time.Duration
}

func (p *Part) stopTimeout() time.Duration {
	if p.StopTimeout > 0 {
		return p.StopTimeout
	}
	return DefaultStopTimeout
}
