package authstore

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// failures bounds what guessing can write into the history of changes.
type failures struct {
	since   time.Time
	count   int
	omitted int // since the last one that was written
}

const (
	failuresMost   = 30
	failuresWindow = time.Minute
)

// unrecorded says in the history how many failures were not written down before.
type unrecorded struct {
	Omitted int `json:"omitted"`
}

// failed writes down that somebody could not log in: as a user that there is, or as
// nobody who is known, since what was typed may have been the password. It is not told
// where it cannot be written, which changes nothing for the one who failed.
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
	change, err1 := common.NewChange(now, common.Actor{Name: user, User: user, Remote: remote}, "login_failed", "session", name, nil, after)
	put, err2 := putOp(common.ChangeKey(change.ID), change)
	if errors.Join(err1, err2) == nil {
		_, _, _ = s.commit(context.WithoutCancel(ctx), []clientv3.Cmp{etcdkit.Absent(common.ChangeKey(change.ID))}, []clientv3.Op{put})
	}
}
