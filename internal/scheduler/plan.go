package scheduler

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/maintenance"
)

// plan stores when each job and trigger is due. It does no I/O, and is owned by Loop.Run.
type plan struct {
	agenda    agenda // of jobs
	triggered agenda // of triggers
	jobs      map[string]*jobEntry
	dense     []*jobEntry // all jobs, for passes over all of them in small steps
	triggers  map[TriggerKey]*triggerEntry
	ofJob     map[string][]*triggerEntry // triggers by job
	seen      int64                      // triggers are complete up to this revision of etcd
	failed    func(job string, err error)

	able       int64                // since when this worker looks at all jobs without an interruption
	listed     bool                 // a complete list has been applied
	clock      int64                // the time after the last jump of the clock
	pending    map[string]*Replicas // pending replicas of daemon jobs, until their triggers change
	runsAs     map[string]string    // of daemon jobs, by name
	generation uint32
	// Passes over all jobs go from the end of dense to its start, so that the job that is moved to the place of a
	// dropped one has been processed already.
	sweep  int // the first sweep jobs may be missing from the complete list
	replan int // the first replan jobs are still to be planned anew
	retry  int // the first retry jobs may be postponed and become due again
}

// jobEntry is a job in the plan. It is compact, with times in Unix nanoseconds: there may be a million of them.
type jobEntry struct {
	item
	name       string
	uid        string
	group      string
	labels     maintenance.Labels
	version    int64
	cursor     int64
	next       int64 // the first fire after cursor
	late       int64 // end of the last outage after which fires of the job were found together; 0: none
	firstLate  int64 // due time of the first of them
	awaited    int64 // a newer version in etcd that has not arrived yet; 0: none
	schedule   schedule.Schedule
	terms      *common.Terms
	flow       *Flow
	generation uint32
	denseIndex int32 // index in dense
}

func newPlan(failed func(job string, err error)) *plan {
	return &plan{
		jobs:     map[string]*jobEntry{},
		triggers: map[TriggerKey]*triggerEntry{},
		ofJob:    map[string][]*triggerEntry{},
		pending:  map[string]*Replicas{},
		runsAs:   map[string]string{},
		failed:   failed,
	}
}

func (e *jobEntry) job() string { return e.name }

// dueAt returns the due time of the next fire. A paused fire is due at the end of the pause, when it passes.
func (e *jobEntry) dueAt() int64 {
	due := e.next
	if e.terms.Jitter > 0 {
		due += int64(e.schedule.Delay(e.terms, e.uid, time.Unix(0, e.next)))
	}
	return max(due, e.terms.PausedUntil)
}

func (e *jobEntry) offer(p *plan) (Fire, bool) {
	if e.state != ready {
		return Fire{}, false
	}
	due := time.Unix(0, e.dueAt()).UTC()
	e.found(due, p.able)
	late := time.Time{}
	if e.late >= due.UnixNano() {
		late = time.Unix(0, e.late).UTC()
	}
	follows := !late.IsZero() && due.UnixNano() > e.firstLate
	return p.ordered(e, Fire{
		Job:      e.name,
		UID:      e.uid,
		Group:    e.group,
		Labels:   e.labels,
		Version:  e.version,
		Cursor:   time.Unix(0, e.cursor).UTC(),
		At:       time.Unix(0, e.next).UTC(),
		Due:      due,
		Late:     late,
		Follows:  follows,
		Since:    time.Unix(0, e.since).UTC(),
		Terms:    e.terms,
		Schedule: e.schedule,
		Flow:     e.flow,
	}), true
}

// found notes that no worker could claim a fire before a time, as far as this one knows.
func (e *jobEntry) found(due time.Time, at int64) {
	if e.late >= at || !foundTogether(due, time.Unix(0, at)) {
		return
	}
	if due.UnixNano() > e.late {
		e.firstLate = due.UnixNano()
	}
	e.late = at
}

// putJob adds or changes a job.
func (p *plan) putJob(j Job) {
	e, known := p.jobs[j.Name]
	if !known {
		e = &jobEntry{denseIndex: int32(len(p.dense))}
		e.what = e
		p.dense = append(p.dense, e)
		p.jobs[j.Name] = e
	}
	e.generation = p.generation
	delete(p.pending, j.Name)
	if known && j.Version < e.version {
		return // a list that is older than a change that arrived before
	}
	cursor := j.Cursor.UnixNano()
	if known && e.uid == j.UID && j.Version == e.version {
		cursor = max(cursor, e.cursor) // this worker may have moved it since it was read
	}
	if e.uid != j.UID {
		e.state, e.since, e.late = idle, 0, 0 // a fire that was sent belongs to the deleted job
	}
	e.name, e.uid, e.group, e.labels, e.version, e.cursor = j.Name, j.UID, j.Group, j.Labels, j.Version, cursor
	e.schedule, e.terms, e.flow = j.Schedule, j.Terms, j.Flow
	if delete(p.runsAs, j.Name); j.RunsAs != "" {
		p.runsAs[j.Name] = j.RunsAs
	}
	if j.Version >= e.awaited {
		e.awaited = 0
	}
	p.arrange(e, 0)
}

// arrange plans a job from its cursor; its next fire is not due before a given time.
func (p *plan) arrange(e *jobEntry, notBefore int64) {
	if e.state == sent {
		return // it is planned when its fire is settled
	}
	e.state = idle
	p.agenda.remove(&e.item)
	if e.awaited != 0 || e.terms.Paused && e.terms.PausedUntil == 0 {
		return
	}
	next, ok, err := e.schedule.Next(time.Unix(0, e.cursor))
	if err != nil {
		p.failed(e.name, err)
	}
	if err != nil || !ok {
		return // no next fire, or the schedule cannot be computed
	}
	if at := next.UnixNano(); at != e.next {
		e.next, e.since = at, 0
	}
	p.agenda.set(&e.item, max(e.dueAt(), notBefore))
}

// settleJob applies the result of a fire of the plan.
func (p *plan) settleJob(s Settled) {
	e, known := p.jobs[s.Fire.Job]
	if !known || e.uid != s.Fire.UID || e.state != sent {
		return
	}
	e.state = idle
	e.found(s.Fire.Due, nanos(s.Fire.Late))
	if s.Gone {
		p.dropJob(e.name)
		return
	}
	if s.Version > e.version {
		e.awaited = s.Version
	}
	if !s.Cursor.IsZero() {
		e.cursor = max(e.cursor, s.Cursor.UnixNano())
	}
	p.arrange(e, nanos(s.RetryAt))
}

// dropJob removes a job.
func (p *plan) dropJob(name string) {
	e, known := p.jobs[name]
	if !known {
		return
	}
	p.agenda.remove(&e.item)
	e.state = idle
	delete(p.jobs, name)
	delete(p.runsAs, name)
	last := len(p.dense) - 1
	moved := p.dense[last]
	p.dense[e.denseIndex], moved.denseIndex = moved, e.denseIndex
	p.dense[last] = nil
	p.dense = p.dense[:last]
}

// beginWhole starts to apply a complete list: jobs that are not put before endWhole are dropped after it.
func (p *plan) beginWhole(now time.Time) {
	if !p.listed { // until now, not all fires were known
		p.able = now.UnixNano()
	}
	p.generation++
	p.sweep = 0
}

func (p *plan) endWhole() { p.sweep, p.listed = len(p.dense), true }

// planAgain plans all jobs and triggers again. The clock has jumped to now. A jump ahead is an outage; after a jump
// back, no outage ends in the future.
func (p *plan) planAgain(now time.Time, by time.Duration) {
	p.clock = now.UnixNano()
	if p.able = min(p.able, p.clock); by > foundLate {
		p.able = p.clock
	}
	p.replan = len(p.dense)
	for _, e := range p.triggers {
		e.since = 0
		p.arrangeTrigger(e, 0)
	}
}

// retryAll makes all postponed fires due again: something has changed that may allow them to start.
func (p *plan) retryAll() {
	p.retry = len(p.dense)
	for _, e := range p.triggers {
		p.arrangeTrigger(e, 0)
	}
}

// retryJob makes the fire of a job due again, if it is postponed.
func (p *plan) retryJob(e *jobEntry) {
	if e.index != 0 && e.item.due > e.dueAt() {
		p.agenda.set(&e.item, e.dueAt())
	}
}

// step does at most n steps of the passes over all jobs, and reports whether more may be left.
func (p *plan) step(n int) bool {
	for ; n > 0; n-- {
		n := len(p.dense)
		p.sweep, p.replan, p.retry = min(p.sweep, n), min(p.replan, n), min(p.retry, n)
		switch {
		case p.sweep > 0:
			p.sweep--
			if e := p.dense[p.sweep]; e.generation != p.generation {
				p.dropJob(e.name)
			}
		case p.replan > 0:
			p.replan--
			e := p.dense[p.replan]
			e.since, e.late = 0, min(e.late, p.clock) // they were read from the old clock
			p.arrange(e, 0)
		case p.retry > 0:
			p.retry--
			p.retryJob(p.dense[p.retry])
		default:
			return false
		}
	}
	return true
}

// first returns the earliest item of both agendas, or nil.
func (p *plan) first() *item {
	a, b := p.agenda.first(), p.triggered.first()
	if a == nil || b != nil && b.due < a.due {
		return b
	}
	return a
}

// due removes the earliest due item from its agenda and returns it, or nil.
func (p *plan) due(now int64) *item {
	first := p.first()
	if first == nil || first.due > now {
		return nil
	}
	p.agendaOf(first).remove(first)
	if first.state = ready; first.since == 0 {
		first.since = now
	}
	return first
}

// itemOf returns the item of a fire, or nil.
func (p *plan) itemOf(f *Fire) *item {
	if t := f.Trigger; t != nil {
		if e, known := p.triggers[TriggerKey{t.Job, t.ID}]; known {
			return &e.item
		}
	} else if e, known := p.jobs[f.Job]; known {
		return &e.item
	}
	return nil
}

// agendaOf returns the agenda of an item.
func (p *plan) agendaOf(it *item) *agenda {
	if _, trigger := it.what.(*triggerEntry); trigger {
		return &p.triggered
	}
	return &p.agenda
}

// hold returns a due item to its agenda, as the action for its fire says.
func (p *plan) hold(it *item, f *Fire, now time.Time) {
	if e, is := it.what.(*jobEntry); is && f.Action.Unable {
		e.found(f.Due, now.UnixNano())
	}
	until := f.Action.HoldUntil
	it.state = idle
	p.agendaOf(it).set(it, until.UnixNano())
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
