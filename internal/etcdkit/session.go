package etcdkit

import (
	"context"
	"log/slog"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// Session holds one lease at a time and keeps it alive. After the lease has expired it gets a new one.
type Session struct {
	client *clientv3.Client
	ttl    time.Duration
	boot   func() time.Duration // the boot clock
	log    *slog.Logger
	taken  func() // called for each new lease

	mu      sync.Mutex
	lease   clientv3.LeaseID // 0: none
	sent    time.Duration    // when the last answered request for this lease was sent, on the boot clock
	answers time.Duration    // the same for any lease
	silent  time.Time        // etcd has not answered since then; zero while it answers
	granted time.Duration
	changed chan struct{} // closed when lease changes

	lost chan struct{} // wakes Run when the lease is found to have expired
}

// NewSession returns a session without a lease; Run grants it.
func NewSession(client *clientv3.Client, ttl time.Duration, boot func() time.Duration, log *slog.Logger,
	taken func()) *Session {
	return &Session{
		client:  client,
		ttl:     ttl,
		boot:    boot,
		log:     log,
		taken:   taken,
		granted: ttl,
		answers: boot(),
		changed: make(chan struct{}),
		lost:    make(chan struct{}, 1),
	}
}

// Run grants a lease and keeps it alive, one keep-alive at a time, so that each answer can be matched with its request.
// It returns when the context ends; the lease remains until Revoke.
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

// grant requests a lease until etcd grants one.
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
		if !Sleep(ctx, wait) {
			return 0, 0, context.Cause(ctx)
		}
		s.log.Warn("session_grant_failed", "error", err)
	}
}

// keep sends keep-alives until the lease has expired (nil) or the context ends. One that is not answered leaves time
// for two more, which may reach another member of etcd.
func (s *Session) keep(ctx context.Context, id clientv3.LeaseID) error {
	wait := s.ttl / 3
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.lost:
		case <-time.After(wait):
		}
		if s.current() != id { // a transaction has found that it expired
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
		case LeaseGone(err):
			return nil
		default:
			s.unanswered()
			wait = s.ttl / 30 // the call itself took time; retry soon
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

// answered records that etcd has answered a request that was sent at a time.
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

// Lease returns the current lease, and waits for one if there is none.
func (s *Session) Lease(ctx context.Context) (clientv3.LeaseID, error) {
	proof, err := s.Await(ctx)
	return clientv3.LeaseID(proof.Lease), err
}

// Proof returns the current lease (0: none), and when it was last known to be valid.
func (s *Session) Proof() common.Proof {
	s.mu.Lock()
	defer s.mu.Unlock()
	return common.Proof{Lease: int64(s.lease), Sent: s.sent}
}

// Await returns Proof, and waits for a lease if there is none.
func (s *Session) Await(ctx context.Context) (common.Proof, error) {
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

// Silence returns since when etcd has not answered, if that is longer than most of a lease's TTL; otherwise zero.
func (s *Session) Silence() (since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent.IsZero() || s.boot()-s.answers < s.ttl*2/3 {
		return time.Time{}
	}
	return s.silent
}

// TTL returns the TTL that etcd granted.
func (s *Session) TTL() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted
}

// Invalidate records that a lease has expired, so that a new one is granted.
func (s *Session) Invalidate(id clientv3.LeaseID) {
	if !s.drop(id) {
		return
	}
	select {
	case s.lost <- struct{}{}:
	default: // already notified
	}
}

// drop removes a lease, if it is the current one, and reports whether it was.
func (s *Session) drop(id clientv3.LeaseID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease != id {
		return false
	}
	s.lease = 0
	return true
}

// Revoke revokes the lease, and so deletes all keys under it. It may take a few seconds even during a fast stop: other
// processes would wait longer for the lease to expire.
func (s *Session) Revoke(ctx context.Context) error {
	id := s.current()
	if id == 0 {
		return nil
	}
	if err := Revoke(context.WithoutCancel(ctx), s.client, int64(id)); err != nil {
		return err
	}
	s.drop(id) // Run, which is about to end, grants no other
	return nil
}
