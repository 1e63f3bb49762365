package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/namedlock"
)

const (
	// seeEvery is how often the holder reads the lock, and tickEvery how often it checks its fence.
	seeEvery  = 2 * time.Second
	tickEvery = 250 * time.Millisecond
	// seeLimit bounds one read with the transaction that may follow it.
	seeLimit = 8 * time.Second
)

// Held is a lock that this client has acquired.
type Held struct {
	life     *life
	ctx      context.Context // of the work
	cancel   context.CancelCauseFunc
	fence    int64
	former   *Former
	stop     context.CancelFunc
	ended    chan struct{} // closed when keep has ended
	releases sync.Once
	err      error // of Release

	mu    sync.Mutex
	lease clientv3.LeaseID // of the holder, as last seen; guarded by mu
	seen  time.Duration    // when the read that saw it was sent; guarded by mu
	alive time.Duration    // A, see proof; guarded by mu
	lost  bool             // guarded by mu
}

// hold returns the lock that a waiter has acquired, and starts to keep it.
func hold(ctx context.Context, s *life, w *waiter) *Held {
	owner := w.view.Owner
	h := &Held{life: s, fence: owner.Token, ended: make(chan struct{}), alive: w.sent}
	if was := owner.TookOver; was != nil {
		h.former = &Former{ID: was.ID, Fence: was.Token, Note: was.Note}
	}
	h.ctx, h.cancel = context.WithCancelCause(ctx)
	h.see(w.view, w.sent)
	keep, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stop = stop
	s.lock.enter(Holding)
	go func() {
		defer close(h.ended)
		h.keep(keep)
	}()
	return h
}

// Context returns the context of the work. It ends with the cause ErrLost, at least Options.StopGrace before another
// client can have the lock, unless an operator releases it by force; with the context that was passed to Acquire; and
// after Release.
func (h *Held) Context() context.Context { return h.ctx }

// Fence returns the fencing token. It grows from owner to owner; the same owner keeps it when it takes the lock back.
func (h *Held) Fence() int64 { return h.fence }

// TookOver returns the owner from which the lock was taken over, because it had disappeared without a release.
func (h *Held) TookOver() (Former, bool) {
	if h.former == nil {
		return Former{}, false
	}
	return *h.former, true
}

// Note stores a text of at most 4 KiB beside the lock, in place of the last one. A client that takes the lock over gets
// it with TookOver, to continue the work.
func (h *Held) Note(ctx context.Context, text string) error {
	l := h.life.lock
	if len(text) > namedlock.MaxNote {
		return fmt.Errorf("note of lock %q: %d bytes, must be at most %d", l.name, len(text), namedlock.MaxNote)
	}
	for backoff := 50 * time.Millisecond; ; backoff = min(2*backoff, time.Second) {
		done, err := l.store.Note(ctx, l.name, h.life.client.Session, text)
		if done {
			return nil
		}
		if h.isLost() {
			return fmt.Errorf("note of lock %q: %w", l.name, ErrLost)
		}
		if !etcdkit.Sleep(ctx, backoff) { // it is being taken back, or etcd does not answer
			return fmt.Errorf("note of lock %q: %w", l.name, errors.Join(err, context.Cause(ctx)))
		}
	}
}

// Release releases the lock and ends the context of the work. It returns an error that is ErrLost if the lock had been
// lost, and another one if etcd did not answer until ctx ended: then other clients wait for the grace period. Repeated
// calls return the result of the first one.
func (h *Held) Release(ctx context.Context) error {
	h.releases.Do(func() {
		l := h.life.lock
		h.stop()
		<-h.ended
		h.cancel(context.Canceled)
		owned, err := h.life.end(ctx)
		if err == nil && (h.isLost() || !owned) {
			err = ErrLost
		}
		if err != nil {
			h.err = fmt.Errorf("release lock %q: %w", l.name, err)
		}
		l.enter(Idle)
	})
	return h.err
}

// sight is the result of a read of the lock.
type sight struct {
	view *namedlock.View
	sent time.Duration
	err  error
}

// keep keeps the lock until its context ends or the lock is lost: it takes the lock back when the holder has
// disappeared, and checks the fence. One read at a time is on its way, in a goroutine that keep waits for.
func (h *Held) keep(ctx context.Context) {
	l := h.life.lock
	var helpers sync.WaitGroup
	defer helpers.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan struct{}, 1)
	helpers.Go(func() { namedlock.Follow(ctx, l.client, l.name, changes) })
	sights, looking := make(chan sight, 1), false
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	due := l.clock.boot() + seeEvery
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
			due = 0
		case <-h.life.leases:
			due = 0
		case <-tick.C:
		case s := <-sights:
			looking = false
			if s.err == nil && h.judge(s) {
				due = 0
			}
		}
		if h.check() {
			return
		}
		if now := l.clock.boot(); !looking && now >= due {
			looking, due = true, now+seeEvery
			helpers.Go(func() { sights <- h.look(ctx) })
		}
	}
}

// look reads the lock, and takes it back if the holder has disappeared.
func (h *Held) look(ctx context.Context) sight {
	ctx, cancel := context.WithTimeout(ctx, seeLimit)
	defer cancel()
	l := h.life.lock
	s := sight{sent: l.clock.boot()}
	if s.view, s.err = h.life.readHolder(ctx); s.err != nil {
		return s
	}
	if s.view.Holder == nil && s.view.OwnedBy(h.life.client.Session) && !h.isLost() {
		l.log.Warn("lock_holder_gone", "lock", l.name)
		if _, err := h.life.take(ctx, s.view, namedlock.Back); err != nil {
			l.log.Warn("lock_take_back_failed", "lock", l.name, "error", err)
		}
	}
	return s
}

// judge uses what was read. again reports whether the lock is to be read at once: it was just taken back.
func (h *Held) judge(s sight) (again bool) {
	session := h.life.client.Session
	switch {
	case !s.view.OwnedBy(session):
		h.lose("taken")
	case s.view.HeldBy(session):
		h.see(s.view, s.sent)
	default:
		return true
	}
	return false
}

// see records a view with this client as the holder, and when its read was sent.
func (h *Held) see(v *namedlock.View, sent time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease, h.seen = v.Holder.Lease, sent
}

// proof returns A: when the last answered keep-alive of the holder's lease was sent, and no later than the last read
// that saw the holder under this lease. A new lease does not count before the lock was taken back under it.
func (h *Held) proof() time.Duration {
	p := h.life.session.Proof()
	h.mu.Lock()
	defer h.mu.Unlock()
	if clientv3.LeaseID(p.Lease) == h.lease {
		h.alive = max(h.alive, min(p.Sent, h.seen))
	}
	return h.alive
}

// check compares the time with the fence, and reports whether the lock is lost.
func (h *Held) check() (lost bool) {
	l := h.life.lock
	alive, now := h.proof(), l.clock.boot()
	switch {
	case h.isLost():
	case now >= alive+l.terms.Fence()-l.stopGrace:
		h.lose("fence")
	case now >= alive+l.terms.LeaseTTL():
		l.enter(Doubtful)
	default:
		l.enter(Holding)
	}
	return h.isLost()
}

// lose ends the work. The lock is not taken back any more.
func (h *Held) lose(reason string) {
	h.mu.Lock()
	was := h.lost
	h.lost = true
	h.mu.Unlock()
	if !was {
		h.life.lock.enter(Lost)
		h.life.lock.log.Warn("lock_lost", "lock", h.life.lock.name, "reason", reason)
		h.cancel(ErrLost)
	}
}

func (h *Held) isLost() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}
