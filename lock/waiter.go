package lock

import (
	"context"
	"sync"
	"time"

	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/namedlock"
)

// lookEvery is how often a waiter reads the lock even if its watch reports nothing.
const lookEvery = 10 * time.Second

// waiter is a life that does not hold the lock yet. It is owned by the goroutine that called Acquire.
type waiter struct {
	lock    *Lock
	life    *life
	entered int64           // CreateRevision of its place in the queue, or 0
	view    *namedlock.View // the last one
	sent    time.Duration   // when the read of the view was sent
	took    bool            // a transaction that takes the lock was applied after the view
}

// acquire returns nil when the life holds the lock.
func (w *waiter) acquire(ctx context.Context, wait bool) error {
	if w.lock.wait > 0 && wait {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, w.lock.wait, ErrHeld)
		defer cancel()
	}
	if _, err := w.life.session.Lease(ctx); err != nil {
		return err
	}
	for backoff := 50 * time.Millisecond; ; {
		step, end, err := w.look(ctx)
		if err == nil {
			if step == namedlock.Held {
				return nil
			}
			if step.Waits() && !wait {
				return ErrHeld
			}
			err = w.act(ctx, step, end)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			backoff = 50 * time.Millisecond
		case namedlock.Fatal(err):
			return err
		default:
			w.lock.log.Warn("lock_wait_failed", "lock", w.lock.name, "error", err)
			if !etcdkit.Sleep(ctx, backoff) {
				return context.Cause(ctx)
			}
			backoff = min(2*backoff, 2*time.Second)
		}
	}
}

// look reads the lock and decides what to do.
func (w *waiter) look(ctx context.Context) (step namedlock.Step, end time.Duration, err error) {
	sent := w.lock.clock.boot()
	v, err := w.read(ctx)
	if err != nil {
		return 0, 0, err
	}
	now := w.lock.clock.boot()
	w.view, w.sent, w.entered = v, sent, 0
	if v.Place != nil {
		w.entered = v.Place.Created
	}
	w.lock.mu.Lock()
	defer w.lock.mu.Unlock()
	w.lock.absence.See(v, now)
	step, end = v.Next(&w.life.client, &w.lock.absence, now, w.lock.clock.dead)
	return step, end, nil
}

// read reads the lock. A waiter that was the first in the queue is still the first, and one that has just taken the
// lock needs no queue.
func (w *waiter) read(ctx context.Context) (*namedlock.View, error) {
	session := w.life.client.Session
	if first := w.entered != 0 && w.view != nil && w.view.Before == "" && w.view.Place != nil; first || w.took {
		v, err := w.life.readHolder(ctx)
		if err != nil || v.HeldBy(session) || first && v.Place != nil && v.Place.Created == w.entered {
			return v, err
		}
	}
	w.took = false
	return w.life.read(ctx, w.entered)
}

// act executes a step. It returns when the lock is to be read again.
func (w *waiter) act(ctx context.Context, step namedlock.Step, end time.Duration) error {
	if !step.Waits() {
		took, err := w.life.take(ctx, w.view, step)
		w.took = took
		return err
	}
	if w.entered == 0 {
		return w.enter(ctx)
	}
	w.report(step)
	key, last := w.view.Before, etcdkit.OneKey(w.view.Before)
	if step != namedlock.Behind {
		key, last = namedlock.HolderAndOwner(w.lock.name)
	}
	limit := lookEvery
	if step == namedlock.Grace {
		limit = min(limit, end-w.lock.clock.boot())
	}
	return w.await(ctx, key, last, max(limit, time.Millisecond))
}

// await waits until keys change or a time has passed. A new lease means that the place in the queue is gone.
func (w *waiter) await(ctx context.Context, key, last string, limit time.Duration) error {
	waitCtx, cancel := context.WithTimeout(ctx, limit)
	var helper sync.WaitGroup
	defer helper.Wait()
	defer cancel()
	helper.Go(func() {
		select {
		case <-w.life.leases:
			cancel()
		case <-waitCtx.Done():
		}
	})
	err := namedlock.Await(waitCtx, w.lock.client, key, last, w.view.Revision)
	if waitCtx.Err() != nil {
		return context.Cause(ctx)
	}
	if etcdkit.Compacted(err) { // the lock has changed
		return nil
	}
	return err
}

// enter puts the life at the end of the queue.
func (w *waiter) enter(ctx context.Context) error {
	lease, err := w.life.session.Lease(ctx)
	if err != nil {
		return err
	}
	w.entered, err = w.lock.store.Enter(ctx, w.lock.name, &w.life.client, lease)
	if etcdkit.LeaseGone(err) {
		w.life.session.Invalidate(lease)
		return nil
	}
	return err
}

// report enters the state of a step, and calls OnGrace when the grace period begins.
func (w *waiter) report(step namedlock.Step) {
	state := Queued
	if step == namedlock.Grace {
		state = Grace
	}
	if State(w.lock.state.Swap(int32(state))) != state && state == Grace && w.lock.onGrace != nil {
		owner := w.view.Owner
		w.lock.onGrace(Former{ID: owner.ID, Fence: owner.Token, Note: owner.Note})
	}
}
