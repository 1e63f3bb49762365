package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// Subject is what a notification is about: an event of a job, or one of the constants below.
type Subject string

// Subjects besides the events of jobs.
const (
	SubjectTest       Subject = "test" // test of a channel
	SubjectApproval           = Subject(common.EventApproval)
	SubjectPaused             = Subject(common.EventPaused)
	SubjectOutput             = Subject(common.EventOutput)
	SubjectStepFailed         = Subject(common.EventStepFailed)
	SubjectSkipped            = Subject(common.EventSkipped)
	SubjectRaised     Subject = "escalated" // the trouble of a job lasts
	SubjectSummary    Subject = "summary"   // more jobs in trouble than are notified individually
	// SubjectRecovered is a summary of jobs that have recovered.
	SubjectRecovered Subject = "summary_recovered"
	// SubjectPrinted is a summary of jobs whose runs have printed something.
	SubjectPrinted Subject = "summary_output"
)

// SubjectDigest is a summary of what waited for the end of quiet hours.
const SubjectDigest Subject = "digest"

// Status is the state of a delivery.
type Status string

// The statuses of a delivery.
const (
	Waiting Status = "waiting" // to be sent or retried
	Sent    Status = "sent"
	Failed  Status = "failed"
)

// Codes of the reason why a delivery failed or is pending.
const (
	CodeUnknown  = "channel_unknown"  // channel not found
	CodeDisabled = "channel_disabled" // channel disabled
	CodeSealed   = "channel_sealed"   // this master cannot decrypt its secret
	CodeKind     = "kind_unavailable" // this master has no sender for the kind
	CodeRefused  = "refused"          // rejected for good, or forbidden address
	CodeGone     = "gone"             // the receiver answered 410 Gone
	CodeGaveUp   = "gave_up"          // retried for a day
	CodeTrouble  = "trouble"          // the last try failed
)

// Bounds of notifications.
const (
	MaxWaiting    = 2000               // above it, each channel may have only a few pending ones
	MaxKept       = 2000               // completed ones
	KeptFor       = 7 * 24 * time.Hour // retention of completed ones
	maxBehind     = 200                // pending for one channel; above it, events go into a summary
	alwaysWaiting = 20                 // pending for one channel that are always allowed
	maxTail       = 2 << 10            // bytes of output
	maxMailTail   = 32 << 10           // bytes of output in a mail of it
	maxText       = 2000               // bytes of a reason or an error
	maxNamed      = 20                 // jobs named in a summary
)

// Notice is a delivery: one notification to one channel. It is the value of
// /cron/notices/waiting/<id>, and of /cron/notices/done/<id> once it is completed.
type Notice struct {
	ID        string    `json:"id"` // begins with its time, for sorting
	Channel   string    `json:"channel"`
	Kind      Kind      `json:"kind,omitempty"` // of the channel, after the first try
	Subject   Subject   `json:"subject"`
	Status    Status    `json:"status"`
	Code      string    `json:"code,omitempty"`
	Error     string    `json:"error,omitempty"` // of the last try
	Answer    int       `json:"answer,omitempty"`
	Attempts  int       `json:"attempts"`
	CreatedAt time.Time `json:"createdAt"`
	RetriedAt time.Time `json:"retriedAt,omitzero"` // when a user last requested to send it again
	TriedAt   time.Time `json:"triedAt,omitzero"`   // first
	NextAt    time.Time `json:"nextAt,omitzero"`
	DoneAt    time.Time `json:"doneAt,omitzero"`
	Reached   []string  `json:"reached,omitempty"` // addresses that have received it
	Data      Data      `json:"data"`

	Version int64 `json:"-"` // the etcd revision of its last change
}

// Data describes the event.
type Data struct {
	Event     Subject        `json:"event"`
	Job       string         `json:"job,omitempty"`
	Group     string         `json:"group,omitempty"`
	Title     string         `json:"title,omitempty"`
	Backfill  bool           `json:"backfill,omitempty"` // the run is a backfill of the job
	Fire      string         `json:"fire,omitempty"`
	Run       string         `json:"run,omitempty"` // empty without one
	Status    common.Status  `json:"status,omitempty"`
	Cause     common.Cause   `json:"cause,omitempty"`
	Reason    *common.Reason `json:"reason,omitempty"`
	Attempt   int            `json:"attempt,omitempty"`
	Restarts  int            `json:"restarts,omitempty"` // of a replica: short runs in a row
	Worker    string         `json:"worker,omitempty"`   // its name
	PlannedAt *time.Time     `json:"plannedAt,omitempty"`
	StartedAt *time.Time     `json:"startedAt,omitempty"`
	EndedAt   *time.Time     `json:"endedAt,omitempty"`
	ExitCode  *int           `json:"exitCode,omitempty"`
	Signal    string         `json:"signal,omitempty"`
	Count     int64          `json:"count,omitempty"`    // failed fires since FirstAt, including this one
	FirstAt   *time.Time     `json:"firstAt,omitempty"`  // begin of the trouble
	Flapping  bool           `json:"flapping,omitempty"` // the job fails and recovers again and again
	Failures  int64          `json:"failures,omitempty"` // consecutive ones, after which the job was paused
	Skipped   int            `json:"skipped,omitempty"`  // of the last fires
	Fires     int            `json:"fires,omitempty"`    // number of these
	Lasts     string         `json:"lasts,omitempty"`    // after which the trouble was escalated
	Jobs      []string       `json:"jobs,omitempty"`     // of a summary: the first names
	Digest    *Digest        `json:"digest,omitempty"`
	Step      string         `json:"step,omitempty"`    // that waits for an approval, or has failed
	StepRun   string         `json:"stepRun,omitempty"` // run of the step that has failed; run is the flow run
	Text      string         `json:"text,omitempty"`    // its question
	Since     *time.Time     `json:"since,omitempty"`   // when it began to wait
	Deadline  *time.Time     `json:"deadline,omitempty"`
	URL       string         `json:"url,omitempty"`     // in the console
	Output    string         `json:"output,omitempty"`  // end of the output; not stored
	Printed   int64          `json:"printed,omitempty"` // bytes of output
}

// Digest is the rest of a digest, besides the jobs that are in trouble: jobs by number and first names.
type Digest struct {
	Recovered    int64    `json:"recovered,omitempty"`
	RecoveredJob []string `json:"recoveredJobs,omitempty"`
	Printed      int64    `json:"printed,omitempty"` // jobs whose runs have printed something
	PrintedJob   []string `json:"printedJobs,omitempty"`
}

// Trouble returns the id of the job's trouble, the same from the first failure to the recovery; "" without one.
func (d *Data) Trouble() string {
	if d.Job == "" || d.FirstAt == nil {
		return ""
	}
	return fmt.Sprintf("trouble.%s.%d", d.Job, d.FirstAt.UnixNano())
}

// Whole reports whether the message has all of the output.
func (d *Data) Whole() bool { return int64(len(d.Output)) >= d.Printed }

// NoticeQuery filters a list of notifications. Zero fields do not filter.
type NoticeQuery struct {
	Channel string
	Job     string
	Status  Status
	Before  string // only ids less than this
	Limit   int
}

// Matches reports whether a notification matches the filter, apart from the limit.
func (q *NoticeQuery) Matches(n *Notice) bool {
	return (q.Channel == "" || q.Channel == n.Channel) &&
		(q.Job == "" || q.Job == n.Data.Job || n.Data.names(q.Job)) &&
		(q.Status == "" || q.Status == n.Status) && (q.Before == "" || n.ID < q.Before)
}

// names reports whether a summary names a job.
func (d *Data) names(job string) bool {
	return slices.Contains(d.Jobs, job) || d.Digest != nil && (slices.Contains(d.Digest.RecoveredJob, job) ||
		slices.Contains(d.Digest.PrintedJob, job))
}

// Again returns the notification as it is due now, at the request of a user: a failed one starts over, with all its
// retries; a pending one is tried before its next try. due is false if there is nothing to do, because a try is in
// progress or about to be made.
func (n *Notice) Again(now time.Time) (again Notice, due bool, err error) {
	again = *n
	switch {
	case n.Status == Sent:
		return again, false, common.Errorf(common.CodeConflict, "the notification has been delivered")
	case n.Status == Failed:
		again.Status, again.Attempts, again.TriedAt, again.DoneAt = Waiting, 0, time.Time{}, time.Time{}
	case n.NextAt.Sub(now) <= claimFor: // possibly claimed by a try
		return again, false, nil
	}
	again.NextAt, again.RetriedAt = now, now
	return again, true, nil
}

// since returns when its tries began to count for giving up.
func (n *Notice) since() time.Time {
	if n.RetriedAt.After(n.CreatedAt) {
		return n.RetriedAt
	}
	return n.CreatedAt
}

// Headline returns the subject in one line, with the code and the values of a translation.
func (n *Notice) Headline() common.Reason { return headline(&n.Data) }

// noticeID returns an id derived from its arguments, so that the same decision of two masters has
// the same id.
func noticeID(at time.Time, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return common.TimeKey(at) + "-" + hex.EncodeToString(sum[:8])
}

// dataOf describes a run for its notifications.
func dataOf(job *common.StoredJob, o *Outcome, event common.Event) Data {
	run := &o.Run
	d := Data{
		Event:     Subject(event),
		Job:       job.Name,
		Backfill:  run.Job != job.Name,
		Group:     run.Group,
		Title:     job.Title,
		Fire:      run.Fire,
		Status:    run.Status,
		Cause:     run.Cause,
		Attempt:   run.Attempt,
		Restarts:  run.Restarts,
		Worker:    run.WorkerName,
		PlannedAt: new(run.PlannedAt.UTC()),
		StartedAt: run.StartedAt,
		EndedAt:   run.EndedAt,
		ExitCode:  run.ExitCode,
		Signal:    run.Signal,
		Printed:   run.OutputBytes,
	}
	if run.Attempt > 0 {
		d.Run = run.ID
	}
	if o.Step != nil {
		d.Backfill, d.Group = false, job.Group
		d.Run, d.Step = o.Step.Run, o.Step.Node
		d.Fire = d.Run[:max(0, strings.LastIndexByte(d.Run, '.'))]
		if run.Attempt > 0 && o.Step.Node != "" {
			d.StepRun = run.ID
		}
	}
	if run.Reason != nil {
		d.Reason = &common.Reason{Code: run.Reason.Code, Data: run.Reason.Data, Text: cut(run.Reason.Text, maxText)}
	}
	return d
}

// cut shortens a text to a number of bytes at a character boundary.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
