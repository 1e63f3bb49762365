package locks

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/namedlock"
)

// Service serves named locks.
type Service struct {
	etcd  etcdkit.Store
	store *namedlock.Store
	boot  func() time.Duration

	mu       sync.Mutex
	absences map[string]*namedlock.Absence // by name, of locks whose owner is absent; guarded by mu
}

// New returns a service; now is the wall clock, boot the boot clock. changed is called after a change that adds an
// audit entry.
func New(client *clientv3.Client, now func() time.Time, boot func() time.Duration, changed func()) *Service {
	return &Service{
		etcd:     etcdkit.Store{Client: client, Now: now, Changed: changed},
		store:    namedlock.NewStore(client, now),
		boot:     boot,
		absences: map[string]*namedlock.Absence{},
	}
}

// sessionOf returns the name of a session in etcd.
func sessionOf(lock, secret string) string {
	sum := sha256.Sum256([]byte(lock + "\x00" + secret))
	return hex.EncodeToString(sum[:])
}

// newSecret returns 256 random bits.
func newSecret() string {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	return hex.EncodeToString(secret[:])
}

// Acquire takes a lock, or waits for it for as long as requested. A client that is in the queue afterwards repeats the
// request, with its session, within the TTL. So does one whose response was lost.
func (s *Service) Acquire(ctx context.Context, name string, r common.LockRequest) (common.LockGrant, error) {
	if err := namedlock.Check(name, r.ID, r.LockTerms); err != nil {
		return common.LockGrant{}, err
	}
	if r.Session == "" {
		r.Session = newSecret()
	}
	q := &request{
		service: s,
		name:    name,
		client:  namedlock.Client{ID: r.ID, Session: sessionOf(name, r.Session), Terms: r.LockTerms},
		until:   s.boot() + r.Wait,
		waits:   r.Wait > 0,
	}
	grant, err := q.acquire(ctx)
	grant.Session = r.Session
	return grant, err
}

// KeepAlive renews the lease of a session, and takes its lock back if the lease had expired. The answer "held" means
// that the session was the holder after the request had arrived.
func (s *Service) KeepAlive(ctx context.Context, name, secret string) (common.LockGrant, error) {
	q := &request{service: s, name: name, client: namedlock.Client{Session: sessionOf(name, secret)}}
	grant, err := q.keepAlive(ctx)
	grant.Session = secret
	return grant, err
}

// Release releases the lock of a session, or removes it from the queue. It may be repeated.
func (s *Service) Release(ctx context.Context, name, secret string) (common.LockGrant, error) {
	session := sessionOf(name, secret)
	v, err := namedlock.ReadHolder(ctx, s.etcd.Client, name, session)
	if err != nil {
		return common.LockGrant{}, err
	}
	done, err := s.store.Release(ctx, name, session)
	if err != nil {
		return common.LockGrant{}, err
	}
	grant := common.LockGrant{Session: secret, State: common.SessionLost}
	if done {
		grant.State = common.SessionReleased
	}
	if lease := leaseOf(v, session); lease != clientv3.NoLease {
		_ = etcdkit.Revoke(ctx, s.etcd.Client, int64(lease)) // it has no keys any more, and expires
	}
	return grant, nil
}

// Note stores the note of the holder.
func (s *Service) Note(ctx context.Context, name, secret, note string) (common.LockGrant, error) {
	if len(note) > common.MaxLockNote {
		return common.LockGrant{}, common.Invalid("the note cannot be stored",
			common.NewFault("note", "too_large", nil, "must be at most %d bytes", common.MaxLockNote))
	}
	done, err := s.store.Note(ctx, name, sessionOf(name, secret), note)
	grant := common.LockGrant{Session: secret, State: common.SessionLost}
	if done {
		grant.State = common.SessionHeld
	}
	return grant, err
}

// leaseOf returns the lease of a session's keys, or 0.
func leaseOf(v *namedlock.View, session string) clientv3.LeaseID {
	switch {
	case v.HeldBy(session):
		return v.Holder.Lease
	case v.Place != nil:
		return v.Place.Lease
	}
	return clientv3.NoLease
}

// next decides about a view that was just received.
func (s *Service) next(name string, v *namedlock.View, c *namedlock.Client) (namedlock.Step, time.Duration) {
	now := s.boot()
	s.mu.Lock()
	defer s.mu.Unlock()
	absence := s.absences[name]
	if absence == nil {
		absence = &namedlock.Absence{}
	}
	absence.See(v, now)
	if _, absent := absence.End(v); !absent {
		delete(s.absences, name)
	} else if s.absences[name] = absence; len(s.absences) > common.MaxLocks {
		for other := range s.absences { // its grace period begins again
			delete(s.absences, other)
			break
		}
	}
	return v.Next(c, absence, now, func(namedlock.Process) bool { return false })
}
