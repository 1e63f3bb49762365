package check

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// account is the ledger's record of one fire.
type account struct {
	job      *Job
	fire     string
	planned  time.Time
	without  []*Run // entries of a fire that did not run
	attempts []*Run // by number; sorted
	gaps     []*Run
}

func (a *account) last() *Run {
	switch {
	case len(a.attempts) > 0:
		return a.attempts[len(a.attempts)-1]
	case len(a.without) > 0:
		return a.without[0]
	}
	return a.gaps[0]
}

// accounts compares the list of runs with the plan, in both directions.
func (j *judge) accounts() map[string]*account {
	fires := map[string]*account{}
	at := func(job *Job, fire string, planned time.Time) *account {
		a := fires[fire]
		if a == nil {
			a = &account{job: job, fire: fire, planned: planned}
			fires[fire] = a
		}
		return a
	}
	for i := range j.Runs {
		r := &j.Runs[i]
		job := j.jobs[r.JobUID]
		if job == nil {
			if j.names[r.Job] {
				j.broken(Strays, r.Job, r.ID, "is of a job that the plan does not know")
			}
			continue
		}
		if j.runs[r.ID] != nil {
			j.broken(Listing, r.Job, r.ID, "is listed twice")
			continue
		}
		j.runs[r.ID] = r
		if r.Gap != nil {
			for _, planned := range j.passed(job, r) {
				a := at(job, job.FireID(planned), planned)
				a.gaps = append(a.gaps, r)
			}
			continue
		}
		a := at(job, r.Fire, r.PlannedAt)
		if r.Attempt == 0 {
			a.without = append(a.without, r)
		} else {
			a.attempts = append(a.attempts, r)
		}
		if !manual(r.Fire) && job.Daemon == nil && job.Need(r.PlannedAt) == Stray {
			j.broken(Strays, r.Job, r.ID, "%s, for %s, which is no fire of the job", r.Status,
				r.PlannedAt.Format(time.RFC3339Nano))
		}
	}
	j.missing(fires)
	for _, a := range fires {
		j.account(a)
	}
	j.listed(fires)
	return fires
}

// manual reports whether a fire was requested outside the plan.
func manual(fire string) bool {
	_, id, _ := strings.Cut(fire, ".")
	return strings.HasPrefix(id, "t")
}

// passed returns the fires that a gap entry covers, and checks their count.
func (j *judge) passed(job *Job, r *Run) []time.Time {
	var times []time.Time
	var must, may int64
	for i := range job.Spells {
		for _, t := range job.Spells[i].Times() {
			if !t.After(r.Gap.From) || t.After(r.Gap.To) || slices.Contains(times, t) {
				continue
			}
			times = append(times, t)
			may++
			if job.Need(t) == Must {
				must++
			}
		}
	}
	if r.Gap.Count < must || r.Gap.Count > may {
		j.broken(Strays, r.Job, r.ID, "covers %d fires after %s and up to %s, of which there are %d to %d",
			r.Gap.Count, r.Gap.From.Format(time.RFC3339Nano), r.Gap.To.Format(time.RFC3339Nano), must, may)
	}
	return times
}

// missing finds fires without an entry.
func (j *judge) missing(fires map[string]*account) {
	for i := range j.Jobs {
		job := &j.Jobs[i]
		for k := range job.Spells {
			for _, t := range job.Spells[k].Times() {
				if t.After(j.Until) || job.Spells[k].Need(t) != Must {
					continue
				}
				j.report.Planned++
				if fires[job.FireID(t)] == nil {
					j.broken(Silent, job.Name, job.FireID(t), "nothing is said of the fire of %s",
						t.Format(time.RFC3339))
				}
			}
		}
	}
	for i := range j.Journal {
		if e := &j.Journal[i]; e.Kind == Triggered && fires[e.Fire] == nil {
			j.broken(Silent, e.Job, e.Fire, "nothing is said of a fire that was asked for, and accepted")
		}
	}
	for _, c := range j.order {
		if job := j.jobOf(c.Run); job != nil && j.runs[c.Run] == nil && !j.unlisted(c) {
			j.broken(Silent, job.Name, c.Run, "its command was started, and it is not in the list")
		}
	}
}

// account checks the entries of one fire.
func (j *judge) account(a *account) {
	slices.SortFunc(a.attempts, func(x, y *Run) int { return x.Attempt - y.Attempt })
	ways := len(a.without) + len(a.gaps)
	if len(a.attempts) > 0 {
		ways++
	}
	if ways > 1 && !j.passedOver(a) {
		j.broken(Twice, a.job.Name, a.fire, "%s", a)
	}
	if n := len(a.attempts); n > a.job.MostAttempts() || n > 0 && a.attempts[n-1].Attempt != n+j.forgottenAttempts(a) {
		j.broken(Attempts, a.job.Name, a.fire, "%s", a)
	}
	last := a.last()
	if !a.planned.After(j.Until) && open(last.Status) {
		j.broken(Open, a.job.Name, last.ID, "still %s (%s)", last.Status, code(last.Reason))
	}
	for _, r := range a.attempts[:max(0, len(a.attempts)-1)] {
		if open(r.Status) {
			j.broken(Open, a.job.Name, r.ID, "%s, and there is a later attempt", r.Status)
		}
	}
	j.report.ByStatus[last.Status]++
}

func (a *account) String() string {
	var parts []string
	for _, list := range [][]*Run{a.without, a.attempts, a.gaps} {
		for _, r := range list {
			text := fmt.Sprintf("attempt %d %s", r.Attempt, r.Status)
			if r.Gap != nil {
				text = "gap " + r.Status
			}
			if c := code(r.Reason); c != "" {
				text += " (" + c + ")"
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// listed compares the list of fires with that of runs.
func (j *judge) listed(fires map[string]*account) {
	if j.Fires == nil {
		return
	}
	seen := map[string]bool{}
	for i := range j.Fires {
		f := &j.Fires[i]
		if j.jobs[f.JobUID] == nil || f.Status == "planned" {
			continue
		}
		if seen[f.ID] {
			j.broken(Listing, f.Job, f.ID, "the fire is listed twice")
		}
		seen[f.ID] = true
		a := fires[f.ID]
		if f.Gap != nil || a == nil {
			if f.Gap == nil {
				j.broken(Listing, f.Job, f.ID, "the fire is listed as %s, and no run is", f.Status)
			}
			continue
		}
		var ids []string
		for _, r := range a.attempts {
			ids = append(ids, r.ID)
		}
		if f.Status != a.last().Status || len(a.attempts) > 0 && !slices.Equal(ids, f.Attempts) {
			j.broken(Listing, f.Job, f.ID, "the fire is listed as %s with %v, its runs are %s", f.Status, f.Attempts, a)
		}
	}
	for id, a := range fires {
		entry := id
		if len(a.gaps) > 0 {
			entry = a.gaps[0].Fire
		}
		if !seen[entry] {
			j.broken(Listing, a.job.Name, id, "the fire is not listed, its runs are %s", a)
		}
	}
}

// follow checks what followed each run, and whether that was expected.
func (j *judge) follow(fires map[string]*account) {
	for _, a := range fires {
		if a.job.Daemon != nil { // each start of a replica is a fire
			continue
		}
		for i, r := range a.attempts {
			var next *Run
			if i+1 < len(a.attempts) {
				next = a.attempts[i+1]
			}
			wanted := ""
			j.repeated(r, next != nil)
			switch {
			case next != nil && (j.asked(RunAgain, r.ID) != nil || j.asked(FailAccepted, r.ID) != nil):
				wanted = "rerun"
			case r.Status == "lost" && a.job.OnLost == Rerun && r.Attempt < 3:
				wanted = "rerun"
			case (r.Status == "failed" || r.Status == "timed_out") && r.Attempt <= a.job.RetryMax:
				wanted = "retry"
			}
			switch {
			case next != nil && next.Cause != wanted && !j.unfollowed(r):
				j.broken(Follow, a.job.Name, r.ID, "ended as %s, and was followed by a %s", r.Status, next.Cause)
			case next == nil && wanted != "" && !a.job.Deleted && !j.unwanted(a.job, r) && !j.unfollowed(r):
				j.broken(Follow, a.job.Name, r.ID, "ended as %s, and no %s followed", r.Status, wanted)
			}
		}
	}
}

// unwanted reports whether there was a kill request for the run, or maybe for the next one.
func (j *judge) unwanted(job *Job, r *Run) bool {
	return job.Overlap == Replace || slices.ContainsFunc(j.Journal, func(e Event) bool { return e.kills(r) })
}

func (e *Event) kills(r *Run) bool {
	return e.Kind == RunKilled && (e.Run == r.ID || e.Run == "" && e.Job == r.Job)
}
