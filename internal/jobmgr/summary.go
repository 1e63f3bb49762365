package jobmgr

import (
	"time"

	"carillon/internal/common"
)

// Outlook returns the first jobs by name, limit at most, with their next fires, and the number of all jobs.
func (c *Catalog) Outlook(limit int, now time.Time) (jobs []common.JobFigures, all int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	jobs = make([]common.JobFigures, 0, min(limit, len(c.jobs)))
	for s := range c.names.after("") {
		if len(jobs) == limit {
			break
		}
		job := common.JobFigures{Name: s.job.name, UID: s.job.uid}
		if next := s.nextFire(now.UnixNano()); next != noFire {
			job.NextFire = time.Unix(0, next)
		}
		jobs = append(jobs, job)
	}
	return jobs, len(c.jobs)
}
