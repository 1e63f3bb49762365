package check

import (
	"slices"
)

// Reasons that the product gives after a restore of etcd.
const (
	restored     = "restored"      // of what recovery passes over
	claimedTwice = "claimed_twice" // of a run that its worker does not run, though its record says so
)

// forgot reports whether a span of time that etcd has forgotten satisfies the condition.
func (j *judge) forgot(is func(e *Event) bool) bool {
	return slices.ContainsFunc(j.Journal, func(e Event) bool { return e.Kind == EtcdForgot && is(&e) })
}

// undelivered reports whether the outcome of a command may not have reached the log store when etcd was stopped:
// its outcome was seen to wait, or the command ran until then, or nearly.
func (j *judge) undelivered(c *command, e *Event) bool {
	return slices.ContainsFunc(j.Journal, func(o Event) bool {
		switch o.Kind {
		case Undelivered:
			return o.Run == c.Run && o.At >= e.At && o.At <= e.Until
		case EtcdAway: // its stop
			return o.At >= e.At && o.At <= e.Until && c.last >= o.At.Add(-j.Finish)
		}
		return false
	})
}

// unlisted reports whether the history may be silent about a command: it was started after the snapshot, and its
// outcome had not reached the log store when etcd was stopped.
func (j *judge) unlisted(c *command) bool {
	return j.forgot(func(e *Event) bool { return c.At >= e.At && c.At <= e.Until.Add(j.Finish) && j.undelivered(c, e) })
}

// unfinished reports whether the outcome of a run may be forgotten while its record is not: it was claimed before
// the snapshot and ended after it, and its outcome had not reached the log store when etcd was stopped.
func (j *judge) unfinished(r *Run, c *command) bool {
	return r.Status == "lost" && code(r.Reason) == claimedTwice && j.forgot(func(e *Event) bool {
		return c.At <= e.At.Add(j.Finish) && j.endedIn(c, e) && j.undelivered(c, e)
	})
}

// unfollowed reports whether what was to follow a run may be forgotten: it ended in the span.
func (j *judge) unfollowed(r *Run) bool {
	c := j.commands[r.ID]
	return c != nil && j.forgot(func(e *Event) bool { return j.endedIn(c, e) })
}

// endedIn reports whether the outcome of a command may have been committed during an event.
func (j *judge) endedIn(c *command, e *Event) bool {
	return c.last >= e.At.Add(-j.Finish) && c.last <= e.Until.Add(j.Finish)
}

// passedOver reports whether a fire may have an entry of its own beside what recovery wrote, which is a gap or the end
// of a trigger that was in the snapshot: it was planned before etcd was stopped, and all of its commands were started
// by then.
func (j *judge) passedOver(a *account) bool {
	own, gaps, skipped := len(a.without), 0, 0
	for _, g := range a.gaps {
		if code(g.Reason) == restored {
			gaps++
		} else {
			own++
		}
	}
	for _, r := range a.attempts {
		if r.Status == "skipped" && code(r.Reason) == restored {
			skipped++
		}
	}
	if len(a.attempts) > skipped {
		own++
	}
	return gaps <= 1 && skipped <= 1 && gaps+skipped > 0 && own <= 1 && j.forgot(func(e *Event) bool {
		return !a.planned.After(e.Wall) && !slices.ContainsFunc(a.attempts, func(r *Run) bool {
			c := j.commands[r.ID]
			return c != nil && c.At > e.Until.Add(j.Finish)
		})
	})
}

// forgottenAttempts counts the attempts of a fire that have no entry, and need none.
func (j *judge) forgottenAttempts(a *account) (n int) {
	last := a.attempts[len(a.attempts)-1].Attempt
	for _, c := range j.order {
		_, fire, attempt := splitRun(c.Run)
		if fire == a.fire && attempt < last && j.runs[c.Run] == nil && j.unlisted(c) {
			n++
		}
	}
	return n
}

// restores judges what happened after etcd had been put back to a snapshot: nothing starts before an operator has
// accepted it, and commands without a record end soon.
func (j *judge) restores() {
	for _, c := range j.order {
		if j.happened(EtcdHeld, c.At, c.At, func(*Event) bool { return true }) {
			j.broken(Held, c.Job, c.Run, "started while a restored etcd was not accepted yet")
		}
		job := j.jobOf(c.Run)
		if job == nil || job.OnLost == Detach || j.runs[c.Run] != nil || !j.unlisted(c) {
			continue
		}
		for i := range j.Journal {
			if e := &j.Journal[i]; e.Kind == EtcdHeld && c.At < e.At && c.last > e.At.Add(j.TakeBack) {
				j.broken(Survivor, c.Job, c.Run, "has no record, and was alive %v after the restore", c.last.Sub(e.At))
			}
		}
	}
	for i := range j.Runs {
		if r := &j.Runs[i]; r.Gap != nil && code(r.Reason) == restored && !j.forgot(func(*Event) bool { return true }) {
			j.broken(Strays, r.Job, r.ID, "etcd was not restored")
		}
	}
}
