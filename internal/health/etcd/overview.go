package etcd

import (
	"cmp"
	"context"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/health"
)

// Own returns the conditions of this master.
func (s *State) Own() *health.Conditions { return s.own }

// Conditions returns the conditions that this master detects, and those that workers and other masters report.
func (s *State) Conditions() []common.Condition {
	all := s.own.Active()
	add := func(who string, reported []common.Condition) {
		for _, c := range reported {
			c.Who = who
			same := func(o common.Condition) bool {
				return o.Code == c.Code && o.Who == c.Who && o.Data["worker"] == c.Data["worker"] &&
					o.Data["loop"] == c.Data["loop"]
			}
			if !slices.ContainsFunc(all, same) { // a worker and a master in one process report the same
				all = append(all, c)
			}
		}
	}
	snapshot := s.cfg.Members.Snapshot()
	for i := range snapshot.Members {
		add(cmp.Or(snapshot.Members[i].Name, snapshot.Members[i].Worker), snapshot.Members[i].Conditions)
	}
	for i := range snapshot.Masters {
		if m := &snapshot.Masters[i]; m.ID != s.cfg.ID {
			add(m.Host, m.Conditions)
		}
	}
	return all
}

// Restored reports whether any process has noticed that etcd was restored from a backup.
func (s *State) Restored() bool {
	return slices.ContainsFunc(s.Conditions(), func(c common.Condition) bool {
		return c.Code == common.ConditionEtcdWentBack
	})
}

// Overview returns the cluster in a few numbers.
func (s *State) Overview(ctx context.Context) (health.Overview, error) {
	o := health.Overview{LogStore: health.StoreOK, Degraded: s.Conditions()}
	if s.cfg.Probe.StoreAway() {
		o.LogStore = health.StoreAway
	}
	if holder, elected := s.cfg.Elector.Leader(); elected {
		o.Leader = &health.Leader{Name: holder.Name, Since: holder.Since}
	}
	o.Jobs.Total, o.Jobs.Unreadable = s.cfg.Catalog.Len()
	o.Jobs.Paused = s.cfg.Catalog.Paused(s.cfg.Now())
	members := s.cfg.Members.Snapshot().Members
	for i := range members {
		m := &members[i]
		o.Workers.Alive++
		o.Workers.Slots += m.EffectiveSlots()
		o.Workers.Used += m.Used
		switch {
		case m.Draining || m.Settings.Drain:
			o.Workers.Draining++
		case m.Trouble != "":
			o.Workers.Troubled++
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	resp, err := s.cfg.Client.Get(ctx, common.RunsPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err == nil {
		o.Running = new(resp.Count)
	}
	return o, nil
}

// Masters returns the live masters.
func (s *State) Masters(context.Context) ([]health.Master, error) {
	snapshot := s.cfg.Members.Snapshot()
	if snapshot.Generation == 0 {
		return nil, common.Errorf(common.CodeUnavailable, "this master has not listed the others yet")
	}
	holder, _ := s.cfg.Elector.Leader()
	all := make([]health.Master, len(snapshot.Masters))
	for i := range snapshot.Masters {
		m := &snapshot.Masters[i]
		all[i] = health.Master{
			ID:        m.ID,
			Host:      m.Host,
			Address:   m.Address,
			Version:   m.Version,
			StartedAt: m.StartedAt,
			Clock:     m.Clock,
			SkewMs:    m.Skew.Milliseconds(),
			Answers:   m.ID == s.cfg.ID,
		}
		if m.ID == holder.ID {
			all[i].LeadsSince = new(holder.Since)
		}
	}
	slices.SortFunc(all, func(a, b health.Master) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Address, b.Address), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}
