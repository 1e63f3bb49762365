package jobmgr

import (
	"context"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/etcdkit"
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

// Due returns the unclaimed fires after the cursors, up to q.Now: the newest that the query wants, in no
// order. whole is false if there may be older ones.
func (s *Store) Due(ctx context.Context, q *runlog.FireQuery) (fires []common.Fire, whole bool, err error) {
	found := newest{q: q}
	look := &dueLook{
		now:     q.Now,
		each:    dueOfEach,
		budget:  dueEffort,
		tallies: map[time.Time]*schedule.Tally{},
		more:    map[string]bool{},
	}
	jobs := map[string]*entry{}
	if q.Job != "" {
		job, err := s.planOf(ctx, q.Job)
		if err != nil || job == nil {
			return nil, true, err
		}
		look.each = dueOfJob
		jobs[job.name] = job
		look.at(job, job.cursor, &found)
	} else {
		for _, job := range s.cfg.Catalog.entries(q.Group) {
			jobs[job.name] = job
		}
		err := allCursors(ctx, s.cfg.Client, func(name string, kv *mvccpb.KeyValue) {
			if job := jobs[name]; job != nil {
				if cursor, err := common.ParseTimeKey(string(kv.Value)); err == nil {
					look.at(job, cursor, &found)
				}
			}
		})
		if err != nil {
			return nil, false, etcdkit.Wrap(err)
		}
	}
	for i := range found.fires {
		f := &found.fires[i]
		if f.Status == common.StatusWaiting && f.Reason == nil {
			job := jobs[f.Job].state()
			f.Reason = s.unplaced(&job.StoredJob)
		}
		if look.more[f.ID] {
			f.Reason = new(countsAtLeast(*f.Reason))
		}
	}
	return found.fires, !found.cut, nil
}

// planOf reads a job's plan; nil if it has none.
func (s *Store) planOf(ctx context.Context, name string) (*entry, error) {
	seen, err := s.look(ctx, name)
	if err != nil || seen.job == nil {
		return nil, err
	}
	state, err := seen.state()
	if err != nil {
		return nil, nil //nolint:nilerr // a job that cannot be read has no plan, and is reported elsewhere
	}
	timetable, err := s.cfg.Interner.OfJob(&state.Job)
	if err != nil || timetable.IsZero() {
		return nil, nil //nolint:nilerr // likewise
	}
	return newEntry(&state, timetable)
}

// dueLook finds the due fires of jobs.
type dueLook struct {
	now     time.Time
	each    int                           // fires of a job that are listed one by one
	budget  int64                         // effort that is left for counting
	tallies map[time.Time]*schedule.Tally // by their start
	more    map[string]bool               // ids of entries whose count is a lower bound
}

// at adds the due fires of one job. A schedule that fails has no fires; the error is reported elsewhere.
func (l *dueLook) at(job *entry, cursor time.Time, found *newest) {
	first, ok, err := job.timetable.Next(cursor)
	if err != nil || !ok || first.After(l.now) {
		return
	}
	if job.paused {
		end := l.now
		if job.pauseUntil != nil && job.pauseUntil.Before(end) {
			end = lastPaused(*job.pauseUntil)
		}
		state := job.state()
		l.stretch(job, cursor, end, new(waitsPaused(&state.Job)), found)
		cursor = later(cursor, end)
	}
	var fires []time.Time
	for at := cursor; len(fires) <= l.each; {
		next, ok, err := job.timetable.Next(at)
		if err != nil || !ok || next.After(l.now) {
			break
		}
		fires, at = append(fires, next), next
	}
	if len(fires) > l.each {
		l.stretch(job, cursor, l.now, nil, found)
		return
	}
	for _, at := range fires {
		found.add(planned(job, at, l.now))
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

// stretch adds one entry for the fires after a cursor, up to a time.
func (l *dueLook) stretch(job *entry, cursor, to time.Time, reason *common.Reason, found *newest) {
	count, last, all, err := l.count(job.timetable, cursor, to)
	if err != nil || count == 0 {
		return
	}
	state := job.plan()
	state.Cursor = cursor
	run := common.PassedOver(state, last, count, common.StatusWaiting, common.Reason{})
	f := common.Fire{
		ID:        run.Fire,
		Job:       job.name,
		JobUID:    job.uid,
		Group:     job.group.Value(),
		PlannedAt: run.PlannedAt,
		Cause:     common.CauseCron,
		Status:    common.StatusWaiting,
		Reason:    reason,
		Attempts:  []string{},
		Gap:       run.Gap,
	}
	if !all {
		l.more[f.ID] = true
	}
	found.add(f)
}

// count counts the fires after a cursor, up to a time, and returns the last of them. If that exceeds the
// budget, all is false, and the last one may be any up to that time.
func (l *dueLook) count(timetable schedule.Schedule, cursor, to time.Time) (count int64, last time.Time, all bool,
	err error) {
	effort := int64(1)
	if timetable.Lines() {
		effort += int64(to.Sub(cursor) / time.Hour)
	}
	if effort > l.budget {
		most := int64(l.each) + 1
		if count, last, err = timetable.Passed(cursor, to, most); count < most {
			return count, last, true, err
		}
		return count, to, false, err
	}
	tally := l.tally(cursor)
	asked := tally.Asked
	count, last, err = tally.Count(timetable, cursor, to)
	l.budget -= effort + dueAsked*int64(tally.Asked-asked)
	return count, last, true, err
}

// tally returns a tally from a cursor or earlier, up to now; it is shared by cursors of about the same age.
func (l *dueLook) tally(cursor time.Time) *schedule.Tally {
	age := 24 * time.Hour
	for l.now.Sub(cursor) > age {
		age *= 2
	}
	begin := l.now.Add(-age)
	if l.tallies[begin] == nil {
		l.tallies[begin] = schedule.NewTally(begin, l.now.Add(1))
	}
	return l.tallies[begin]
}

// Planned returns the fires after q.Now and after the cursors: the newest that the query wants, in no order.
// It reads one window after the other, backwards from the end of the requested time, until it has enough.
// Cursors may be outdated: a fire that was claimed since is also found as a run, under the same id.
func (s *Store) Planned(ctx context.Context, q *runlog.FireQuery) (fires []common.Fire, whole bool, err error) {
	var jobs []*entry
	if q.Job != "" {
		job, err := s.planOf(ctx, q.Job)
		if err != nil || job == nil {
			return nil, true, err
		}
		jobs = []*entry{job}
	} else {
		jobs = s.cfg.Catalog.entries(q.Group)
	}
	low, end := later(q.Now.Add(1), q.From), q.To
	if q.Before != nil && q.Before.PlannedAt.Before(end) {
		end = q.Before.PlannedAt.Add(1)
	}
	found := newest{q: q}
	for width := firstWindow; end.After(low) && len(found.fires) < found.keep(); {
		start := later(low, end.Add(-width))
		budget := perWindow
		if width <= time.Second {
			budget = 2*len(jobs) + perWindow // a schedule has at most one fire per second
		}
		part, enough, err := window(ctx, jobs, q, start, end, budget)
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
func window(ctx context.Context, jobs []*entry, q *runlog.FireQuery, start, end time.Time, budget int) (found newest,
	enough bool, err error) {
	found.q = q
	for i, job := range jobs {
		if i%1024 == 0 && ctx.Err() != nil {
			return found, false, context.Cause(ctx)
		}
		from := start.Add(-1)
		if job.paused {
			if job.pauseUntil == nil {
				continue
			}
			from = later(from, lastPaused(*job.pauseUntil))
		}
		at, ok, failed := job.timetable.Upcoming(job.cursor, from)
		if failed != nil || !ok || !at.Before(end) {
			continue
		}
		for failed == nil && ok && at.Before(end) {
			if budget--; budget < 0 {
				return found, false, nil
			}
			found.add(planned(job, at, q.Now))
			at, ok, failed = job.timetable.Next(at)
		}
	}
	return found, true, nil
}

// planned returns a fire of the plan that no worker has claimed: it is due, or its planned time or jitter is
// still to come.
func planned(job *entry, at, now time.Time) common.Fire {
	f := common.Fire{
		ID:        common.PlannedFire(job.uid, at),
		Job:       job.name,
		JobUID:    job.uid,
		Group:     job.group.Value(),
		PlannedAt: at.UTC(),
		Cause:     common.CauseCron,
		Status:    common.StatusWaiting,
		Attempts:  []string{},
	}
	due := at
	if delay := job.delay(at); delay > 0 {
		due = at.Add(delay)
		f.DueAt = new(due.UTC())
	}
	if due.After(now) {
		f.Status = common.StatusPlanned
	}
	return f
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
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
