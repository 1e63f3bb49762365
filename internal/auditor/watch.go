package auditor

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

// watch is what is known of one job.
type watch struct {
	version int64
	uid     string
	cursor  time.Time // as it was seen last; zero before the first look
	again   time.Time // when to look next; zero: never
	first   time.Time // the first overdue fire, as of the last look; zero where there is none
	due     time.Time // when it was due
	since   time.Time // when that was found
	looks   int       // how many looks have found it
	ahead   bool      // the cursor is further in the future than any clock may have moved it
	seen    uint64    // the round in which the job was seen last
}

// judge looks at the first fire after a cursor. Where it is not overdue, again is when it would be; zero
// where there is none that could be. Fires of a job are taken in order, so the first one tells.
func judge(job *common.JobState, timetable schedule.Schedule, cursor, now time.Time) (first, due, again time.Time) {
	if job.Paused {
		if job.PauseUntil == nil {
			return time.Time{}, time.Time{}, time.Time{}
		}
		if end := job.PauseUntil.Add(-1); end.After(cursor) {
			cursor = end // what was paused is passed over, not run
		}
	}
	// An engine that fails has no fires; the job says so elsewhere.
	at, ok, err := timetable.Next(cursor)
	if err != nil || !ok {
		return time.Time{}, time.Time{}, time.Time{}
	}
	terms := job.Terms()
	due = at.Add(terms.Delay(job.UID, at))
	if again = due.Add(common.OverdueAfter); now.Before(again) {
		return time.Time{}, time.Time{}, again
	}
	return at, due, now
}

// plan takes in what the catalog says of a job, and tells whether its cursor should be looked at.
func (w *watch) plan(job *common.JobState, timetable schedule.Schedule, now time.Time) bool {
	if w.version != job.Version || w.uid != job.UID {
		*w = watch{version: job.Version, uid: job.UID, seen: w.seen}
		if _, _, w.again = judge(job, timetable, job.Cursor, now); common.CursorAhead(job.Cursor, now) {
			w.again = now
		}
	}
	return !w.again.IsZero() && !now.Before(w.again)
}

// look takes in the job's cursor.
func (w *watch) look(job *common.JobState, timetable schedule.Schedule, cursor, now time.Time) {
	first, due, again := judge(job, timetable, cursor, now)
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

// earlier is the earlier of two times.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// overdue tells whether the job is: one look might have come between a fire and its claim, when
// all has just come back.
func (w *watch) overdue() bool { return w.looks >= enoughLooks }

const enoughLooks = 2
