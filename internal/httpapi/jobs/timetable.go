package jobs

import (
	"time"

	"carillon/internal/common"
)

// nextFire returns the job's next fire; zero if there is none, or if the schedule is unreadable, which
// saving refuses and the job's state shows elsewhere.
func (s *Resource) nextFire(job *common.JobState) time.Time {
	t, err := s.Interner.OfJob(&job.Job)
	if err != nil {
		return time.Time{}
	}
	from := s.Now()
	if job.PausedAt(from) {
		if job.PauseUntil == nil {
			return time.Time{}
		}
		from = *job.PauseUntil
	}
	fire, ok, err := t.Upcoming(job.Cursor, from)
	if err != nil || !ok {
		return time.Time{}
	}
	return fire
}

// firesAfter returns up to n fires of a job, beginning with its next one.
func (s *Resource) firesAfter(job *common.JobState, next time.Time, n int) []time.Time {
	t, err := s.Interner.OfJob(&job.Job)
	if err != nil || next.IsZero() {
		return nil
	}
	fires := []time.Time{next}
	for len(fires) < n {
		fire, ok, err := t.Next(fires[len(fires)-1])
		if err != nil || !ok {
			break
		}
		fires = append(fires, fire)
	}
	return fires
}
