// Package plan lists the fires of jobs that no worker has claimed: those that are due, and the planned ones.
// It is safe for concurrent use and bounds the cost of each list.
package plan

import (
	"cmp"
	"context"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/maintenance"
	"carillon/internal/runlog"
)

// Bounds of the cost of one query of the plan.
const (
	// dueOfJob fires are listed one by one for a query of one job, dueOfEach for each job in a query of all;
	// further fires become one entry.
	dueOfJob  = 100
	dueOfEach = 5
	// dueEffort bounds the hours of schedules that are counted for such entries, in total; looking up a
	// single fire costs as much as dueAsked of them. An entry beyond the bound counts the fires that would be
	// listed one by one, and one more, and says "at least".
	dueEffort = 1_000_000
	dueAsked  = 40
	// perWindow bounds the fires that are read in one window of the future, unless the window is one second
	// long. The first window is one minute long, the usual period of schedules.
	perWindow   = 20_000
	firstWindow = time.Minute
)

// Catalog provides the jobs and their cursors.
type Catalog interface {
	Scheduled(group string) []*catalog.Entry
	EachCursor(ctx context.Context, visit func(job string, cursor time.Time)) error
	// Read returns a job as it is in etcd now; nil if it does not exist or cannot be read.
	Read(ctx context.Context, name string) (*catalog.Entry, error)
}

// Fires lists fires that no worker has claimed.
type Fires struct {
	catalog  Catalog
	unplaced func(*common.StoredJob) *common.Reason
	windows  func() *maintenance.Set
}

// New returns the fires of a catalog. unplaced returns why no worker may run a job now, or nil if one may; windows the
// maintenance windows.
func New(catalog Catalog, unplaced func(*common.StoredJob) *common.Reason, windows func() *maintenance.Set) *Fires {
	return &Fires{catalog: catalog, unplaced: unplaced, windows: windows}
}

// Due returns the unclaimed fires after the cursors, up to q.Now: the newest that the query wants, in no
// order. whole is false if there may be older ones.
func (f *Fires) Due(ctx context.Context, q *runlog.FireQuery) (fires []common.Fire, whole bool, err error) {
	found := newest{q: q}
	search := &dueSearch{
		now:     q.Now,
		windows: f.windows(),
		each:    dueOfEach,
		budget:  dueEffort,
		tallies: map[time.Time]*schedule.Tally{},
		more:    map[string]bool{},
	}
	jobs := map[string]*catalog.Entry{}
	if q.Job != "" {
		job, err := f.catalog.Read(ctx, q.Job)
		if err != nil || job == nil || job.Timetable.IsZero() {
			return nil, true, err
		}
		search.each = dueOfJob
		jobs[job.Name] = job
		search.addJob(job, job.Cursor, &found)
	} else {
		for _, job := range f.catalog.Scheduled(q.Group) {
			jobs[job.Name] = job
		}
		err := f.catalog.EachCursor(ctx, func(name string, cursor time.Time) {
			if job := jobs[name]; job != nil {
				search.addJob(job, cursor, &found)
			}
		})
		if err != nil {
			return nil, false, err
		}
	}
	for i := range found.fires {
		fire := &found.fires[i]
		if fire.Status == common.StatusWaiting && fire.Reason == nil {
			job := jobs[fire.Job].State()
			fire.Reason = cmp.Or(f.unplaced(&job.StoredJob), common.Starting())
		}
		if search.more[fire.ID] {
			fire.Reason = new(fire.Reason.AtLeast())
		}
	}
	return found.fires, !found.cut, nil
}

// dueSearch finds the due fires of jobs.
type dueSearch struct {
	now     time.Time
	windows *maintenance.Set
	each    int                           // fires of a job that are listed one by one
	budget  int64                         // effort that is left for counting
	tallies map[time.Time]*schedule.Tally // by their start
	more    map[string]bool               // ids of entries whose count is a lower bound
}

// addJob adds the due fires of one job. A schedule that fails has no fires; the error is reported elsewhere.
func (s *dueSearch) addJob(job *catalog.Entry, cursor time.Time, found *newest) {
	first, ok, err := job.Timetable.Next(cursor)
	if err != nil || !ok || first.After(s.now) {
		return
	}
	if job.Paused {
		end := s.now
		if job.PauseUntil != nil && job.PauseUntil.Before(end) {
			end = job.PauseUntil.Add(-1) // at its end the job fires again
		}
		state := job.State()
		s.addGap(job, cursor, end, new(waitsPaused(&state.Job)), found)
		cursor = common.Later(cursor, end)
	}
	var fires []time.Time
	for at := cursor; len(fires) <= s.each; {
		next, ok, err := job.Timetable.Next(at)
		if err != nil || !ok || next.After(s.now) {
			break
		}
		fires, at = append(fires, next), next
	}
	if len(fires) > s.each {
		var reason *common.Reason
		if o, skips, is := affected(job, s.windows, fires[0], s.now); is {
			reason = new(o.Reason(skips))
		}
		s.addGap(job, cursor, s.now, reason, found)
		return
	}
	for _, at := range fires {
		found.add(planned(job, s.windows, at, s.now))
	}
}

// waitsPaused returns the reason of fires that are due during a pause.
func waitsPaused(job *common.Job) common.Reason {
	r := common.Reason{Code: common.ReasonPaused, Data: map[string]string{}, Text: "the job is paused"}
	if job.PauseNote != "" {
		r.Data["note"] = job.PauseNote
		r.Text += ": " + job.PauseNote
	}
	if job.PauseUntil != nil {
		r.Data["until"] = job.PauseUntil.UTC().Format(time.RFC3339)
	}
	return r
}

// addGap adds one entry for the fires after a cursor, up to a time.
func (s *dueSearch) addGap(job *catalog.Entry, cursor, to time.Time, reason *common.Reason, found *newest) {
	count, last, all, err := s.count(job.Timetable, cursor, to)
	if err != nil || count == 0 {
		return
	}
	state := job.Plan()
	state.Cursor = cursor
	run := common.PassedOver(state, last, count, common.StatusWaiting, common.Reason{})
	f := common.Fire{
		ID:        run.Fire,
		Job:       job.Name,
		JobUID:    job.UID,
		Group:     job.Group(),
		PlannedAt: run.PlannedAt,
		Cause:     common.CauseCron,
		Status:    common.StatusWaiting,
		Reason:    reason,
		Attempts:  []string{},
		Gap:       run.Gap,
	}
	if !all {
		s.more[f.ID] = true
	}
	found.add(f)
}

// count counts the fires after a cursor, up to a time, and returns the last of them. If that exceeds the
// budget, all is false, and the last one may be any up to that time.
func (s *dueSearch) count(timetable schedule.Schedule, cursor, to time.Time) (count int64, last time.Time, all bool,
	err error) {
	effort := 1 + timetable.CountEffort(to.Sub(cursor), dueAsked)
	if effort > s.budget {
		most := int64(s.each) + 1
		if count, last, err = timetable.Passed(cursor, to, most); count < most {
			return count, last, true, err
		}
		return count, to, false, err
	}
	tally := s.tally(cursor)
	asked := tally.Asked
	count, last, err = tally.Count(timetable, cursor, to)
	s.budget -= effort + dueAsked*int64(tally.Asked-asked)
	return count, last, true, err
}

// tally returns a tally from a cursor or earlier, up to now; it is shared by cursors of about the same age.
func (s *dueSearch) tally(cursor time.Time) *schedule.Tally {
	age := 24 * time.Hour
	for s.now.Sub(cursor) > age {
		age *= 2
	}
	begin := s.now.Add(-age)
	if s.tallies[begin] == nil {
		s.tallies[begin] = schedule.NewTally(begin, s.now.Add(1))
	}
	return s.tallies[begin]
}

// Planned returns the fires after q.Now and after the cursors: the newest that the query wants, in no order.
// It reads one window after the other, backwards from the end of the requested time, until it has enough.
// Cursors may be outdated: a fire that was claimed since is also found as a run, under the same id.
func (f *Fires) Planned(ctx context.Context, q *runlog.FireQuery) (fires []common.Fire, whole bool, err error) {
	var jobs []*catalog.Entry
	if q.Job != "" {
		job, err := f.catalog.Read(ctx, q.Job)
		if err != nil || job == nil || job.Timetable.IsZero() {
			return nil, true, err
		}
		jobs = []*catalog.Entry{job}
	} else {
		jobs = f.catalog.Scheduled(q.Group)
	}
	low, end := common.Later(q.Now.Add(1), q.From), q.To
	if q.Before != nil && q.Before.PlannedAt.Before(end) {
		end = q.Before.PlannedAt.Add(1)
	}
	found := newest{q: q}
	for width := firstWindow; end.After(low) && len(found.fires) < found.keep(); {
		start := common.Later(low, end.Add(-width))
		budget := perWindow
		if width <= time.Second {
			budget = 2*len(jobs) + perWindow // a schedule has at most one fire per second
		}
		part, enough, err := f.window(ctx, jobs, q, start, end, budget)
		if err != nil {
			return nil, false, err
		}
		if !enough {
			width /= 2
			continue
		}
		for _, f := range part.fires {
			found.add(f)
		}
		found.cut = found.cut || part.cut
		end, width = start, width*8
	}
	return found.fires, !found.cut && !end.After(low), nil
}

// window returns the newest fires of a window of the future, its end exclusive. enough is false if the window
// has more fires than the budget allows to read.
func (f *Fires) window(ctx context.Context, jobs []*catalog.Entry, q *runlog.FireQuery, start, end time.Time,
	budget int) (found newest, enough bool, err error) {
	found.q = q
	windows := f.windows()
	for i, job := range jobs {
		if i%1024 == 0 && ctx.Err() != nil {
			return found, false, context.Cause(ctx)
		}
		from := start.Add(-1)
		if job.Paused {
			if job.PauseUntil == nil {
				continue
			}
			from = common.Later(from, job.PauseUntil.Add(-1))
		}
		at, ok, failed := job.Timetable.Upcoming(job.Cursor, from)
		if failed != nil || !ok || !at.Before(end) {
			continue
		}
		for failed == nil && ok && at.Before(end) {
			if budget--; budget < 0 {
				return found, false, nil
			}
			found.add(planned(job, windows, at, q.Now))
			at, ok, failed = job.Timetable.Next(at)
		}
	}
	return found, true, nil
}

// planned returns a fire of the plan that no worker has claimed: it is due, or its planned time or jitter is
// still to come.
func planned(job *catalog.Entry, windows *maintenance.Set, at, now time.Time) common.Fire {
	f := common.Fire{
		ID:        common.PlannedFire(job.UID, at),
		Job:       job.Name,
		JobUID:    job.UID,
		Group:     job.Group(),
		PlannedAt: at.UTC(),
		Cause:     common.CauseCron,
		Status:    common.StatusWaiting,
		Attempts:  []string{},
	}
	if e := job.Timetable.At(at); e != nil {
		f.Schedule = e.Label
	}
	due := at
	if delay := job.Delay(at); delay > 0 {
		due = at.Add(delay)
		f.DueAt = new(due.UTC())
	}
	if due.After(now) {
		f.Status = common.StatusPlanned
	}
	if o, skips, is := affected(job, windows, at, now); is {
		f.Reason = new(o.Reason(skips))
		if !skips && f.Status == common.StatusPlanned {
			f.DueAt = new(common.Later(due, o.End).UTC())
		}
	}
	return f
}

// affected returns the maintenance window that affects a fire: the one within which it is planned, and whether it skips
// the fire, or one for whose end it waits now.
func affected(job *catalog.Entry, windows *maintenance.Set, at, now time.Time) (o maintenance.Opening, skips, is bool) {
	o, within := windows.Open(job.Scope(), at)
	switch {
	case within && !o.Holds():
		return o, true, true
	case within && o.End.After(now):
		return o, false, true
	case at.After(now):
		return o, false, false
	}
	o, is = windows.Closed(job.Scope(), now)
	return o, false, is
}

// newest keeps the newest fires that a query wants.
type newest struct {
	q     *runlog.FireQuery
	fires []common.Fire
	cut   bool // there were more
}

// keep returns one more than the limit of a page, to detect a further page.
func (n *newest) keep() int { return n.q.Limit + 1 }

func (n *newest) add(f common.Fire) {
	if !n.q.Matches(&f) {
		return
	}
	if n.fires = append(n.fires, f); len(n.fires) < 4*n.keep() {
		return
	}
	slices.SortFunc(n.fires, runlog.CompareFires)
	n.fires, n.cut = n.fires[:n.keep()], true
}
