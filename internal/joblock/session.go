package joblock

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// DefaultTTL is the life of a session lease without a keep-alive.
const DefaultTTL = 15 * time.Second

const callLimit = 5 * time.Second

// Session is a worker's one lease: it carries the registration and all locks.
// When the lease is lost it takes a new one by itself.
type Session struct {
	client *clientv3.Client
	ttl    time.Duration
	boot   func() time.Duration // the boot clock
	log    *slog.Logger
	taken  func() // counts leases taken

	mu      sync.Mutex
	lease   clientv3.LeaseID // 0: none just now
	sent    time.Duration    // when, on the boot clock, what was last answered of the lease was sent
	answers time.Duration    // likewise, of any lease
	silent  time.Time        // since when etcd has not answered; zero while it does
	granted time.Duration
	changed chan struct{} // closed when lease changes

	lost chan struct{} // wakes Run when somebody finds the lease to be gone
}

// NewSession makes a session that holds no lease yet; Run takes it.
func NewSession(client *clientv3.Client, ttl time.Duration, boot func() time.Duration, log *slog.Logger, taken func()) *Session {
	return &Session{client: client, ttl: ttl, boot: boot, log: log, taken: taken, granted: ttl, answers: boot(), changed: make(chan struct{}), lost: make(chan struct{}, 1)}
}

// Run takes a lease and keeps it alive, one keep-alive at a time, so that an
// answer belongs to its sending. It returns when the context ends; the lease
// stays, for Revoke.
func (s *Session) Run(ctx context.Context) error {
	for {
		id, sent, err := s.grant(ctx)
		if err != nil {
			return err
		}
		s.set(id, sent)
		s.taken()
		if err := s.keep(ctx, id); err != nil {
			return err
		}
		s.Invalidate(id)
		s.log.Warn("session_lease_lost")
	}
}

// grant asks for a lease until it has one.
func (s *Session) grant(ctx context.Context) (id clientv3.LeaseID, sent time.Duration, err error) {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		sent := s.boot()
		resp, err := s.client.Grant(callCtx, int64(s.ttl/time.Second))
		cancel()
		if err == nil {
			s.mu.Lock()
			s.granted = time.Duration(resp.TTL) * time.Second
			s.mu.Unlock()
			return resp.ID, sent, nil
		}
		s.unanswered()
		if !etcdkit.Sleep(ctx, wait) {
			return 0, 0, context.Cause(ctx)
		}
		s.log.Warn("session_grant_failed", "error", err)
	}
}

// keep sends keep-alives until the lease is gone (nil) or the context ends. One that is not answered
// leaves time for two more: they may reach another member of etcd.
func (s *Session) keep(ctx context.Context, id clientv3.LeaseID) error {
	wait := s.ttl / 3
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.lost:
		case <-time.After(wait):
		}
		if s.current() != id { // a transaction found out first
			return nil
		}
		callCtx, cancel := context.WithTimeout(ctx, s.ttl/5)
		sent := s.boot()
		_, err := s.client.KeepAliveOnce(callCtx, id)
		cancel()
		switch {
		case err == nil:
			s.answered(id, sent)
			wait = s.ttl / 3
		case etcdkit.LeaseGone(err):
			return nil
		default:
			s.unanswered()
			wait = s.ttl / 30 // the call itself took its time; try again soon
			s.log.Warn("session_keepalive_failed", "error", err)
		}
	}
}

func (s *Session) set(id clientv3.LeaseID, sent time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease, s.sent, s.answers, s.silent = id, sent, sent, time.Time{}
	close(s.changed)
	s.changed = make(chan struct{})
}

// answered notes that etcd has answered what was sent then.
func (s *Session) answered(id clientv3.LeaseID, sent time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == id {
		s.sent, s.answers, s.silent = sent, sent, time.Time{}
	}
}

func (s *Session) unanswered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent.IsZero() {
		s.silent = time.Now()
	}
}

func (s *Session) current() clientv3.LeaseID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease
}

// Lease gives the live lease, waiting for one if need be.
func (s *Session) Lease(ctx context.Context) (clientv3.LeaseID, error) {
	proof, err := s.await(ctx)
	return clientv3.LeaseID(proof.Lease), err
}

// Proof tells which lease there is (0: none just now), and since when it is known to live.
func (s *Session) Proof() common.Proof {
	s.mu.Lock()
	defer s.mu.Unlock()
	return common.Proof{Lease: int64(s.lease), Sent: s.sent}
}

// await is Proof, waiting for a lease if need be.
func (s *Session) await(ctx context.Context) (common.Proof, error) {
	for {
		s.mu.Lock()
		proof, changed := common.Proof{Lease: int64(s.lease), Sent: s.sent}, s.changed
		s.mu.Unlock()
		if proof.Lease != 0 {
			return proof, nil
		}
		select {
		case <-ctx.Done():
			return common.Proof{}, context.Cause(ctx)
		case <-changed:
		}
	}
}

// Conditions tells that etcd does not answer, when that has lasted for most of a lease's life.
func (s *Session) Conditions() []common.Condition {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent.IsZero() || s.boot()-s.answers < s.ttl*2/3 {
		return nil
	}
	return []common.Condition{{Code: common.ConditionEtcdAway, From: s.silent,
		Text: "etcd does not answer: nothing new starts, and what runs goes on until the lostAfter of its job"}}
}

// TTL is the life that etcd granted to a lease.
func (s *Session) TTL() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted
}

// Invalidate says that a lease was found to be gone, so that a new one is taken.
func (s *Session) Invalidate(id clientv3.LeaseID) {
	if !s.drop(id) {
		return
	}
	select {
	case s.lost <- struct{}{}:
	default: // it is about to look
	}
}

// drop forgets a lease, if it is the one.
func (s *Session) drop(id clientv3.LeaseID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease != id {
		return false
	}
	s.lease = 0
	return true
}

// Revoke ends the lease, and with it the registration and all locks. It is for
// after the last run has finished. It takes its few seconds also where the stop is in
// a hurry: the others would wait longer for the lease to end by itself.
func (s *Session) Revoke(ctx context.Context) error {
	id := s.current()
	if id == 0 {
		return nil
	}
	if err := RevokeLease(context.WithoutCancel(ctx), s.client, int64(id)); err != nil {
		return err
	}
	s.drop(id) // Run, which is about to end, takes no other
	return nil
}

// RevokeLease ends a lease that may be gone already.
func RevokeLease(ctx context.Context, client *clientv3.Client, id int64) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	if _, err := client.Revoke(ctx, clientv3.LeaseID(id)); err != nil && !etcdkit.LeaseGone(err) {
		return fmt.Errorf("revoke lease: %w", err)
	}
	return nil
}
