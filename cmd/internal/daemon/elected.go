package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/audit"
	"carillon/internal/cluster/election"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/health"
	"carillon/internal/housekeeping"
	"carillon/internal/runlog"
	"carillon/internal/runlog/jobgauges"
	"carillon/internal/watchdog"
)

// duty is a task of the elected master. It is restarted after a pause if it returns before its context ends. It
// must return when the context ends: no other master is elected before.
type duty struct {
	name string
	run  func(ctx context.Context) error
	loop *health.Loop // counts its rounds while this master is elected
}

// Pauses before a duty is restarted.
const (
	dutyFirst = time.Second
	dutyMost  = time.Minute
	// dutyLate is how long after the end of its context a duty counts as stuck.
	dutyLate = 10 * time.Second
)

// errEnded reports that a duty returned without an error.
var errEnded = errors.New("ended without an error")

// perform runs all duties until the context ends, and waits for them.
func perform(ctx context.Context, log *slog.Logger, duties []duty) {
	var all sync.WaitGroup
	for _, d := range duties {
		all.Go(func() {
			ended := make(chan struct{})
			all.Go(func() { d.miss(ctx, log, ended) })
			d.persist(ctx, log)
			close(ended)
		})
	}
	<-ctx.Done()
	all.Wait()
}

// persist restarts the duty until the context ends.
func (d duty) persist(ctx context.Context, log *slog.Logger) {
	d.loop.Start()
	defer d.loop.End()
	for wait := dutyFirst; ; {
		began := time.Now()
		err := d.run(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errEnded
		}
		if time.Since(began) > dutyMost {
			wait = dutyFirst
		}
		d.loop.Done(err)
		log.Error("duty_failed", "duty", d.name, "error", err, "again_in", wait)
		if !etcdkit.Sleep(ctx, wait) {
			return
		}
		wait = min(2*wait, dutyMost)
	}
}

// miss logs a duty that continues long after the end of its context: until it returns, no master performs it.
func (d duty) miss(ctx context.Context, log *slog.Logger, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	timer := time.NewTimer(dutyLate)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		log.Error("duty_stuck", "duty", d.name)
	}
}

// findings are the results of the elected master, as every master receives them.
type findings struct {
	*election.Bulletin[common.Findings]
}

// Conditions returns the conditions that the elected master reports.
func (f findings) Conditions() []common.Condition { return f.Latest().Conditions }

// Overdue returns the overdue jobs, longest first.
func (f findings) Overdue(context.Context) ([]common.Overdue, error) { return f.Latest().Overdue, nil }

// believed is the time up to which the clock of the elected master was trusted.
type believed struct {
	Until time.Time `json:"until"`
}

// diary stores the believed time for the next elected master.
type diary struct{ memo *election.Memo[believed] }

func (d diary) Read(ctx context.Context) (time.Time, error) {
	left, err := d.memo.Read(ctx)
	return left.Until, err
}

func (d diary) Write(ctx context.Context, at time.Time) error {
	return d.memo.Write(ctx, believed{Until: at.UTC()})
}

// upkeep returns the duties that enforce retention, detect jobs that do not run, and publish findings. tell
// returns further conditions of the elected master.
func (m *Master) upkeep(jobs jobSet, history *runlog.View, stored runlog.Reader, staff workers,
	guard *members.Guard, tell ...func() []common.Condition) []duty {
	// Deletions wait until all jobs are known and enough time has passed.
	now := func() (time.Time, error) {
		if err := m.fresh.fault(); err != nil {
			return time.Time{}, err
		}
		if !m.catalog.Whole() {
			return time.Time{}, errors.New("jobs not read yet")
		}
		return guard.Now()
	}
	keeper := housekeeping.New(housekeeping.Config{Store: m.cfg.Store, Jobs: m.catalog, Now: now,
		Diary: diary{election.NewMemo[believed](m.elector,
			common.ClockKey)}, Log: m.cfg.Log, Observer: m.metrics.Upkeep,
		Audit: audit.NewExpirer(m.chain(), m.cfg.Store), AuditKept: m.cfg.AuditRetention})
	fires := watchdog.New(watchdog.Config{
		Catalog:  m.catalog,
		State:    jobs,
		Ledger:   history,
		Why:      staff.unplaced,
		Now:      now,
		Alike:    m.alike,
		Away:     m.state.StoreAway,
		Log:      m.cfg.Log,
		Observer: m.metrics.Upkeep,
		Report:   m.loops.duties[dutyAudit].Done,
	})
	figures := jobgauges.New(jobgauges.Config{
		Limit:   m.cfg.MetricsMaxJobs,
		Catalog: m.catalog,
		History: stored,
		Overdue: fires.Found,
		Now:     now,
		Away:    m.state.StoreAway,
		Show:    m.metrics.Gauges.Show,
		Report:  m.loops.duties[dutyJobMetrics].Done,
	})
	tell = append(tell, unless(m.state.StoreAway, keeper.Conditions), fires.Conditions)
	who := hostname()
	return []duty{
		m.duty(dutyHousekeeping, keeper.Run),
		m.duty(dutyAudit, fires.Run),
		m.duty(dutyJobMetrics, figures.Run),
		m.duty(dutyFindings, func(ctx context.Context) error {
			return m.findings.Keep(ctx, tellEvery, m.loops.duties[dutyFindings].Alive, func() common.Findings {
				f := common.Findings{Overdue: fires.Found()}
				for _, source := range tell {
					for _, c := range source() {
						c.Who = who
						f.Conditions = append(f.Conditions, c)
					}
				}
				return f
			})
		}),
	}
}

// duty creates a duty with a loop of its name.
func (m *Master) duty(name string, run func(ctx context.Context) error) duty {
	return duty{name: name, run: run, loop: m.loops.duties[name]}
}

// unless suppresses conditions that follow from one that is active already.
func unless(raised func() bool, source func() []common.Condition) func() []common.Condition {
	return func() []common.Condition {
		if raised() {
			return nil
		}
		return source()
	}
}

// tellEvery is the interval at which the elected master checks for findings to publish.
const tellEvery = 2 * time.Second

// alike reports whether all workers have this master's version.
func (m *Master) alike() bool {
	for _, w := range m.members.Snapshot().Members {
		if w.Version != m.cfg.Version {
			return false
		}
	}
	return true
}
