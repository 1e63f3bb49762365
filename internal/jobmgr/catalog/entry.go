package catalog

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unique"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/maintenance"
)

// Entry is a job as a catalog keeps it: the fields for look-ups and planning, and the rest as text, since a
// catalog may hold a hundred thousand jobs. It is immutable; its cursor is the one of when the job was saved
// or first received.
type Entry struct {
	Name, UID string
	Cursor    time.Time
	Paused    bool
	autoPause bool
	// tellsFailure: the channels that it refers to are notified of a failure.
	tellsFailure bool
	body         int32 // size of the body of a flow
	PauseUntil   *time.Time
	Timetable    schedule.Schedule // zero if the job has none that can be read

	group            unique.Handle[string]
	labels           maintenance.Labels
	text             []byte // the stored job as JSON
	version, created int64
	jitter           time.Duration
	retention        *common.Retention
	needs            []string
	refers           unique.Handle[references]
	daemon           int16 // number of replicas of a daemon job, or AllWorkers; 0: it is none
	slots            int16 // that a run uses; 0: the default
}

// NewEntry returns the entry of a job. A schedule that cannot be read counts as none.
func NewEntry(job *common.JobState, interner *schedule.Interner) (*Entry, error) {
	text, err := json.Marshal(&job.StoredJob)
	if err != nil {
		return nil, err
	}
	timetable, err := interner.OfJob(&job.Job)
	if err != nil {
		timetable = schedule.Schedule{}
	}
	daemon := int16(0)
	if job.Daemon != nil {
		daemon = int16(job.Daemon.Count)
	}
	body := int32(0)
	if job.Flow != nil {
		body = int32(min(job.Flow.Bytes, common.MaxFlowBytes))
	}
	return &Entry{
		Name:         job.Name,
		UID:          strings.Clone(job.UID),
		Cursor:       job.Cursor,
		Paused:       job.Paused,
		autoPause:    job.AutoPause != nil,
		PauseUntil:   job.PauseUntil,
		Timetable:    timetable,
		group:        unique.Make(job.Group),
		labels:       maintenance.LabelsOf(job.Labels),
		text:         text,
		version:      job.Version,
		created:      job.Created,
		jitter:       job.MostJitter(),
		retention:    job.Retention,
		needs:        job.MustHave(),
		refers:       referencesOf(&job.StoredJob),
		tellsFailure: job.Notify.Wants(common.EventFailed),
		body:         body,
		daemon:       daemon,
		slots:        int16(job.Slots),
	}, nil
}

// Group returns the group of the job.
func (e *Entry) Group() string { return e.group.Value() }

// failureTo returns the channels that are notified of a failure.
func (e *Entry) failureTo() []string {
	if !e.tellsFailure {
		return nil
	}
	return strings.Fields(e.refers.Value().channels)
}

// Scope returns what decides whether a maintenance window affects the job.
func (e *Entry) Scope() maintenance.Job {
	return maintenance.Job{Group: e.Group(), Labels: e.labels}
}

// Title returns the title of the job. It reads only the begin of the text, where a title follows the name.
func (e *Entry) Title() string {
	d := json.NewDecoder(bytes.NewReader(e.text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	var field, value string
	for field != "title" {
		name, err := d.Token()
		if field, _ = name.(string); err != nil || field != "name" && field != "title" || d.Decode(&value) != nil {
			return ""
		}
	}
	return value
}

// State returns the job as it was received.
func (e *Entry) State() common.JobState {
	s := common.JobState{Version: e.version, Created: e.created, Cursor: e.Cursor}
	_ = json.Unmarshal(e.text, &s.StoredJob) // NewEntry wrote it
	return s
}

// Plan returns what planning needs of the job: its identity, labels, cursor, pause, jitter and
// retention.
func (e *Entry) Plan() *common.JobState {
	s := &common.JobState{Version: e.version, Created: e.created, Cursor: e.Cursor}
	s.Name, s.UID, s.Group, s.Paused, s.PauseUntil, s.Retention = e.Name, e.UID, e.Group(), e.Paused, e.PauseUntil,
		e.retention
	s.Labels = maintenance.ParseLabels(e.labels)
	if e.jitter > 0 {
		s.Jitter = common.Duration(e.jitter.String())
	}
	return s
}

// Delay returns the jitter of a fire.
func (e *Entry) Delay(at time.Time) time.Duration {
	terms := common.Terms{Jitter: e.jitter}
	return e.Timetable.Delay(&terms, e.UID, at)
}

func (e *Entry) pausedAt(now time.Time) bool {
	return e.Paused && (e.PauseUntil == nil || now.Before(*e.PauseUntil))
}
