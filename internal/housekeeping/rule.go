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

// expiry tells which runs of a job go, and whether there may be any such. exists is false
// for a job that was deleted.
func expiry(kept runlog.Kept, r common.Retention, exists bool, now time.Time) (e runlog.Expiry, some bool) {
	e = runlog.Expiry{
		Job:    kept.Job,
		Before: now.Add(-r.Age.Or(common.DefaultRetention)),
		Keep:   r.Runs,
		Newest: exists,
		Ended:  now.Add(-settled),
	}
	spared := int64(0)
	if exists {
		spared = 1
	}
	old := kept.Oldest.Before(e.Before) && kept.Runs > spared
	return e, old || e.Keep > 0 && kept.Runs > int64(e.Keep)
}

// bounds returns the limits of age for data other than runs and changes.
func bounds(now time.Time) runlog.Tidy {
	return runlog.Tidy{Now: now, Hours: now.Add(-runlog.HoursKept), Days: now.Add(-runlog.DaysKept)}
}
