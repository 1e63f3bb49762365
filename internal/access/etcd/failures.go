package etcd

import (
	"context"
	"time"

	"carillon/internal/common"
)

// failures bounds the audit entries that password guessing can cause.
type failures struct {
	since   time.Time
	count   int
	omitted int // not recorded since the last entry
}

const (
	failuresMost   = 30
	failuresWindow = time.Minute
)

// unrecorded is the number of failures that were left out of the audit before this entry.
type unrecorded struct {
	Omitted int `json:"omitted"`
}

// failed records a failed login in the audit: under the name of an existing user, otherwise as
// unknown, since the typed name may have been the password. If the entry cannot be written, it is
// dropped: the answer to the client is the same.
func (s *Store) failed(ctx context.Context, user, remote string) {
	now := s.now()
	s.mu.Lock()
	f := &s.failures
	if now.Sub(f.since) >= failuresWindow {
		f.since, f.count = now, 0
	}
	f.count++
	if f.count > failuresMost {
		f.omitted++
		s.mu.Unlock()
		return
	}
	var after any
	if f.omitted > 0 {
		after = unrecorded{f.omitted}
	}
	f.omitted = 0
	s.mu.Unlock()
	name := user
	if name == "" {
		name = "unknown"
	}
	t := s.etcd.Txn()
	t.Audit(common.Actor{Name: user, User: user, Remote: remote}, "login_failed", "session", name, nil, after)
	_, _, _ = s.etcd.Commit(context.WithoutCancel(ctx), "a failed login", t)
}
