package scheduler

import (
	"slices"
	"time"

	"carillon/internal/common"
)

// triggerEntry is a trigger in the plan.
type triggerEntry struct {
	item
	trigger Trigger
	since   int64 // when it was found to be due; 0: not yet
	state   state
}

func (e *triggerEntry) job() string { return e.trigger.Job }

func (e *triggerEntry) handOut() { e.state = out }

func (e *triggerEntry) queue(now int64) {
	e.state = ready
	if e.since == 0 {
		e.since = now
	}
}

// offer needs the job: a claim compares its version. A trigger whose job is not
// known yet, or is another one, stays where it is until there is news.
func (e *triggerEntry) offer(p *plan) (Fire, bool) {
	job, known := p.jobs[e.trigger.Job]
	if e.state != ready {
		return Fire{}, false
	}
	if !known || job.uid != e.trigger.JobUID {
		e.state = idle
		p.block(e)
		return Fire{}, false
	}
	t := e.trigger
	return p.ordered(job, Fire{Job: t.Job, UID: t.JobUID, Group: job.group, Version: job.version, At: t.PlannedAt, Due: t.NotBefore,
		Since: time.Unix(0, e.since).UTC(), Terms: job.terms, Trigger: &t}), true
}

// isAttempt reports whether the trigger is for a next attempt of a fire, or for the same one again.
func (e *triggerEntry) isAttempt() bool { return e.trigger.ID == e.trigger.RunID() }

// mostEarlier bounds the attempts that one fire lets go first.
const mostEarlier = 16

// ordered returns the fire with the attempts that go before it, where its job queues its fires. One that is for a
// certain worker does not: that worker may never come.
func (p *plan) ordered(job *jobEntry, f Fire) Fire {
	if job.terms.Overlap != common.OverlapQueue {
		return f
	}
	f.Seen = p.seen
	for _, e := range p.attempts[f.Job] {
		if t := &e.trigger; t.JobUID == f.UID && t.Worker == "" && t.PlannedAt.Before(f.At) && len(f.Earlier) < mostEarlier {
			f.Earlier = append(f.Earlier, Attempt{Trigger: t.ID, NotBefore: t.NotBefore})
		}
	}
	return f
}

// applyTriggers takes in news of triggers. They are few, so a whole table is taken at once.
func (p *plan) applyTriggers(u Triggers) {
	if u.Whole {
		p.seen = 0 // etcd may have been restored
		kept := make(map[TriggerKey]bool, len(u.Put))
		for _, t := range u.Put {
			kept[TriggerKey{t.Job, t.ID}] = true
		}
		for key := range p.triggers {
			if !kept[key] {
				p.dropTrigger(key)
			}
		}
	}
	p.seen = max(p.seen, u.Revision)
	for _, t := range u.Put {
		key := TriggerKey{t.Job, t.ID}
		e, known := p.triggers[key]
		if !known {
			e = &triggerEntry{}
			e.what = e
			p.triggers[key] = e
		}
		if e.trigger.Revision != t.Revision {
			e.since = 0 // another fire waits in its place
		}
		e.trigger = t
		if !known && e.isAttempt() {
			p.attempts[t.Job] = append(p.attempts[t.Job], e)
		}
		p.arrangeTrigger(e, 0)
	}
	for _, key := range u.Gone {
		p.dropTrigger(key)
	}
}

func (p *plan) arrangeTrigger(e *triggerEntry, notBefore int64) {
	if e.state == out {
		return
	}
	e.state = idle
	p.agenda.set(&e.item, max(e.trigger.NotBefore.UnixNano(), notBefore))
}

// settleTrigger takes in what became of a trigger's fire.
func (p *plan) settleTrigger(s Settled) {
	key := TriggerKey{s.Fire.Trigger.Job, s.Fire.Trigger.ID}
	e, known := p.triggers[key]
	if !known || e.state != out {
		return
	}
	e.state = idle
	if s.Gone && s.Fire.Trigger.Revision == e.trigger.Revision {
		p.dropTrigger(key)
		return
	}
	p.arrangeTrigger(e, nanos(s.RetryAt))
	p.block(e)
}

// block notes that a trigger may go when something of its job has changed.
func (p *plan) block(e *triggerEntry) {
	key := TriggerKey{e.trigger.Job, e.trigger.ID}
	if waiting := p.blocked[key.Job]; !slices.Contains(waiting, key) {
		p.blocked[key.Job] = append(waiting, key)
	}
}

// release lets the job's triggers try again.
func (p *plan) release(job string) {
	waiting := p.blocked[job]
	if waiting == nil {
		return
	}
	delete(p.blocked, job)
	for _, key := range waiting {
		if e, known := p.triggers[key]; known {
			p.arrangeTrigger(e, 0)
		}
	}
}

func (p *plan) dropTrigger(key TriggerKey) {
	e, known := p.triggers[key]
	if !known {
		return
	}
	p.agenda.remove(&e.item)
	e.state = idle
	delete(p.triggers, key)
	if list := p.attempts[key.Job]; len(list) > 0 {
		list = slices.DeleteFunc(list, func(one *triggerEntry) bool { return one == e })
		if p.attempts[key.Job] = list; len(list) == 0 {
			delete(p.attempts, key.Job)
		}
	}
	if waiting := p.blocked[key.Job]; len(waiting) > 0 {
		waiting = slices.DeleteFunc(waiting, func(k TriggerKey) bool { return k == key })
		if p.blocked[key.Job] = waiting; len(waiting) == 0 {
			delete(p.blocked, key.Job)
		}
	}
}
