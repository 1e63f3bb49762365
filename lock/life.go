package lock

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"

	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/namedlock"
)

// cleanUp is how long the end of a life may take after its context has ended.
const cleanUp = 5 * time.Second

// life is one request for the lock, from Acquire to Release: the session that the owner's key names.
type life struct {
	lock    *Lock
	client  namedlock.Client
	session *etcdkit.Session
	stop    context.CancelFunc
	ended   chan struct{} // closed when the session's goroutine has ended
	leases  chan struct{} // receives a value after each new lease
}

// begin starts a life; end or abandon ends it.
func (l *Lock) begin(ctx context.Context) *life {
	var secret [16]byte
	_, _ = rand.Read(secret[:]) // never fails
	s := &life{
		lock: l,
		client: namedlock.Client{ID: l.id, Session: hex.EncodeToString(secret[:]), Terms: l.terms,
			Process: l.process},
		ended:  make(chan struct{}),
		leases: make(chan struct{}, 1),
	}
	s.session = etcdkit.NewSession(l.client, l.terms.LeaseTTL(), l.clock.boot, l.log, s.granted)
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	go func() {
		defer close(s.ended)
		_ = s.session.Run(run) // ends with its context only
	}()
	return s
}

func (s *life) granted() {
	select {
	case s.leases <- struct{}{}:
	default:
	}
}

// read reads the lock with the queue, and readHolder without.
func (s *life) read(ctx context.Context, entered int64) (*namedlock.View, error) {
	return namedlock.Read(ctx, s.lock.client, s.lock.name, s.client.Session, entered)
}

func (s *life) readHolder(ctx context.Context) (*namedlock.View, error) {
	return namedlock.ReadHolder(ctx, s.lock.client, s.lock.name, s.client.Session)
}

// take executes a step that acquires the lock. done is false if it is to be decided again.
func (s *life) take(ctx context.Context, v *namedlock.View, step namedlock.Step) (done bool, err error) {
	lease, err := s.session.Lease(ctx)
	if err != nil {
		return false, err
	}
	done, err = s.lock.store.Acquire(ctx, s.lock.name, v, step, &s.client, lease)
	if etcdkit.LeaseGone(err) {
		s.session.Invalidate(lease)
		return false, nil
	}
	return done, err
}

// end releases the lock if it is still this life's, leaves the queue, and ends the session. done reports whether it was
// the owner. It tries until the context ends.
func (s *life) end(ctx context.Context) (done bool, err error) {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		if done, err = s.lock.store.Release(ctx, s.lock.name, s.client.Session); err == nil {
			break
		}
		if !etcdkit.Sleep(ctx, wait) {
			err = errors.Join(err, context.Cause(ctx))
			break
		}
	}
	s.stop()
	<-s.ended
	return done, errors.Join(err, s.session.Revoke(ctx))
}

// abandon ends a life that does not hold the lock. The lease goes first: without it, a transaction whose response was
// lost cannot be applied any more.
func (s *life) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	s.stop()
	<-s.ended
	err := s.session.Revoke(ctx)
	if err == nil {
		_, err = s.lock.store.Release(ctx, s.lock.name, s.client.Session)
	}
	if err != nil { // the lease expires
		s.lock.log.Warn("lock_cleanup_failed", "lock", s.lock.name, "error", err)
	}
}
