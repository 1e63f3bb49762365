package check

import (
	"slices"
)

// outcomes compares the outcome of each run with the lines of its command.
func (j *judge) outcomes() {
	for i := range j.Runs {
		r := &j.Runs[i]
		job := j.jobs[r.JobUID]
		if job == nil || r.Gap != nil || open(r.Status) || j.runs[r.ID] != r {
			continue
		}
		c := j.commands[r.ID]
		if r.Status == "lost" {
			j.report.Lost++
			if r.Orphaned != nil {
				j.report.Orphaned++
			}
			j.lost(job, r, c)
			continue
		}
		if job.Silent {
			continue
		}
		if c == nil {
			if r.Status == "succeeded" {
				j.broken(Outcome, r.Job, r.ID, "succeeded, and its command never began")
			}
			continue
		}
		j.ended(job, r, c)
	}
}

// lost checks a loss: there must have been an event of the run's worker.
func (j *judge) lost(job *Job, r *Run, c *command) {
	if c == nil { // the time of its claim is known by another clock only
		if !slices.ContainsFunc(j.troubles, func(t trouble) bool { return t.on(r.Worker) }) {
			j.broken(Outcome, r.Job, r.ID, "lost before it began, and nothing happened to worker %s", r.WorkerName)
		}
		return
	}
	if j.excuse(job, c) != nil || j.unfinished(r, c) {
		return
	}
	if c.end != nil {
		j.broken(Outcome, r.Job, r.ID, "lost, though its command ended with %d and nothing happened to worker %s "+
			"until %v later", c.end.A, r.WorkerName, j.Finish)
		return
	}
	j.broken(Outcome, r.Job, r.ID, "lost, and nothing happened to worker %s while it ran", r.WorkerName)
}

// ended checks the outcome of a run whose end was seen.
func (j *judge) ended(job *Job, r *Run, c *command) {
	to := j.settled(c)
	mine := func(e *Event) bool { return e.Worker == "" || e.Worker == c.Worker }
	killed := j.unwanted(job, r) || j.happened(WorkerEnded, c.At, to, mine) || j.replicaEnded(job, r, c)
	switch r.Status {
	case "succeeded", "failed":
		switch {
		case c.end == nil && r.Signal == "":
			j.broken(Outcome, r.Job, r.ID, "%s, and its command was never seen to end", r.Status)
		case c.end == nil && !killed && j.excuse(job, c) == nil &&
			!j.happened(CommandKilled, c.At, to, func(e *Event) bool { return e.Run == r.ID }):
			j.broken(Outcome, r.Job, r.ID, "%s by signal %s, which was not sent", r.Status, r.Signal)
		case c.end == nil && r.Status == "succeeded":
			j.broken(Outcome, r.Job, r.ID, "succeeded, and was ended by signal %s", r.Signal)
		case c.end != nil && (r.ExitCode == nil || int64(*r.ExitCode) != c.end.A):
			j.broken(Outcome, r.Job, r.ID, "%s with %s, and its command ended with %d", r.Status,
				number(r.ExitCode), c.end.A)
		case c.end != nil && (c.end.A == 0) != (r.Status == "succeeded"):
			j.broken(Outcome, r.Job, r.ID, "%s, and its command ended with %d", r.Status, c.end.A)
		}
	case "killed":
		if !killed {
			j.broken(Outcome, r.Job, r.ID, "killed (%s), without a request", code(r.Reason))
		}
	case "timed_out":
		if !job.Timeout {
			j.broken(Outcome, r.Job, r.ID, "timed out, and has no timeout")
		}
	case "skipped": // a retry that was pending in the snapshot, and was claimed after it
		if code(r.Reason) != restored || !j.unlisted(c) {
			j.broken(Outcome, r.Job, r.ID, "skipped (%s), and its command began", code(r.Reason))
		}
		return // it says nothing of what was printed
	default:
		j.broken(Outcome, r.Job, r.ID, "%s (%s), and its command began", r.Status, code(r.Reason))
	}
	if c.end != nil && r.OutputBytes != c.end.C && !j.limited(c) {
		j.broken(Output, r.Job, r.ID, "has printed %d bytes, it says, and its command printed %d",
			r.OutputBytes, c.end.C)
	}
}

// limited reports whether there was no room for output while a command ran.
func (j *judge) limited(c *command) bool {
	return j.happened(OutputLimited, c.At, c.last, func(e *Event) bool {
		return e.Worker == "" || e.Worker == c.Worker
	})
}
