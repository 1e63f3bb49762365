package leader

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// reign serves a term until it ends, and gives it back.
func (e *Elector) reign(ctx context.Context, term int64, lease clientv3.LeaseID, serve func(ctx context.Context)) {
	e.mu.Lock()
	e.term = term
	e.mu.Unlock()
	begun := e.cfg.Boot()
	e.cfg.Log.Info("elected", "term", term)
	e.cfg.Told(true)
	reign, end := context.WithCancelCause(ctx)
	var watched sync.WaitGroup
	watched.Go(func() {
		if why := e.outlast(reign, term, lease); why != nil {
			end(why)
		}
	})
	serve(reign)
	cause := context.Cause(reign)
	end(nil)
	watched.Wait()
	e.cfg.Told(false)
	if cause == nil {
		cause = fmt.Errorf("%w: there is nothing left to serve", ErrOver)
	}
	e.cfg.Log.Info("term_ended", "term", term, "cause", cause.Error(), "lasted", (e.cfg.Boot() - begun).Round(time.Millisecond))
	// Also where the lease is thought to be gone: it may live, and the key with it.
	if err := e.resign(ctx, term); err != nil {
		e.cfg.Log.Warn("resign_failed", "term", term, "error", err)
	}
}

// outlast waits for the end of a term, and tells why it came; nil where the context ended first.
func (e *Elector) outlast(ctx context.Context, term int64, lease clientv3.LeaseID) error {
	for {
		seen, changed := e.sight()
		proof := e.cfg.Session.Proof()
		left := proof.Sent + e.life() - e.cfg.Boot()
		switch {
		case clientv3.LeaseID(proof.Lease) != lease:
			return fmt.Errorf("%w: its lease is gone", ErrOver)
		case left <= 0:
			return fmt.Errorf("%w: etcd has not answered in time to prolong it", ErrOver)
		case seen.holder.Term != term && seen.revision >= term:
			return fmt.Errorf("%w: its key is gone", ErrOver)
		}
		timer := time.NewTimer(min(left, glance))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-changed:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// life is how long a term goes on after the last sign of life of its lease was sent. A fifth of the
// lease's life is left for what was begun, and for clocks that do not go at the same rate.
func (e *Elector) life() time.Duration {
	ttl := e.cfg.Session.TTL()
	return ttl - ttl/5
}
