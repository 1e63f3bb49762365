package scheduler

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

// plan is the plan table: when each job and trigger is due. It is pure, and owned
// by Loop.Run.
type plan struct {
	agenda   agenda
	jobs     map[string]*jobEntry
	dense    []*jobEntry // all jobs, for what is done to all of them in small steps
	triggers map[TriggerKey]*triggerEntry
	blocked  map[string][]TriggerKey    // by job: triggers that wait for a run to end
	attempts map[string][]*triggerEntry // by job: next attempts of fires
	seen     int64                      // the revision of etcd up to which triggers are known
	failed   func(job string, err error)

	generation uint32
	// What is done to all jobs goes from the end of dense to its beginning, so that
	// what takes the place of a dropped job has been seen already.
	sweep  int // so many, from the beginning, may be what a whole table lacked
	replan int // so many are still to be planned anew
	rouse  int // so many may have been put off, and are to be handed out again
}

// state of what is planned.
type state uint8

const (
	idle  state = iota // in the agenda, or parked
	ready              // due, waiting to be taken
	out                // taken, not settled
)

// jobEntry is a job in the plan. Times are Unix nanoseconds: a million of these stand in memory.
type jobEntry struct {
	item
	name       string
	uid        string
	group      string
	version    int64
	cursor     int64
	next       int64 // the first fire after cursor
	since      int64 // when that was found to be due; 0: not yet
	awaited    int64 // the version that etcd has, whose news it waits for; 0: none
	schedule   schedule.Schedule
	terms      *common.Terms
	generation uint32
	slot       int32 // in dense
	state      state
}

func newPlan(failed func(job string, err error)) *plan {
	return &plan{jobs: map[string]*jobEntry{}, triggers: map[TriggerKey]*triggerEntry{}, blocked: map[string][]TriggerKey{},
		attempts: map[string][]*triggerEntry{}, failed: failed}
}

func (e *jobEntry) job() string { return e.name }

func (e *jobEntry) handOut() { e.state = out }

func (e *jobEntry) queue(now int64) {
	e.state = ready
	if e.since == 0 {
		e.since = now
	}
}

// dueAt is when the next fire may start. Those that a pause forbids are handed out when
// it has ended, to be accounted for.
func (e *jobEntry) dueAt() int64 {
	due := e.next
	if e.terms.Jitter > 0 {
		due += int64(e.terms.Delay(e.uid, time.Unix(0, e.next)))
	}
	return max(due, e.terms.PausedUntil)
}

func (e *jobEntry) offer(p *plan) (Fire, bool) {
	if e.state != ready {
		return Fire{}, false
	}
	return p.ordered(e, Fire{Job: e.name, UID: e.uid, Group: e.group, Version: e.version, Cursor: time.Unix(0, e.cursor).UTC(), At: time.Unix(0, e.next).UTC(),
		Due: time.Unix(0, e.dueAt()).UTC(), Since: time.Unix(0, e.since).UTC(), Terms: e.terms, Schedule: e.schedule}), true
}

// putJob takes in what is new of a job.
func (p *plan) putJob(j Job) {
	e, known := p.jobs[j.Name]
	if !known {
		e = &jobEntry{slot: int32(len(p.dense))}
		e.what = e
		p.dense = append(p.dense, e)
		p.jobs[j.Name] = e
	}
	e.generation = p.generation
	if known && j.Version < e.version {
		return // a list that is older than the news
	}
	cursor := j.Cursor.UnixNano()
	if known && e.uid == j.UID && j.Version == e.version {
		cursor = max(cursor, e.cursor) // we may have moved it since this was read
	}
	if e.uid != j.UID {
		e.state, e.since = idle, 0 // what is out belongs to the job that was deleted
	}
	e.name, e.uid, e.group, e.version, e.cursor = j.Name, j.UID, j.Group, j.Version, cursor
	e.schedule, e.terms = j.Schedule, j.Terms
	if j.Version >= e.awaited {
		e.awaited = 0
	}
	p.arrange(e, 0)
}

// arrange plans a job anew from its cursor, not before a given time.
func (p *plan) arrange(e *jobEntry, notBefore int64) {
	if e.state == out {
		return // planned when it is settled
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
		return // parked: it never fires, or cannot be planned
	}
	if at := next.UnixNano(); at != e.next {
		e.next, e.since = at, 0
	}
	p.agenda.set(&e.item, max(e.dueAt(), notBefore))
}

// settleJob takes in what became of a fire of the plan.
func (p *plan) settleJob(s Settled) {
	e, known := p.jobs[s.Fire.Job]
	if !known || e.uid != s.Fire.UID || e.state != out {
		return
	}
	e.state = idle
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

// dropJob forgets a job.
func (p *plan) dropJob(name string) {
	e, known := p.jobs[name]
	if !known {
		return
	}
	p.agenda.remove(&e.item)
	e.state = idle
	delete(p.jobs, name)
	last := len(p.dense) - 1
	moved := p.dense[last]
	p.dense[e.slot], moved.slot = moved, e.slot
	p.dense[last] = nil
	p.dense = p.dense[:last]
}

// beginWhole begins to take in a whole table: what is not put before endWhole is dropped after it.
func (p *plan) beginWhole() {
	p.generation++
	p.sweep = 0
}

func (p *plan) endWhole() { p.sweep = len(p.dense) }

// planAgain makes the plan of every job anew: what was put off by the old clock is due by the new.
func (p *plan) planAgain() {
	p.replan = len(p.dense)
	for _, e := range p.triggers {
		e.since = 0
		p.arrangeTrigger(e, 0)
	}
}

// rouseAll hands out again what was put off: something has changed that may let it go now.
func (p *plan) rouseAll() {
	p.rouse = len(p.dense)
	for _, e := range p.triggers {
		p.arrangeTrigger(e, 0)
	}
}

// step does a little of the work on all jobs, and tells whether there is more.
func (p *plan) step(n int) bool {
	for ; n > 0; n-- {
		n := len(p.dense)
		p.sweep, p.replan, p.rouse = min(p.sweep, n), min(p.replan, n), min(p.rouse, n)
		switch {
		case p.sweep > 0:
			p.sweep--
			if e := p.dense[p.sweep]; e.generation != p.generation {
				p.dropJob(e.name)
			}
		case p.replan > 0:
			p.replan--
			p.dense[p.replan].since = 0 // by the old clock
			p.arrange(p.dense[p.replan], 0)
		case p.rouse > 0:
			p.rouse--
			if e := p.dense[p.rouse]; e.place != 0 && e.item.due > e.dueAt() {
				p.agenda.set(&e.item, e.dueAt())
			}
		default:
			return false
		}
	}
	return true
}

// due takes the earliest item that is due, or nil.
func (p *plan) due(now int64) *item {
	first := p.agenda.first()
	if first == nil || first.due > now {
		return nil
	}
	p.agenda.remove(first)
	first.what.queue(now)
	return first
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
