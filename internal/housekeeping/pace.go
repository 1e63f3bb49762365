package housekeeping

import (
	"context"
	"time"
)

// How the work is spread.
const (
	// restFor each unit of time that a piece took: a fifth of the time is worked.
	restFor  = 4
	restMost = 10 * time.Second
	// A piece should take about this long; its size follows. Below the least it would be the
	// asking that takes the time, as with a store on another machine.
	pieceTime  = 20 * time.Millisecond
	pieceFirst = 200
	pieceLeast = 50
	pieceMost  = 2000
)

// pace spreads the work. It is owned by Run.
type pace struct {
	size int           // of the next piece
	rest time.Duration // for each unit of time that a piece took
}

// piece does a piece of the work, and rests.
func (p *pace) piece(ctx context.Context, do func(ctx context.Context) error) error {
	began := time.Now()
	if err := do(ctx); err != nil {
		return err
	}
	if !sleep(ctx, min(p.rest*time.Since(began), restMost)) {
		return context.Cause(ctx)
	}
	return nil
}

// fit makes the next piece larger or smaller, after a whole one that took so long.
func (p *pace) fit(took time.Duration) {
	switch {
	case took < pieceTime/2:
		p.size = min(2*p.size, pieceMost)
	case took > 2*pieceTime:
		p.size = max(p.size/2, pieceLeast)
	}
}

// sleep waits, and reports whether the context is still active.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
