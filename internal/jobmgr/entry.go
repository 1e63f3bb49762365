package jobmgr

import (
	"encoding/json"
	"math"
	"strings"
	"sync/atomic"
	"time"
	"unique"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

// entry is a job as a catalog keeps it: what jobs are looked for and planned by, and the rest as
// text, since a catalog may hold a hundred thousand. It does not change; its cursor is that of when
// the job was saved, or first seen.
type entry struct {
	name, uid string
	group     unique.Handle[string]
	labels    unique.Handle[string] // as labelsText writes them
	title     string                // in small letters, to be searched
	text      []byte                // the stored job as JSON

	version, created int64
	cursor, updated  time.Time
	pauseUntil       *time.Time
	jitter           time.Duration
	retention        *common.Retention
	needs            []string
	timetable        schedule.Schedule // zero where the job has none, or none that can be read
	paused, timed    bool
	told             bool // somebody is told of it

	next atomic.Int64 // its next fire as nextFire has found it last; 0 before
}

func newEntry(job *common.JobState, timetable schedule.Schedule) (*entry, error) {
	text, err := json.Marshal(&job.StoredJob)
	if err != nil {
		return nil, err
	}
	return &entry{name: strings.Clone(job.Name), uid: strings.Clone(job.UID), group: unique.Make(job.Group), labels: unique.Make(labelsText(job.Labels)),
		title: strings.ToLower(job.Title), text: text, version: job.Version, created: job.Created, cursor: job.Cursor, updated: job.UpdatedAt,
		paused: job.Paused, pauseUntil: job.PauseUntil, jitter: job.Jitter.Or(0), retention: job.Retention, needs: job.MustHave(), timed: job.CronExpr != "",
		told:      job.Notify != nil && len(job.Notify.To) > 0,
		timetable: timetable}, nil
}

// labelsText writes labels so that the same ones have the same text.
func labelsText(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	text, err := json.Marshal(labels)
	if err != nil {
		return "" // texts always can be written
	}
	return string(text)
}

func labelsOf(text string) (labels map[string]string) {
	if text != "" {
		_ = json.Unmarshal([]byte(text), &labels) // labelsText wrote it
	}
	return labels
}

// state is the job as it was taken in.
func (e *entry) state() common.JobState {
	s := common.JobState{Version: e.version, Created: e.created, Cursor: e.cursor}
	_ = json.Unmarshal(e.text, &s.StoredJob) // newEntry wrote it
	return s
}

// plan is of the job what is needed to plan it: who it is, its cursor, pause, jitter and retention.
func (e *entry) plan() *common.JobState {
	s := &common.JobState{Version: e.version, Created: e.created, Cursor: e.cursor}
	s.Name, s.UID, s.Group, s.Paused, s.PauseUntil, s.Retention = e.name, e.uid, e.group.Value(), e.paused, e.pauseUntil, e.retention
	if e.jitter > 0 {
		s.Jitter = common.Duration(e.jitter.String())
	}
	return s
}

// delay is how much later than planned a fire is due.
func (e *entry) delay(at time.Time) time.Duration {
	terms := common.Terms{Jitter: e.jitter}
	return terms.Delay(e.uid, at)
}

func (e *entry) pausedAt(now time.Time) bool {
	return e.paused && (e.pauseUntil == nil || now.Before(*e.pauseUntil))
}

// noFire stands for the next fire of a job that has none.
const noFire = math.MaxInt64

// nextFire is when the job fires next, as Unix nanoseconds. What was found once holds until it
// has passed.
func (e *entry) nextFire(now time.Time) int64 {
	switch {
	case e.timetable.IsZero():
		return noFire
	case e.pausedAt(now) && e.pauseUntil == nil:
		return noFire
	}
	if known := e.next.Load(); known > now.UnixNano() {
		return known
	}
	if e.pausedAt(now) {
		now = *e.pauseUntil
	}
	next := int64(noFire)
	if fire, ok, err := e.timetable.Upcoming(e.cursor, now); err == nil && ok {
		next = fire.UnixNano()
	}
	e.next.Store(next)
	return next
}

func (e *entry) phase(now time.Time) common.Phase {
	switch {
	case e.pausedAt(now):
		return common.PhasePaused
	case !e.timed:
		return common.PhaseManual
	case e.nextFire(now) == noFire:
		return common.PhaseDone
	}
	return common.PhaseActive
}
