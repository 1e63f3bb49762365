package housekeeping

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// settled is how long ago a run must have ended to be deleted. Until then its outcome may be written again after a
// lost response, and would be stored and counted twice. Callers that wait for the end of a long run also find it this
// long, however old the run is.
const settled = 15 * time.Minute

// expiries returns what to delete of a job's runs: by age and by number. The age of a run counts from its end if that
// is later than its planned time, so that a run of an old date that has ended today is kept as long as one of today.
// exists is false for a job that was deleted.
func expiries(kept runlog.Kept, r common.Retention, exists bool, now time.Time) (all []runlog.Expiry) {
	before := now.Add(-r.Age.Or(common.DefaultRetention))
	e := runlog.Expiry{Job: kept.Job, Newest: exists, Ended: now.Add(-settled)}
	spared := int64(0)
	if exists {
		spared = 1
	}
	if kept.Oldest.Before(before) && kept.Runs > spared {
		byAge := e
		byAge.Before = before
		if before.Before(e.Ended) {
			byAge.Ended = before
		}
		all = append(all, byAge)
	}
	if r.Runs > 0 && kept.Runs > int64(r.Runs) {
		e.Keep = r.Runs
		all = append(all, e)
	}
	return all
}

// bounds returns the limits of age for data other than runs and changes.
func bounds(now time.Time) runlog.Tidy {
	return runlog.Tidy{Now: now, Hours: now.Add(-runlog.HoursKept), Days: now.Add(-runlog.DaysKept)}
}
