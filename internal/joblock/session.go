package joblock

import (
	"log/slog"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// DefaultTTL is the TTL of a session lease.
const DefaultTTL = 15 * time.Second

const callLimit = 5 * time.Second

// Session holds a process's one lease, for its registration and all locks. It must be revoked only after the last run
// has finished.
type Session struct {
	*etcdkit.Session
	boot func() time.Duration // the boot clock
}

// NewSession returns a session without a lease; Run grants it.
func NewSession(client *clientv3.Client, ttl time.Duration, boot func() time.Duration, log *slog.Logger,
	taken func()) *Session {
	return &Session{etcdkit.NewSession(client, ttl, boot, log, taken), boot}
}

// Conditions returns a condition if etcd has not answered for most of a lease's TTL.
func (s *Session) Conditions() []common.Condition {
	since := s.Silence()
	if since.IsZero() {
		return nil
	}
	return []common.Condition{{Code: common.ConditionEtcdAway, From: since,
		Text: "etcd does not respond: no run starts; current runs continue for the lostAfter of their job"}}
}
