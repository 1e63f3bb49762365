package jobmgr

import (
	"encoding/json"
	"strings"
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
	text      []byte // the stored job as JSON

	version, created int64
	cursor           time.Time
	pauseUntil       *time.Time
	jitter           time.Duration
	retention        *common.Retention
	needs            []string
	timetable        schedule.Schedule // zero where the job has none, or none that can be read
	paused           bool
	told             bool // somebody is told of it
}

func newEntry(job *common.JobState, timetable schedule.Schedule) (*entry, error) {
	text, err := json.Marshal(&job.StoredJob)
	if err != nil {
		return nil, err
	}
	return &entry{name: job.Name, uid: strings.Clone(job.UID), group: unique.Make(job.Group),
		text: text, version: job.Version, created: job.Created, cursor: job.Cursor,
		paused: job.Paused, pauseUntil: job.PauseUntil, jitter: job.Jitter.Or(0), retention: job.Retention, needs: job.MustHave(),
		told:      job.Notify != nil && len(job.Notify.To) > 0,
		timetable: timetable}, nil
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
