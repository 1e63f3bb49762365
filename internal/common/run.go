package common

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// Status is the state of a run, or of a fire that did not run.
type Status string

// Statuses. All but waiting and running are terminal.
const (
	StatusWaiting   Status = "waiting"
	StatusRunning   Status = "running"
	StatusSucceeded Status = "succeeded"
	StatusFailed    Status = "failed"
	StatusTimedOut  Status = "timed_out"
	StatusKilled    Status = "killed"
	StatusLost      Status = "lost"
	StatusSkipped   Status = "skipped"
	StatusRefused   Status = "refused"
	StatusMissed    Status = "missed"
)

// StatusPlanned is the status of a future fire, in lists of the ledger only.
const StatusPlanned Status = "planned"

// Statuses lists all statuses, in the order of a run's life.
var Statuses = [...]Status{StatusWaiting, StatusRunning, StatusSucceeded, StatusFailed, StatusTimedOut,
	StatusKilled, StatusLost, StatusSkipped, StatusRefused, StatusMissed}

// Terminal reports whether the status is an outcome.
func (s Status) Terminal() bool { return s != "" && s != StatusWaiting && s != StatusRunning }

// Cause is why a run was requested.
type Cause string

// Causes of runs.
const (
	CauseCron    Cause = "cron"
	CauseCatchUp Cause = "catchup"
	CauseManual  Cause = "manual"
	CauseRetry   Cause = "retry"
	CauseRerun   Cause = "rerun"
)

// Causes lists all causes.
var Causes = [...]Cause{CauseCron, CauseCatchUp, CauseManual, CauseRetry, CauseRerun}

// Reason explains a status: a code for translation, its data, and an English text.
type Reason struct {
	Code string            `json:"code" doc:"For programs and translations."`
	Data map[string]string `json:"data,omitempty" doc:"Values for translated texts."`
	Text string            `json:"text" doc:"English text."`
}

// Starting returns the reason of a due fire that may run.
func Starting() *Reason {
	return &Reason{Code: ReasonStarting, Text: "it is due and is about to be claimed"}
}

// AtLeast returns the reason of a gap whose count is a lower bound.
func (r Reason) AtLeast() Reason {
	r.Data = maps.Clone(r.Data)
	if r.Data == nil {
		r.Data = map[string]string{}
	}
	r.Data["count"] = CountAtLeast
	return r
}

// Run is one execution of a job, or the outcome of a fire that did not run (attempt 0). A gap of fires is one entry
// with Gap set.
type Run struct {
	ID              string            `json:"id" doc:"Id of the run."`
	Job             string            `json:"job" doc:"Name of the job."`
	JobUID          string            `json:"jobUid" doc:"Distinguishes the job from earlier jobs of the same name."`
	JobVersion      int64             `json:"jobVersion,omitempty" doc:"Version of the job at the run."`
	Group           string            `json:"group,omitempty"`
	Fire            string            `json:"fire" doc:"Id of the fire; shared by its attempts."`
	PlannedAt       time.Time         `json:"plannedAt"`
	Cause           Cause             `json:"cause" enum:"cron,catchup,manual,retry,rerun"`
	Attempt         int               `json:"attempt" doc:"Number of the attempt, from 1; 0 for a fire that did not run."`
	After           Status            `json:"after,omitempty" enum:"failed,timed_out,lost" doc:"Outcome of the previous attempt, which this one repeats; absent for a first attempt."`
	Status          Status            `json:"status" enum:"waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed"`
	Reason          *Reason           `json:"reason,omitempty"`
	Worker          string            `json:"worker,omitempty" doc:"Id of the worker."`
	WorkerName      string            `json:"workerName,omitempty"`
	ClaimedAt       *time.Time        `json:"claimedAt,omitempty"`
	StartedAt       *time.Time        `json:"startedAt,omitempty"`
	EndedAt         *time.Time        `json:"endedAt,omitempty"`
	ExitCode        *int              `json:"exitCode,omitempty"`
	Signal          string            `json:"signal,omitempty" doc:"The signal that ended the command."`
	OutputBytes     int64             `json:"outputBytes" doc:"Bytes that the command printed, including those not kept."`
	OutputTruncated bool              `json:"outputTruncated,omitempty" doc:"Bytes in the middle of the output were not kept."`
	CPUSeconds      float64           `json:"cpuSeconds,omitempty"`
	MaxRSSBytes     int64             `json:"maxRssBytes,omitempty"`
	TriggeredBy     string            `json:"triggeredBy,omitempty"`
	Note            string            `json:"note,omitempty"`
	Gap             *Gap              `json:"gap,omitempty"`
	Delays          *Delays           `json:"delays,omitempty" doc:"Time between planned time and start, by phase."`
	Params          map[string]string `json:"params,omitempty" doc:"Parameters set by the trigger."`
	Orphaned        *LateEnd          `json:"orphaned,omitempty" doc:"How the run ended on its worker after it had been resolved as lost."`
	DueAt           *time.Time        `json:"dueAt,omitempty" doc:"Due time of a pending run, if later than planned."`
	Ending          *Ending           `json:"ending,omitempty" doc:"Kill request of a run that has not ended yet."`
}

// Delays are the parts of the time between plan and start, by the worker's clocks.
type Delays struct {
	Plan  Duration `json:"plan" doc:"From the planned time until a worker processed the fire." example:"1.2ms"`
	Claim Duration `json:"claim" doc:"Until etcd granted the claim." example:"3.4ms"`
	Start Duration `json:"start" doc:"Until the command started." example:"2.1ms"`
}

// Gap is the range of all fires after From, up to and including To.
type Gap struct {
	From  time.Time `json:"from" doc:"The entry represents all fires after this time"`
	To    time.Time `json:"to" doc:"up to and including this one."`
	Count int64     `json:"count" doc:"Number of fires."`
}

// Record is the value of /cron/runs/<job>/<run>: the run is unresolved.
type Record struct {
	Run        string        `json:"run"`
	Fire       string        `json:"fire"`
	Job        string        `json:"job"`
	JobUID     string        `json:"jobUid"`
	JobVersion int64         `json:"jobVersion"`
	Group      string        `json:"group,omitempty"`
	PlannedAt  time.Time     `json:"plannedAt"`
	ClaimedAt  time.Time     `json:"claimedAt"`
	Attempt    int           `json:"attempt"`
	After      Status        `json:"after,omitempty"`
	Cause      Cause         `json:"cause"`
	By         string        `json:"by,omitempty"`
	Note       string        `json:"note,omitempty"`
	Owner      Life          `json:"owner"`
	Nonce      string        `json:"nonce"`
	Policy     Policy        `json:"policy"`
	TTL        time.Duration `json:"ttl"`

	Params map[string]string `json:"params,omitempty"`
}

// AsRun returns the run of the record with a status.
func (r *Record) AsRun(s Status) Run {
	claimed := r.ClaimedAt
	return Run{ID: r.Run, Job: r.Job, JobUID: r.JobUID, JobVersion: r.JobVersion, Group: r.Group, Fire: r.Fire,
		PlannedAt: r.PlannedAt, Cause: r.Cause, Attempt: r.Attempt, After: r.After, Status: s, Worker: r.Owner.Worker,
		WorkerName: r.Owner.Name, ClaimedAt: &claimed, TriggeredBy: r.By, Note: r.Note, Params: r.Params}
}

// Trigger is the value of /cron/triggers/<job>/<id>: a fire outside the schedule.
type Trigger struct {
	ID        string    `json:"id"`
	Job       string    `json:"job"`
	JobUID    string    `json:"jobUid"`
	Group     string    `json:"group,omitempty"`
	Fire      string    `json:"fire"`
	PlannedAt time.Time `json:"plannedAt"`
	Attempt   int       `json:"attempt"`
	After     Status    `json:"after,omitempty"` // outcome of the previous attempt
	Cause     Cause     `json:"cause"`
	By        string    `json:"by,omitempty"`
	Note      string    `json:"note,omitempty"`
	NotBefore time.Time `json:"notBefore"`

	Params map[string]string `json:"params,omitempty"`
	Worker string            `json:"worker,omitempty"` // only this worker, by name or id
	Avoid  string            `json:"avoid,omitempty"`  // id of a worker that is ranked last
	// StartBy is the deadline of a planned fire that was returned; zero if the fire has none.
	StartBy time.Time `json:"startBy,omitzero"`
	// Returned counts the failed attempts to start the command for lack of resources.
	Returned int `json:"returned,omitempty"`
}

// QueuedTrigger is the id of the trigger that waits for the end of a run, under the overlap policies queue and replace:
// a job has at most one.
const QueuedTrigger = "queued"

// RunID returns the id of the run that the trigger requests.
func (t *Trigger) RunID() string { return RunID(t.Fire, t.Attempt) }

// AsRun returns the trigger as a waiting run.
func (t *Trigger) AsRun() Run {
	run := Run{ID: t.RunID(), Job: t.Job, JobUID: t.JobUID, Group: t.Group, Fire: t.Fire, PlannedAt: t.PlannedAt,
		Cause: t.Cause, Attempt: t.Attempt, After: t.After, Status: StatusWaiting, TriggeredBy: t.By, Note: t.Note,
		Params: t.Params}
	if t.NotBefore.After(t.PlannedAt) {
		run.DueAt = &t.NotBefore
	}
	return run
}

// Follows returns the outcome of the previous attempt; empty for a first attempt. Older versions did not store
// it: their retries count as those of a failed attempt.
func (r *Run) Follows() Status {
	switch r.Cause {
	case CauseRerun:
		return StatusLost
	case CauseRetry:
		return cmp.Or(r.After, StatusFailed)
	default:
		return ""
	}
}

// Next returns the trigger for the next attempt after a run with an outcome. Its id is the id of the run that it
// requests, so that writing it twice has no effect.
func (r *Record) Next(cause Cause, after Status, notBefore time.Time) Trigger {
	id := RunID(r.Fire, r.Attempt+1)
	return Trigger{
		ID:        id,
		Job:       r.Job,
		JobUID:    r.JobUID,
		Group:     r.Group,
		Fire:      r.Fire,
		PlannedAt: r.PlannedAt,
		Attempt:   r.Attempt + 1,
		After:     after,
		Cause:     cause,
		By:        r.By,
		Note:      r.Note,
		NotBefore: notBefore.UTC(),
		Params:    r.Params,
	}
}

// Again returns the trigger for the same attempt, whose command was never started. asked is the trigger that was
// claimed; nil for a fire of the plan, whose deadline is startBy.
func (r *Record) Again(asked *Trigger, startBy, notBefore time.Time) Trigger {
	again := Trigger{
		ID:        r.Run,
		Job:       r.Job,
		JobUID:    r.JobUID,
		Group:     r.Group,
		Fire:      r.Fire,
		PlannedAt: r.PlannedAt,
		Attempt:   r.Attempt,
		After:     r.After,
		Cause:     r.Cause,
		By:        r.By,
		Note:      r.Note,
		NotBefore: notBefore.UTC(),
		Params:    r.Params,
	}
	if asked == nil {
		again.StartBy = startBy.UTC()
	} else {
		again.Worker, again.Avoid, again.StartBy, again.Returned = asked.Worker, asked.Avoid, asked.StartBy,
			asked.Returned
	}
	return again
}

// Kill is the value of /cron/killer/<worker>/<run>, a kill request.
type Kill struct {
	Run  string `json:"run"`
	By   string `json:"by"`
	Note string `json:"note,omitempty"`
	Code string `json:"code,omitempty"` // code of the reason, unless a user requested it
	// the first signal; TERM if empty or unknown to the worker
	Signal Signal    `json:"signal,omitempty"`
	At     time.Time `json:"at"`
}

// Signal is the first signal with which a run is ended.
type Signal string

// Signals with a special meaning; the command decides what the others mean.
const (
	SignalTerm Signal = "TERM"
	SignalKill Signal = "KILL" // kills at once
)

// Signals lists the signals that may be requested.
var Signals = [...]Signal{SignalTerm, "INT", "QUIT", "HUP", "USR1", "USR2", SignalKill}

// Ending is a kill request of a run that has not ended yet.
type Ending struct {
	By     string    `json:"by" doc:"Who sent the last request."`
	Note   string    `json:"note,omitempty" doc:"Why."`
	Code   string    `json:"code,omitempty" enum:"replaced" doc:"Reason, if not requested by a user: replaced by the next fire."`
	Signal Signal    `json:"signal" enum:"TERM,INT,QUIT,HUP,USR1,USR2,KILL" doc:"The first signal."`
	At     time.Time `json:"at"`
}

// Ending returns the request as it is shown with its run.
func (k *Kill) Ending() *Ending {
	return &Ending{By: k.By, Note: k.Note, Code: k.Code, Signal: cmp.Or(k.Signal, SignalTerm), At: k.At}
}

// PlannedFire returns the id of a fire of the schedule.
func PlannedFire(jobUID string, at time.Time) string { return jobUID + "." + TimeKey(at) }

// TriggeredFire returns the id of a fire that a trigger requested.
func TriggeredFire(jobUID, triggerID string) string { return jobUID + ".t" + triggerID }

// RunID returns the id of an attempt of a fire. All processes that plan a fire compute the same id. Attempt 0 is a fire
// that did not run.
func RunID(fire string, attempt int) string { return fmt.Sprintf("%s.%d", fire, attempt) }

// GapID returns the id of the entry for the fires after the cursor value from.
func GapID(jobUID string, from time.Time) string { return jobUID + ".g" + TimeKey(from) + ".0" }

// Decode decodes a stored value. Unknown fields, which a newer version wrote, are ignored.
func Decode[T any](data []byte) (T, error) {
	var v T
	err := json.Unmarshal(data, &v)
	return v, err
}

// PassedOver returns the ledger's entry for fires without a run: those after the job's cursor, up to and including
// last, which is the only one if count is one.
func PassedOver(job *JobState, last time.Time, count int64, status Status, reason Reason) Run {
	run := Run{
		Job:        job.Name,
		JobUID:     job.UID,
		JobVersion: job.Version,
		Group:      job.Group,
		PlannedAt:  last.UTC(),
		Cause:      CauseCron,
		Status:     status,
		Reason:     &reason,
	}
	if count == 1 {
		run.Fire = PlannedFire(job.UID, last)
		run.ID = RunID(run.Fire, 0)
		return run
	}
	run.ID = GapID(job.UID, job.Cursor)
	run.Fire = run.ID
	run.Gap = &Gap{From: job.Cursor.UTC(), To: last.UTC(), Count: count}
	return run
}
