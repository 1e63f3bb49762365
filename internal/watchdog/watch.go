package watchdog

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/maintenance"
)

// watch is the state of one job.
type watch struct {
	version int64
	uid     string
	cursor  time.Time // last read cursor; zero before the first check
	again   time.Time // time of the next check; zero: never
	first   time.Time // first overdue fire at the last check; zero without one
	due     time.Time // its due time
	since   time.Time // time of the finding
	looks   int       // number of checks that found it
	ahead   bool      // the cursor is further in the future than any clock may have moved it
	seen    uint64    // last round in which the job existed
}

// firstDue evaluates the first fire after a cursor. If it is not overdue, again is the time at which it would be;
// zero if no fire could be. Fires of a job are claimed in order, so the first one decides.
func firstDue(job *common.JobState, timetable schedule.Schedule, windows *maintenance.Set, cursor,
	now time.Time) (first, due, again time.Time) {
	if job.Paused {
		if job.PauseUntil == nil {
			return time.Time{}, time.Time{}, time.Time{}
		}
		if end := job.PauseUntil.Add(-1); end.After(cursor) {
			cursor = end // fires within a pause are skipped
		}
	}
	// A schedule without fires is reported elsewhere.
	at, ok, err := timetable.Next(cursor)
	if err != nil || !ok {
		return time.Time{}, time.Time{}, time.Time{}
	}
	terms := job.Terms()
	due = at.Add(timetable.Delay(&terms, job.UID, at))
	subject := maintenance.Job{Group: job.Group, Labels: maintenance.LabelsOf(job.Labels)}
	if o, within := windows.Open(subject, at); within && o.Holds() {
		due = common.Later(due, o.End)
	}
	if again = due.Add(common.OverdueAfter); now.Before(again) {
		return time.Time{}, time.Time{}, again
	}
	if _, closed := windows.Closed(subject, now); closed {
		return time.Time{}, time.Time{}, now.Add(common.OverdueAfter) // the window may be ended at any time
	}
	return at, due, now
}

// plan updates the watch from the catalog, and reports whether the cursor should be read.
func (w *watch) plan(job *common.JobState, timetable schedule.Schedule, windows *maintenance.Set, now time.Time) bool {
	if w.version != job.Version || w.uid != job.UID {
		*w = watch{version: job.Version, uid: job.UID, seen: w.seen}
		if _, _, w.again = firstDue(job, timetable, windows, job.Cursor, now); common.CursorAhead(job.Cursor, now) {
			w.again = now
		}
	}
	return !w.again.IsZero() && !now.Before(w.again)
}

// update processes the job's cursor.
func (w *watch) update(job *common.JobState, timetable schedule.Schedule, windows *maintenance.Set, cursor,
	now time.Time) {
	first, due, again := firstDue(job, timetable, windows, cursor, now)
	w.cursor, w.again = cursor, again
	if ahead := common.CursorAhead(cursor, now); ahead {
		if !w.ahead {
			w.first, w.due, w.since = now, now, now
			if at, ok, err := timetable.Next(earlier(job.Cursor, now)); err == nil && ok {
				w.first, w.due = at, at
			}
		}
		w.ahead, w.looks, w.again = true, 0, now.Add(common.OverdueAfter)
		return
	}
	w.ahead = false
	switch {
	case first.IsZero():
		w.first, w.looks = first, 0
	case !first.Equal(w.first):
		w.first, w.due, w.since, w.looks = first, due, now, 1
	default:
		w.looks++
	}
}

// earlier returns the earlier of two times.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// overdue reports whether the job is overdue: a single check may fall between a fire and its claim, when the
// cluster has just recovered.
func (w *watch) overdue() bool { return w.looks >= enoughLooks }

const enoughLooks = 2
