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
}

func (e *triggerEntry) job() string { return e.trigger.Job }

// offer returns the trigger's fire. It needs the job, since a claim compares the job's version: a trigger whose job is
// unknown or has another uid is blocked until the job changes. An inline step of a flow brings its definition.
func (e *triggerEntry) offer(p *plan) (Fire, bool) {
	if e.state != ready {
		return Fire{}, false
	}
	t := e.trigger
	if in := t.Inline; in != nil {
		return Fire{Job: t.Job, UID: in.Job.UID, Group: in.Job.Group, At: t.PlannedAt, Due: t.NotBefore,
			Since: time.Unix(0, e.since).UTC(), Terms: in.Terms, Trigger: &t}, true
	}
	job, known := p.jobs[t.Job]
	if !known || job.uid != t.UID() {
		e.state = idle
		return Fire{}, false
	}
	if t.Cause == common.CauseDaemon && !job.terms.Daemon.Wants(t.Replica()) { // its keeper removes it
		e.state = idle
		return Fire{}, false
	}
	if e.renewed(p) {
		t.Restarts, t.NotBefore = 0, time.Unix(0, min(t.NotBefore.UnixNano(), e.since)).UTC()
	}
	if until, paused := e.pausedUntil(p); paused { // the job was paused since
		p.arrangeTrigger(e, until)
		return Fire{}, false
	}
	fire := p.ordered(job, Fire{
		Job:      t.Job,
		UID:      job.uid,
		Group:    job.group,
		Labels:   job.labels,
		Version:  job.version,
		At:       t.PlannedAt,
		Due:      t.NotBefore,
		Since:    time.Unix(0, e.since).UTC(),
		Terms:    job.terms,
		Schedule: job.schedule,
		Flow:     job.flow,
		Trigger:  &t,
		RunsAs:   p.runsAs[t.Job],
	})
	if t.Cause == common.CauseDaemon && t.Worker == "" {
		fire.Replicas = p.replicas(job)
	}
	return fire, true
}

// isAttempt reports whether the trigger requests a further attempt of a fire, or the same attempt again.
func (e *triggerEntry) isAttempt() bool { return e.trigger.ID == e.trigger.RunID() }

// mostEarlier bounds the attempts that one fire waits for.
const mostEarlier = 16

// ordered adds the attempts that must start before a fire of a job with the overlap policy queue. Attempts for a
// particular worker are left out, since that worker may never return.
func (p *plan) ordered(job *jobEntry, f Fire) Fire {
	if job.terms.Overlap != common.OverlapQueue {
		return f
	}
	f.Seen = p.seen
	for _, e := range p.ofJob[f.Job] {
		if t := &e.trigger; e.isAttempt() && t.UID() == f.UID && t.Worker == "" && t.PlannedAt.Before(f.At) &&
			len(f.Earlier) < mostEarlier {
			f.Earlier = append(f.Earlier, Attempt{Trigger: t.ID, NotBefore: t.NotBefore})
		}
	}
	return f
}

// applyTriggers applies changes of triggers. There are few, so a complete list is applied in one step.
func (p *plan) applyTriggers(u Triggers) {
	if u.Whole {
		p.seen = 0 // etcd may have been restored from a backup
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
			p.ofJob[t.Job] = append(p.ofJob[t.Job], e)
		}
		if e.trigger.Revision != t.Revision {
			e.since = 0 // another fire has replaced it
		}
		e.trigger = t
		delete(p.pending, t.Job)
		p.arrangeTrigger(e, 0)
	}
	for _, key := range u.Gone {
		p.dropTrigger(key)
	}
}

// pausedUntil reports whether the trigger waits for the end of its job's pause, and returns that end in Unix
// nanoseconds; 0: the pause has none. A pause that has an end is over once the trigger is due.
func (e *triggerEntry) pausedUntil(p *plan) (until int64, paused bool) {
	job, known := p.jobs[e.trigger.Job]
	if !known || !job.terms.Paused || !e.trigger.Cause.WaitsForPause() {
		return 0, false
	}
	until = job.terms.PausedUntil
	return until, until == 0 || until > e.item.due
}

// renewed reports whether the job runs its replicas in another way than the runs after which this one waits: it does
// not wait for the rest of their backoff.
func (e *triggerEntry) renewed(p *plan) bool {
	as := p.runsAs[e.trigger.Job]
	return e.trigger.RunsAs != "" && as != "" && as != e.trigger.RunsAs
}

func (p *plan) arrangeTrigger(e *triggerEntry, notBefore int64) {
	if e.state == sent {
		return
	}
	e.state = idle
	if e.item.due = max(e.trigger.NotBefore.UnixNano(), notBefore); e.renewed(p) {
		e.item.due = notBefore
	}
	if until, paused := e.pausedUntil(p); paused && until == 0 {
		p.triggered.remove(&e.item) // until the job changes
		return
	} else if paused {
		e.item.due = until
	}
	p.triggered.set(&e.item, e.item.due)
}

// settleTrigger applies the result of a trigger's fire.
func (p *plan) settleTrigger(s Settled) {
	key := TriggerKey{s.Fire.Trigger.Job, s.Fire.Trigger.ID}
	e, known := p.triggers[key]
	if !known || e.state != sent {
		return
	}
	e.state = idle
	if s.Gone && s.Fire.Trigger.Revision == e.trigger.Revision {
		p.dropTrigger(key)
		return
	}
	p.arrangeTrigger(e, nanos(s.RetryAt))
}

// release makes the job's postponed fire and its blocked triggers due again: the job has changed, or a run has ended.
func (p *plan) release(job string) {
	if e, known := p.jobs[job]; known {
		p.retryJob(e)
	}
	for _, e := range p.ofJob[job] {
		if e.state == idle {
			p.arrangeTrigger(e, 0)
		}
	}
}

func (p *plan) dropTrigger(key TriggerKey) {
	e, known := p.triggers[key]
	if !known {
		return
	}
	p.triggered.remove(&e.item)
	e.state = idle
	delete(p.triggers, key)
	delete(p.pending, key.Job)
	list := slices.DeleteFunc(p.ofJob[key.Job], func(one *triggerEntry) bool { return one == e })
	if p.ofJob[key.Job] = list; len(list) == 0 {
		delete(p.ofJob, key.Job)
	}
}
