package members

import (
	"context"
	"log/slog"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Presence keeps a master's clock in etcd, where it counts as a vote. The key is deleted with the session's
// lease.
type Presence struct {
	client *clientv3.Client
	leases Leases
	log    *slog.Logger
	every  time.Duration
	report func(error)
	state  func() common.MasterPresence
}

// NewPresence returns the presence of a master, which writes the result of state at every interval and
// replaces an existing key of the same id. report is called with the result of each write.
func NewPresence(client *clientv3.Client, leases Leases, log *slog.Logger, every time.Duration, report func(error),
	state func() common.MasterPresence) *Presence {
	return &Presence{client: client, leases: leases, log: log, every: every, report: report, state: state}
}

// Run writes until the context ends.
func (p *Presence) Run(ctx context.Context) error {
	for {
		err := p.write(ctx)
		if err != nil && ctx.Err() == nil {
			p.log.Warn("presence_failed", "error", err)
		}
		p.report(err)
		if !etcdkit.Sleep(ctx, p.every) {
			return nil
		}
	}
}

func (p *Presence) write(ctx context.Context) error {
	id := p.state().ID
	ours := func(kv *mvccpb.KeyValue) bool {
		there, err := common.Decode[common.MasterPresence](kv.Value)
		return err == nil && there.ID == id
	}
	_, err := keep(ctx, p.client, p.leases, common.MasterKey(id), ours, func(clientv3.LeaseID) any { return p.state() })
	return err
}
