package daemon

import (
	"cmp"
	"context"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/election"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/httpapi/stats"
	"carillon/internal/httpapi/system"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
)

// state is the state of the cluster as a master sees it. If a source is unavailable, only its part is missing.
type state struct {
	*monitor
	id      string // id of this master
	own     *health.Conditions
	etcd    *clientv3.Client
	catalog *catalog.Catalog
	members *members.Members
	elector *election.Elector
}

// Conditions returns the conditions that this master detects, and those that workers and other masters report.
func (s state) Conditions() []common.Condition {
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
	snapshot := s.members.Snapshot()
	for i := range snapshot.Members {
		add(cmp.Or(snapshot.Members[i].Name, snapshot.Members[i].Worker), snapshot.Members[i].Conditions)
	}
	for i := range snapshot.Masters {
		if m := &snapshot.Masters[i]; m.ID != s.id {
			add(m.Host, m.Conditions)
		}
	}
	return all
}

// restored reports whether any process has noticed that etcd was restored from a backup.
func (s state) restored() bool {
	return slices.ContainsFunc(s.Conditions(), func(c common.Condition) bool {
		return c.Code == common.ConditionEtcdWentBack
	})
}

// Overview returns the cluster in a few numbers.
func (s state) Overview(ctx context.Context) (stats.Overview, error) {
	o := stats.Overview{LogStore: stats.StoreOK, Degraded: s.Conditions()}
	if s.StoreAway() {
		o.LogStore = stats.StoreAway
	}
	if holder, elected := s.elector.Leader(); elected {
		o.Leader = &stats.Leader{Name: holder.Name, Since: holder.Since}
	}
	o.Jobs.Total, o.Jobs.Unreadable = s.catalog.Len()
	o.Jobs.Paused = s.catalog.Paused(WallClock())
	members := s.members.Snapshot().Members
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
	count := func(prefix string) clientv3.Op {
		return clientv3.OpGet(prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	}
	resp, err := s.etcd.Txn(ctx).Then(count(common.RunsPrefix), count(common.TriggersPrefix)).Commit()
	if err == nil {
		o.Running = new(resp.Responses[0].GetResponseRange().Count)
		o.Waiting = new(resp.Responses[1].GetResponseRange().Count)
	}
	return o, nil
}

// Masters returns the live masters.
func (s state) Masters(context.Context) ([]system.Master, error) {
	snapshot := s.members.Snapshot()
	if snapshot.Generation == 0 {
		return nil, common.Errorf(common.CodeUnavailable, "this master has not listed the others yet")
	}
	holder, _ := s.elector.Leader()
	all := make([]system.Master, len(snapshot.Masters))
	for i := range snapshot.Masters {
		m := &snapshot.Masters[i]
		all[i] = system.Master{
			ID:        m.ID,
			Host:      m.Host,
			Address:   m.Address,
			Version:   m.Version,
			StartedAt: m.StartedAt,
			Clock:     m.Clock,
			SkewMs:    m.Skew.Milliseconds(),
			Answers:   m.ID == s.id,
		}
		if m.ID == holder.ID {
			all[i].LeadsSince = new(holder.Since)
		}
	}
	slices.SortFunc(all, func(a, b system.Master) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Address, b.Address), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// present is the log store for callers that need an error at once, rather than wait, while it is unavailable.
type present struct {
	runlog.Reader
	runlog.Statistics
	runlog.Chained
	away func() bool
}

func (p present) gone() error {
	if !p.away() {
		return nil
	}
	return &common.Error{
		Code:    common.CodeUnavailable,
		Message: "the log store does not respond",
		Hint:    "retry: its availability is checked every few seconds",
	}
}

func (p present) Run(ctx context.Context, id string) (common.Run, error) {
	if err := p.gone(); err != nil {
		return common.Run{}, err
	}
	return p.Reader.Run(ctx, id)
}

func (p present) Runs(ctx context.Context, q runlog.Query) (runlog.Found, error) {
	if err := p.gone(); err != nil {
		return runlog.Found{}, err
	}
	return p.Reader.Runs(ctx, q)
}

func (p present) Last(ctx context.Context, jobs []string, n int) (map[string][]common.Run, error) {
	if err := p.gone(); err != nil {
		return nil, err
	}
	return p.Reader.Last(ctx, jobs, n)
}

func (p present) Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error) {
	if err := p.gone(); err != nil {
		return nil, err
	}
	return p.Reader.Output(ctx, run, offset, limit)
}

func (p present) Changes(ctx context.Context, q runlog.ChangeQuery) ([]common.Change, error) {
	if err := p.gone(); err != nil {
		return nil, err
	}
	return p.Reader.Changes(ctx, q)
}

func (p present) Sealed(ctx context.Context, after int64, limit int) ([]common.Change, error) {
	if err := p.gone(); err != nil {
		return nil, err
	}
	return p.Chained.Sealed(ctx, after, limit)
}

func (p present) Rollups(ctx context.Context, q runlog.RollupQuery) ([]rollup.Row, error) {
	if err := p.gone(); err != nil {
		return nil, err
	}
	return p.Statistics.Rollups(ctx, q)
}

func (p present) Totals(ctx context.Context, jobs []string, from, to time.Time) (map[string]rollup.Cell, error) {
	if err := p.gone(); err != nil {
		return nil, err
	}
	return p.Statistics.Totals(ctx, jobs, from, to)
}
