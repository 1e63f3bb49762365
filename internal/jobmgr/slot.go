package jobmgr

import (
	"encoding/json"
	"math"
	"strings"
	"sync/atomic"
	"time"
	"unique"

	"carillon/internal/common"
)

// slot holds the fields of a job that lists filter and sort by. Slots are adjacent, so that a scan of all
// jobs reads memory in order.
type slot struct {
	job           *entry
	search        string // name and title in lower case, with a NUL between them
	group, labels unique.Handle[string]
	updated       int64 // Unix nanoseconds
	next          int64 // its next fire as last computed, likewise; 0: not computed yet. Atomic
	pausedUntil   int64 // likewise; 0: not paused, noFire: paused without an end
	timed         bool  // it has a schedule
}

// noFire is the next fire of a job that has none.
const noFire = math.MaxInt64

// newSlot returns the slot of a new entry.
func newSlot(job *common.JobState, e *entry) slot {
	search := job.Name + "\x00" + strings.ToLower(job.Title)
	e.name = search[:len(job.Name)] // the same memory
	s := slot{job: e, search: search, group: e.group, labels: unique.Make(labelsText(job.Labels)),
		updated: job.UpdatedAt.UnixNano(), timed: job.CronExpr != ""}
	switch {
	case job.Paused && job.PauseUntil == nil:
		s.pausedUntil = noFire
	case job.Paused:
		s.pausedUntil = nanos(*job.PauseUntil)
	}
	return s
}

// nanos returns a time in Unix nanoseconds. Those end in 2262: a later time never comes.
func nanos(t time.Time) int64 {
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
func (s *slot) nextFire(now int64) int64 {
	if s.pausedUntil == noFire || s.job.timetable.IsZero() {
		return noFire
	}
	if known := atomic.LoadInt64(&s.next); known > now {
		return known
	}
	next := int64(noFire)
	if fire, ok, err := s.job.timetable.Upcoming(s.job.cursor, time.Unix(0, max(now, s.pausedUntil))); err == nil &&
		ok {
		next = nanos(fire)
	}
	atomic.StoreInt64(&s.next, next)
	return next
}

func (s *slot) phase(now int64) common.Phase {
	switch {
	case now < s.pausedUntil:
		return common.PhasePaused
	case !s.timed:
		return common.PhaseManual
	case s.nextFire(now) == noFire:
		return common.PhaseDone
	}
	return common.PhaseActive
}
