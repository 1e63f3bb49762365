package check

import (
	"fmt"
	"slices"
	"time"
)

// measure collects the times that are goals rather than guarantees.
func (j *judge) measure(fires map[string]*account) {
	for _, a := range fires {
		for i, r := range a.attempts {
			c := j.commands[r.ID]
			if c == nil || c.What != Start {
				continue
			}
			if r.Attempt == 1 && r.Cause == "cron" && (a.job.Overlap == Skip || a.job.Overlap == Allow) {
				j.lateness = append(j.lateness, time.Unix(0, c.B).Sub(r.PlannedAt))
			}
			if i > 0 && r.Cause == "rerun" {
				j.rerun(a, a.attempts[i-1], c)
			}
		}
	}
	slices.Sort(j.report.Late)
}

// rerun measures the time until the next attempt of a lost run.
func (j *judge) rerun(a *account, before *Run, next *command) {
	c := j.commands[before.ID]
	if c == nil {
		return
	}
	t := j.excuse(a.job, c)
	if t == nil || t.kind == WorkerEnded {
		return
	}
	late := func(what string, took, limit time.Duration) {
		if took > limit {
			j.report.Late = append(j.report.Late, fmt.Sprintf("%s: %s after %v, and not %v", next.Run, what,
				took.Round(time.Millisecond), limit))
		}
	}
	for i := range j.Journal {
		e := &j.Journal[i]
		if e.Kind == WorkerStarted && e.Worker == c.Worker && e.At >= t.from && e.At <= next.At {
			took := next.At.Sub(e.At)
			j.returns = append(j.returns, took)
			late("its worker had come back, and it was run again", took, j.Return)
			return
		}
	}
	took := next.At.Sub(t.from)
	j.reruns = append(j.reruns, took)
	late("it was run again", took, j.TTL+lostAfter(a.job)+j.Rerun)
}
