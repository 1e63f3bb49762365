package watchdog

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/maintenance"
	"carillon/internal/runlog"
)

// every is the interval between two checks.
const every = 15 * time.Second

// Catalog provides the jobs.
type Catalog interface {
	// Plans returns all jobs with a schedule. They must not be changed.
	Plans() iter.Seq2[*common.JobState, schedule.Schedule]
	Job(name string) (common.JobState, bool)
}

// State provides the cursors and runs of jobs.
type State interface {
	// Cursors returns those of the jobs that have one.
	Cursors(ctx context.Context, jobs []string) (map[string]time.Time, error)
	// Busy reports which of the jobs have an unresolved run.
	Busy(ctx context.Context, jobs []string) (map[string]bool, error)
}

// Ledger lists fires, stored or waiting.
type Ledger interface {
	Fires(ctx context.Context, q runlog.FireQuery) (runlog.FirePage, error)
}

// Observer counts the findings.
type Observer interface {
	Overdue(jobs int)
	NoEntry(fires int)
}

// Config configures a watchdog.
type Config struct {
	Catalog Catalog
	State   State
	Ledger  Ledger
	// Why returns why no worker may run a job, as far as is known; nil if one may.
	Why func(job *common.StoredJob) *common.Reason
	// Windows returns the maintenance windows, which delay fires or skip them.
	Windows func() *maintenance.Set
	// Now returns the time that determines lateness, or why it is unknown now: the clock is wrong, or the jobs
	// are unknown.
	Now func() (time.Time, error)
	// Alike reports whether all workers interpret schedules like this version.
	Alike func() bool
	// Away reports whether the log store is unavailable: then only a part of the ledger can be read, at the
	// cost of all waiting outcomes.
	Away     func() bool
	Log      *slog.Logger
	Observer Observer
	Report   func(error) // receives the result of each check; may be nil
}

// Watchdog checks the jobs.
type Watchdog struct {
	cfg     Config
	watches map[string]*watch         // by job; owned by Run
	unable  map[string]common.Overdue // were overdue, and no worker may run them since; by job, owned by Run
	round   uint64                    // owned by Run
	entries entries                   // owned by Run

	mu      sync.Mutex
	found   []common.Overdue // guarded by mu; sorted by job
	ahead   []common.Overdue // guarded by mu; jobs whose cursor is in the future, in the same order
	count   int              // guarded by mu; of all that are overdue
	lasting []common.Overdue // guarded by mu; jobs that were overdue and that no worker may run, without those in found
	missing missing          // guarded by mu
}

// New creates a watchdog.
func New(cfg Config) *Watchdog { return &Watchdog{cfg: cfg} }

// Run checks repeatedly until the context ends.
func (a *Watchdog) Run(ctx context.Context) error {
	a.watches, a.entries, a.unable = map[string]*watch{}, entries{}, map[string]common.Overdue{}
	defer a.publish(nil, nil, 0, nil) // the next elected master reports
	tick := time.NewTicker(every)
	defer tick.Stop()
	failed := false
	for {
		err := a.checkAll(ctx)
		if err != nil && ctx.Err() == nil && !failed {
			a.cfg.Log.Warn("audit_failed", "error", err)
		}
		failed = err != nil
		if a.cfg.Report != nil {
			a.cfg.Report(err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// checkAll checks cursors and ledger once.
func (a *Watchdog) checkAll(ctx context.Context) error {
	now, err := a.cfg.Now()
	if err != nil {
		return err
	}
	jobs := a.plan(now)
	if len(jobs) > 0 {
		names := make([]string, len(jobs))
		for i := range jobs {
			names[i] = jobs[i].state.Name
		}
		cursors, err := a.cfg.State.Cursors(ctx, names)
		if err != nil {
			return err
		}
		a.take(jobs, cursors, now)
	}
	found, count, err := a.overdue(ctx)
	if err != nil {
		return err
	}
	a.publish(found, a.last(found), count, a.inFuture())
	return a.checkEntries(ctx, now)
}

// planned is a job with its schedule.
type planned struct {
	state     *common.JobState
	timetable schedule.Schedule
}

// plan updates the watches from the catalog, and returns the jobs whose cursors should be read.
func (a *Watchdog) plan(now time.Time) (jobs []planned) {
	a.round++
	windows := a.cfg.Windows()
	seen := 0
	for job, timetable := range a.cfg.Catalog.Plans() {
		w := a.watches[job.Name]
		if w == nil {
			w = &watch{}
			a.watches[job.Name] = w
		}
		w.seen = a.round
		seen++
		if w.plan(job, timetable, windows, now) {
			jobs = append(jobs, planned{job, timetable})
		}
	}
	if len(a.watches) > seen {
		for name, w := range a.watches {
			if w.seen != a.round {
				delete(a.watches, name)
			}
		}
	}
	return jobs
}

// take processes the cursors. A job without one is being deleted, or unreadable and reported elsewhere.
func (a *Watchdog) take(jobs []planned, cursors map[string]time.Time, now time.Time) {
	windows := a.cfg.Windows()
	for _, job := range jobs {
		w := a.watches[job.state.Name]
		cursor, there := cursors[job.state.Name]
		if !there {
			w.again, w.first, w.looks = now, time.Time{}, 0
			continue
		}
		if !w.cursor.IsZero() {
			a.entries.passed(job, w.cursor, cursor, now)
		}
		w.update(job.state, job.timetable, windows, cursor, now)
	}
}

// overdue returns the overdue jobs, longest first, with the reasons, and the number of all.
func (a *Watchdog) overdue(ctx context.Context) (found []common.Overdue, count int, err error) {
	for name, w := range a.watches {
		if w.overdue() {
			found = append(found, common.Overdue{
				Job:       name,
				PlannedAt: w.first.UTC(),
				DueAt:     w.due.UTC(),
				Since:     w.since.UTC(),
			})
		}
	}
	slices.SortFunc(found, func(x, y common.Overdue) int {
		return cmp.Or(x.DueAt.Compare(y.DueAt), cmp.Compare(x.Job, y.Job))
	})
	var patient []string // jobs whose fires may wait for one another
	for i := range found {
		job, exists := a.cfg.Catalog.Job(found[i].Job)
		if !exists {
			continue
		}
		if terms := job.Terms(); terms.CatchUp == common.CatchUpAll && terms.Overlap.Forbids() {
			patient = append(patient, job.Name)
		}
	}
	if len(patient) > 0 {
		busy, err := a.cfg.State.Busy(ctx, patient)
		if err != nil {
			return nil, 0, err
		}
		found = slices.DeleteFunc(found, func(o common.Overdue) bool { return busy[o.Job] })
	}
	count = len(found)
	found = found[:min(count, common.MaxOverdue)]
	for i := range found {
		if job, exists := a.cfg.Catalog.Job(found[i].Job); exists {
			found[i].Reason = a.cfg.Why(&job.StoredJob)
		}
	}
	return found, count, nil
}

// last returns the jobs that were overdue before and that no worker may run: their fires become missed one after the
// other, and each is overdue for some minutes only, but the problem lasts.
func (a *Watchdog) last(found []common.Overdue) (lasting []common.Overdue) {
	is := map[string]bool{}
	for i := range found {
		is[found[i].Job] = true
		_, known := a.unable[found[i].Job]
		if !known && found[i].Reason != nil && len(a.unable) < common.MaxOverdue {
			a.unable[found[i].Job] = found[i]
		}
	}
	for name, was := range a.unable {
		w := a.watches[name]
		job, exists := a.cfg.Catalog.Job(name)
		switch {
		case w == nil || w.again.IsZero() || !exists || a.cfg.Why(&job.StoredJob) == nil:
			delete(a.unable, name) // it is gone, has no further fire, or a worker may run it
		case !is[name]:
			lasting = append(lasting, was)
		}
	}
	slices.SortFunc(lasting, func(x, y common.Overdue) int {
		return cmp.Or(x.DueAt.Compare(y.DueAt), cmp.Compare(x.Job, y.Job))
	})
	return lasting
}

// inFuture returns the jobs whose cursor is in the future, by name.
func (a *Watchdog) inFuture() (found []common.Overdue) {
	for name, w := range a.watches {
		if w.ahead {
			until := w.cursor.UTC().Format(time.RFC3339)
			found = append(found, common.Overdue{
				Job:       name,
				PlannedAt: w.first.UTC(),
				DueAt:     w.due.UTC(),
				Since:     w.since.UTC(),
				Reason: &common.Reason{Code: common.ReasonCursorInFuture, Data: map[string]string{"until": until},
					Text: "a wrong clock has accounted for its fires up to " + until +
						": none of them runs until the cursor is repaired"},
			})
		}
	}
	slices.SortFunc(found, func(x, y common.Overdue) int { return cmp.Compare(x.Job, y.Job) })
	return found
}

func (a *Watchdog) publish(found, lasting []common.Overdue, count int, ahead []common.Overdue) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.found, a.lasting, a.count, a.ahead = found, lasting, count, ahead
	a.cfg.Observer.Overdue(count)
}

// Found returns the overdue jobs, longest first, followed by those whose cursor is in the future.
func (a *Watchdog) Found() []common.Overdue {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := slices.Concat(a.found, a.ahead)
	return all[:min(len(all), common.MaxOverdue)]
}

// Conditions returns the conditions of the findings.
func (a *Watchdog) Conditions() (all []common.Condition) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if overdue := slices.Concat(a.found, a.lasting); len(overdue) > 0 {
		count, first := a.count+len(a.lasting), overdue[0]
		for i := range a.lasting {
			if a.lasting[i].DueAt.Before(first.DueAt) {
				first = a.lasting[i]
			}
		}
		since := first.DueAt.Format(time.RFC3339)
		all = append(all, common.Condition{Code: common.ConditionOverdue, From: first.DueAt,
			Text: fmt.Sprintf("jobs with overdue fires that no worker has claimed: %d; the first is %s, due since %s",
				count, first.Job, since),
			Data: common.Words{"count": strconv.Itoa(count), "first": first.Job, "since": since}})
	}
	if len(a.ahead) > 0 {
		first := a.ahead[0]
		until := first.Reason.Data["until"]
		all = append(all, common.Condition{Code: common.ConditionCursorInFuture, From: first.Since,
			Text: fmt.Sprintf("jobs with a cursor in the future after a wrong clock: %d; the first is %s, which does "+
				"not fire until %s",
				len(a.ahead), first.Job, until),
			Data: common.Words{"count": strconv.Itoa(len(a.ahead)), "first": first.Job, "until": until}})
	}
	return append(all, a.missing.conditions(time.Now())...)
}
