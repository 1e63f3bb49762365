package election

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// serveTerm calls serve for a term until the term ends, and resigns.
func (e *Elector) serveTerm(ctx context.Context, term int64, lease clientv3.LeaseID, serve func(ctx context.Context)) {
	e.mu.Lock()
	e.term = term
	e.mu.Unlock()
	begun := e.cfg.Boot()
	e.cfg.Log.Info("elected", "term", term)
	e.cfg.Elected(true)
	termCtx, end := context.WithCancelCause(ctx)
	var watched sync.WaitGroup
	watched.Go(func() {
		if why := e.awaitEnd(termCtx, term, lease); why != nil {
			end(why)
		}
	})
	serve(termCtx)
	cause := context.Cause(termCtx)
	end(nil)
	watched.Wait()
	e.cfg.Elected(false)
	if cause == nil {
		cause = fmt.Errorf("%w: its duties have ended", ErrOver)
	}
	lasted := (e.cfg.Boot() - begun).Round(time.Millisecond)
	e.cfg.Log.Info("term_ended", "term", term, "cause", cause.Error(), "lasted", lasted)
	// Even if the lease seems to have expired: it may still exist, and the key with it.
	if err := e.resign(ctx, term); err != nil {
		e.cfg.Log.Warn("resign_failed", "term", term, "error", err)
	}
}

// awaitEnd waits for the end of a term and returns its cause; nil if the context ended first.
func (e *Elector) awaitEnd(ctx context.Context, term int64, lease clientv3.LeaseID) error {
	for {
		seen, changed := e.observed()
		proof := e.cfg.Session.Proof()
		left := proof.Sent + e.life() - e.cfg.Boot()
		switch {
		case clientv3.LeaseID(proof.Lease) != lease:
			return fmt.Errorf("%w: its lease is gone", ErrOver)
		case left <= 0:
			return fmt.Errorf("%w: etcd did not renew its lease in time", ErrOver)
		case seen.holder.Term != term && seen.revision >= term:
			return fmt.Errorf("%w: its key is gone", ErrOver)
		}
		timer := time.NewTimer(min(left, checkInterval))
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

// life returns how long a term continues after the last answered keep-alive of its lease was sent. A fifth of the TTL
// is reserved for operations in progress, and for clocks that run at different rates.
func (e *Elector) life() time.Duration {
	ttl := e.cfg.Session.TTL()
	return ttl - ttl/5
}
