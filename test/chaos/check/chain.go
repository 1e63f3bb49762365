package check

import (
	"slices"
	"strings"
	"time"
)

// left is how much later than the last fire of a job the successes of all its parents must have been planned for one to
// be missing: outcomes of disturbed runs are written later.
const left = 40 * time.Second

// chains checks the jobs that run after others: each of their fires consumes one success of each parent, no success is
// consumed by two fires of a job, and no set of later successes remains at the end.
func (j *judge) chains() {
	for i := range j.Jobs {
		if job := &j.Jobs[i]; len(job.After) > 0 {
			j.chain(job)
		}
	}
}

func (j *judge) chain(job *Job) {
	consumed := map[string]string{} // fire, by the run of a parent
	last := job.Spells[0].fromLate()
	for i := range j.Runs {
		r := &j.Runs[i]
		if r.JobUID != job.UID || r.Cause != "after" {
			continue
		}
		if r.PlannedAt.After(last) {
			last = r.PlannedAt
		}
		var names []string
		for _, p := range r.Parents {
			names = append(names, p.Job)
			if of := j.runs[p.Run]; of == nil || of.Job != p.Job || of.Status != "succeeded" {
				j.broken(Chained, job.Name, r.ID, "fired after run %s of %s, which has not succeeded", p.Run, p.Job)
			}
			if other, known := consumed[p.Run]; known && other != r.Fire {
				j.broken(Chained, job.Name, r.ID, "fired after run %s of %s, as did %s", p.Run, p.Job, other)
			}
			consumed[p.Run] = r.Fire
		}
		if !slices.Equal(names, job.After) {
			j.broken(Chained, job.Name, r.ID, "fired after %s, want all of %s", strings.Join(names, ", "),
				strings.Join(job.After, ", "))
		}
	}
	waiting := job.After
	for i := range j.Runs {
		if r := &j.Runs[i]; r.Status == "succeeded" && r.PlannedAt.After(last.Add(left)) {
			waiting = slices.DeleteFunc(slices.Clone(waiting), func(name string) bool { return name == r.Job })
		}
	}
	if len(waiting) == 0 {
		j.broken(Chained, job.Name, job.UID, "did not fire although all parents have succeeded again, long after %s",
			last.Format(time.RFC3339))
	}
}
