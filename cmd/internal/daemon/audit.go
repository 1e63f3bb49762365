package daemon

import (
	"context"

	"carillon/internal/audit"
	auditetcd "carillon/internal/audit/etcd"
	"carillon/internal/runlog"
)

// record is the audit: the elected master seals entries; every master lists and verifies them.
type record struct {
	*runlog.Changes
	verifier *audit.Verifier
}

// Verify verifies a part of the audit chain.
func (r record) Verify(ctx context.Context, from int64, limit int) (audit.Step, error) {
	return r.verifier.Step(ctx, from, limit)
}

// newSealer creates the sealer that this master runs while it is elected.
func (m *Master) newSealer() *audit.Sealer {
	return audit.NewSealer(audit.Config{Chain: m.chain(), Store: m.cfg.Store, Alone: m.allSeal, Log: m.cfg.Log,
		Delivered: m.metrics.ChangesDelivered, Failed: m.metrics.LogStoreError})
}

func (m *Master) chain() *auditetcd.Chain { return auditetcd.New(m.cfg.Etcd, m.elector.Held) }

// allSeal reports whether every live master leaves changes to the elected one.
func (m *Master) allSeal() bool {
	snapshot := m.members.Snapshot()
	if snapshot.Generation == 0 {
		return false
	}
	for i := range snapshot.Masters {
		if !snapshot.Masters[i].Seals {
			return false
		}
	}
	return true
}
