package alerts

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// Subject is what a notice is about: an event of a job, or one of those below.
type Subject string

// What is told beside the events of jobs.
const (
	SubjectTest    Subject = "test"    // somebody tries a channel
	SubjectSummary Subject = "summary" // more jobs are in trouble than are told of one by one
	// SubjectRecovered is a summary of those that are so no more.
	SubjectRecovered Subject = "summary_recovered"
)

// Status is how far a notice has come.
type Status string

// The statuses of a notice.
const (
	Waiting Status = "waiting" // to be sent, or to be tried again
	Sent    Status = "sent"
	Failed  Status = "failed"
)

// Codes of why a notice failed, or waits.
const (
	CodeUnknown  = "channel_unknown"  // there is no such channel
	CodeDisabled = "channel_disabled" // it is disabled
	CodeSealed   = "channel_sealed"   // its secret cannot be opened here
	CodeKind     = "kind_unavailable" // this master does not know how, or is not set up for it
	CodeRefused  = "refused"          // the other side will not take it, or we must not go there
	CodeGone     = "gone"             // the other side says for good that it wants no more
	CodeGaveUp   = "gave_up"          // it was tried for a day
	CodeTrouble  = "trouble"          // a try failed
)

// Bounds of notices.
const (
	MaxWaiting    = 2000               // beyond it few may wait for each channel
	MaxKept       = 2000               // that are done with
	KeptFor       = 7 * 24 * time.Hour // and for how long
	maxBehind     = 200                // that wait for a channel; beyond it events are told in a summary
	alwaysWaiting = 20                 // that may wait for a channel whatever waits for others
	maxTail       = 2 << 10            // of output
	maxText       = 2000               // of a reason, a note or an error
	maxNamed      = 20                 // jobs that a summary names
)

// Notice is something to tell on a channel, the value of /cron/notices/waiting/<id>, and of
// /cron/notices/done/<id> once nothing more will be tried.
type Notice struct {
	ID        string    `json:"id"` // begins with its time, so that ids sort by it
	Channel   string    `json:"channel"`
	Kind      Kind      `json:"kind,omitempty"` // of the channel, once tried
	Subject   Subject   `json:"subject"`
	Status    Status    `json:"status"`
	Code      string    `json:"code,omitempty"`
	Error     string    `json:"error,omitempty"` // of the last try
	Answer    int       `json:"answer,omitempty"`
	Attempts  int       `json:"attempts"`
	CreatedAt time.Time `json:"createdAt"`
	TriedAt   time.Time `json:"triedAt,omitzero"` // first
	NextAt    time.Time `json:"nextAt,omitzero"`
	DoneAt    time.Time `json:"doneAt,omitzero"`
	Reached   []string  `json:"reached,omitempty"` // addresses that have it
	Data      Data      `json:"data"`

	Version int64 `json:"-"` // the etcd revision of its last change
}

// Data is what is told of a job.
type Data struct {
	Event     Subject        `json:"event"`
	Job       string         `json:"job,omitempty"`
	Group     string         `json:"group,omitempty"`
	Title     string         `json:"title,omitempty"`
	Fire      string         `json:"fire,omitempty"`
	Run       string         `json:"run,omitempty"` // where there is one
	Status    common.Status  `json:"status,omitempty"`
	Cause     common.Cause   `json:"cause,omitempty"`
	Reason    *common.Reason `json:"reason,omitempty"`
	Attempt   int            `json:"attempt,omitempty"`
	Worker    string         `json:"worker,omitempty"` // its name
	PlannedAt *time.Time     `json:"plannedAt,omitempty"`
	StartedAt *time.Time     `json:"startedAt,omitempty"`
	EndedAt   *time.Time     `json:"endedAt,omitempty"`
	ExitCode  *int           `json:"exitCode,omitempty"`
	Signal    string         `json:"signal,omitempty"`
	Count     int64          `json:"count,omitempty"`   // bad fires since FirstAt, this one among them
	FirstAt   *time.Time     `json:"firstAt,omitempty"` // since when the job is, or was, in trouble
	Jobs      []string       `json:"jobs,omitempty"`    // of a summary, the first of them
	URL       string         `json:"url,omitempty"`     // in the console
	Output    string         `json:"output,omitempty"`  // the end of it; not kept with the notice
	Printed   int64          `json:"printed,omitempty"` // bytes of output
}

// NoticeQuery narrows a list of notices. Zero fields do not.
type NoticeQuery struct {
	Channel string
	Job     string
	Status  Status
	Before  string // only ids before this one
	Limit   int
}

// Matches tells whether a notice belongs to the list, the limit aside.
func (q *NoticeQuery) Matches(n *Notice) bool {
	return (q.Channel == "" || q.Channel == n.Channel) && (q.Job == "" || q.Job == n.Data.Job || slices.Contains(n.Data.Jobs, q.Job)) &&
		(q.Status == "" || q.Status == n.Status) && (q.Before == "" || n.ID < q.Before)
}

// Headline says in a line what it is about.
func (n *Notice) Headline() string { return headline(&n.Data) }

// noticeID names a notice: whoever decides the same names the same one.
func noticeID(at time.Time, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return common.TimeKey(at) + "-" + hex.EncodeToString(sum[:8])
}

// dataOf describes a run for its notices.
func dataOf(job *common.StoredJob, run *common.Run, event common.Event) Data {
	d := Data{Event: Subject(event), Job: run.Job, Group: run.Group, Title: job.Title, Fire: run.Fire, Status: run.Status, Cause: run.Cause,
		Attempt: run.Attempt, Worker: run.WorkerName, PlannedAt: new(run.PlannedAt.UTC()), StartedAt: run.StartedAt, EndedAt: run.EndedAt,
		ExitCode: run.ExitCode, Signal: run.Signal, Printed: run.OutputBytes}
	if run.Attempt > 0 {
		d.Run = run.ID
	}
	if run.Reason != nil {
		d.Reason = &common.Reason{Code: run.Reason.Code, Data: run.Reason.Data, Text: cut(run.Reason.Text, maxText)}
	}
	return d
}

// cut shortens a text without breaking a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
