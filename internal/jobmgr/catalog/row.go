package catalog

import (
	"encoding/json"
	"math"
	"strings"
	"sync/atomic"
	"time"
	"unique"

	"carillon/internal/common"
)

// row holds the fields of a job that lists filter and sort by. Rows are adjacent, so that a scan of all
// jobs reads memory in order.
type row struct {
	job           *Entry
	search        string // name and title in lower case, with a NUL between them
	group, labels unique.Handle[string]
	updated       int64 // Unix nanoseconds
	next          int64 // Unix nanoseconds of its next fire as last computed; 0: not computed yet. Atomic
	pausedUntil   int64 // Unix nanoseconds; 0: not paused, noFire: paused without an end
	timed         bool  // it has a schedule
}

// noFire is the next fire of a job that has none.
const noFire = math.MaxInt64

// newRow returns the row of a new entry.
func newRow(job *common.JobState, e *Entry) row {
	search := job.Name + "\x00" + strings.ToLower(job.Title)
	e.Name = search[:len(job.Name)] // the same memory
	r := row{
		job:     e,
		search:  search,
		group:   e.group,
		labels:  unique.Make(labelsText(job.Labels)),
		updated: job.UpdatedAt.UnixNano(),
		timed:   job.HasSchedule(),
	}
	switch {
	case job.Paused && job.PauseUntil == nil:
		r.pausedUntil = noFire
	case job.Paused:
		r.pausedUntil = Nanos(*job.PauseUntil)
	}
	return r
}

// Nanos returns a time in Unix nanoseconds. Those end in 2262: a later time never comes.
func Nanos(t time.Time) int64 {
	if t.Unix() >= noFire/int64(time.Second) {
		return noFire
	}
	return t.UnixNano()
}

// labelsText encodes labels so that equal labels have equal texts.
func labelsText(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	text, err := json.Marshal(labels)
	if err != nil {
		return "" // texts can always be encoded
	}
	return string(text)
}

func labelsOf(text string) (labels map[string]string) {
	if text != "" {
		_ = json.Unmarshal([]byte(text), &labels) // labelsText wrote it
	}
	return labels
}

// nextFire returns when the job fires next. A computed time is valid until it has passed.
func (r *row) nextFire(now int64) int64 {
	if r.pausedUntil == noFire || r.job.Timetable.IsZero() {
		return noFire
	}
	if known := atomic.LoadInt64(&r.next); known > now {
		return known
	}
	next := int64(noFire)
	if fire, ok, err := r.job.Timetable.Upcoming(r.job.Cursor, time.Unix(0, max(now, r.pausedUntil))); err == nil &&
		ok {
		next = Nanos(fire)
	}
	atomic.StoreInt64(&r.next, next)
	return next
}

func (r *row) phase(now int64) common.Phase {
	switch {
	case now < r.pausedUntil:
		return common.PhasePaused
	case !r.timed:
		return common.PhaseManual
	case r.nextFire(now) == noFire:
		return common.PhaseDone
	}
	return common.PhaseActive
}
