package jobmgr

import (
	"encoding/json"
	"strings"
	"time"
	"unique"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

// entry is a job as a catalog keeps it: the fields for look-ups and planning, and the rest as text, since a
// catalog may hold a hundred thousand jobs. It is immutable; its cursor is the one of when the job was saved
// or first received.
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
	timetable        schedule.Schedule // zero if the job has none that can be read
	paused           bool
	notifies         bool // it has notifications
}

func newEntry(job *common.JobState, timetable schedule.Schedule) (*entry, error) {
	text, err := json.Marshal(&job.StoredJob)
	if err != nil {
		return nil, err
	}
	return &entry{name: job.Name, uid: strings.Clone(job.UID), group: unique.Make(job.Group),
		text: text, version: job.Version, created: job.Created, cursor: job.Cursor,
		paused: job.Paused, pauseUntil: job.PauseUntil, jitter: job.Jitter.Or(0), retention: job.Retention,
		needs:     job.MustHave(),
		notifies:  job.Notify != nil && len(job.Notify.To) > 0,
		timetable: timetable}, nil
}

// state returns the job as it was received.
func (e *entry) state() common.JobState {
	s := common.JobState{Version: e.version, Created: e.created, Cursor: e.cursor}
	_ = json.Unmarshal(e.text, &s.StoredJob) // newEntry wrote it
	return s
}

// plan returns what planning needs of the job: its identity, cursor, pause, jitter and retention.
func (e *entry) plan() *common.JobState {
	s := &common.JobState{Version: e.version, Created: e.created, Cursor: e.cursor}
	s.Name, s.UID, s.Group, s.Paused, s.PauseUntil, s.Retention = e.name, e.uid, e.group.Value(), e.paused,
		e.pauseUntil, e.retention
	if e.jitter > 0 {
		s.Jitter = common.Duration(e.jitter.String())
	}
	return s
}

// delay returns the jitter of a fire.
func (e *entry) delay(at time.Time) time.Duration {
	terms := common.Terms{Jitter: e.jitter}
	return terms.Delay(e.uid, at)
}

func (e *entry) pausedAt(now time.Time) bool {
	return e.paused && (e.pauseUntil == nil || now.Before(*e.pauseUntil))
}
