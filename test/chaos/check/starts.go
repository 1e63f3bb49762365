package check

import (
	"slices"
	"time"
)

// starts compares the commands with each other: it does not use the API.
func (j *judge) starts() {
	type latest struct {
		exclusive, any *command
		tokens         map[int64]string
	}
	byName := map[string]*latest{} // by job, or by replica of a daemon job
	for _, c := range j.order {
		job := j.jobOf(c.Run)
		if job == nil {
			if j.names[c.Job] {
				j.broken(Strays, c.Job, c.Run, "a command was started for a job that the plan does not know")
			}
			continue
		}
		if c.starts > 1 {
			j.broken(Doubled, c.Job, c.Run, "started %d times", c.starts)
		}
		if c.starts == 0 {
			j.broken(Strays, c.Job, c.Run, "it wrote %q without having begun", c.What)
		}
		_, fire, attempt := splitRun(c.Run)
		if c.Attempt != attempt {
			j.broken(Attempts, c.Job, c.Run, "its command received attempt %d", c.Attempt)
		}
		if fire == job.FireID(c.Planned) && job.Need(c.Planned) == Stray {
			j.broken(Strays, c.Job, c.Run, "started for %s, which is no fire of the job",
				c.Planned.Format(time.RFC3339))
		}
		holder := c.Job
		if job.Daemon != nil {
			holder += "/" + replicaOf(c.Run)
		}
		l := byName[holder]
		if l == nil {
			l = &latest{tokens: map[int64]string{}}
			byName[holder] = l
		}
		if other, known := l.tokens[c.Fence]; known {
			j.broken(Fence, c.Job, c.Run, "has token %d, as %s", c.Fence, other)
		}
		l.tokens[c.Fence] = c.Run
		if !job.Exclusive() {
			continue
		}
		switch before := l.exclusive; {
		case c.metOther:
			j.broken(Overlaps, c.Job, c.Run, "another command of %s was alive when it started", holder)
		case before != nil && before.last > c.At:
			j.broken(Overlaps, c.Job, c.Run, "started %v before %s was seen for the last time", before.last.Sub(c.At),
				before.Run)
		}
		if before := l.exclusive; before != nil && before.Fence > c.Fence {
			j.broken(Fence, c.Job, c.Run, "has token %d after %s had %d", c.Fence, before.Run, before.Fence)
		}
		// The one that lives longest counts, if there are two.
		if l.exclusive == nil || c.last >= l.exclusive.last {
			l.exclusive = c
		}
	}
}

// survivors finds commands that outlived the kill of their worker.
func (j *judge) survivors() {
	for i := range j.Journal {
		e := &j.Journal[i]
		if e.Kind != WorkerKilled {
			continue
		}
		life := ""
		for _, c := range j.order { // the killed incarnation had started the last command before
			if c.Worker == e.Worker && c.At <= e.At {
				life = c.Life
			}
		}
		for _, c := range j.order {
			if c.Worker != e.Worker || c.At > e.At && c.Life != life || c.last <= e.At {
				continue
			}
			after := c.last.Sub(e.At)
			j.outlived = append(j.outlived, after)
			if after > j.Survive {
				j.broken(Survivor, c.Job, c.Run, "was alive %v after its worker had been killed", after)
			}
		}
	}
}

// lingering finds children that survived the end of their run.
func (j *judge) lingering() {
	for _, c := range j.order {
		job := j.jobOf(c.Run)
		if job == nil || c.end == nil || c.last.Sub(c.end.At) <= j.Linger {
			continue
		}
		if !slices.ContainsFunc(j.troubles, func(t trouble) bool {
			return t.on(c.Worker) && t.from <= c.last && t.to >= c.end.At
		}) {
			j.broken(Survivor, c.Job, c.Run, "had children %v after its command had ended", c.last.Sub(c.end.At))
		}
	}
}
