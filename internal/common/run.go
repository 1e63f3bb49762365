package common

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
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

	CauseFlow     Cause = "flow"     // a step of a flow
	CauseBackfill Cause = "backfill" // a past fire
	CauseAfter    Cause = "after"    // its parents have succeeded
	CauseDaemon   Cause = "daemon"   // a replica of a daemon job
)

// Causes lists all causes.
var Causes = [...]Cause{CauseCron, CauseCatchUp, CauseManual, CauseRetry, CauseRerun, CauseFlow, CauseBackfill,
	CauseAfter, CauseDaemon}

// WaitsForPause reports whether triggers of the cause wait while their job is paused. Users request the others
// whatever the pause.
func (c Cause) WaitsForPause() bool {
	return c == CauseFlow || c == CauseAfter || c == CauseDaemon
}

// WaitsForMaintenance reports whether triggers of the cause wait while a maintenance window affects their job. Others
// belong to what has begun, or were requested by users.
func (c Cause) WaitsForMaintenance() bool {
	switch c {
	case CauseCron, CauseCatchUp, CauseRetry, CauseBackfill, CauseAfter:
		return true
	}
	return false
}

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
	Cause           Cause             `json:"cause" enum:"cron,catchup,manual,retry,rerun,flow,backfill,after,daemon"`
	Attempt         int               `json:"attempt" doc:"Number of the attempt, from 1; 0 for a fire that did not run."`
	After           Status            `json:"after,omitempty" enum:"succeeded,failed,timed_out,killed,lost,skipped,refused,missed" doc:"Outcome of the previous attempt, which this one repeats; absent for a first attempt."`
	Status          Status            `json:"status" enum:"waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed"`
	Reason          *Reason           `json:"reason,omitempty"`
	Worker          string            `json:"worker,omitempty" doc:"Id of the worker."`
	WorkerName      string            `json:"workerName,omitempty"`
	ClaimedAt       *time.Time        `json:"claimedAt,omitempty"`
	StartedAt       *time.Time        `json:"startedAt,omitempty" doc:"When the command started. Of a current run: only for a single run, two seconds after its start at the earliest."`
	EndedAt         *time.Time        `json:"endedAt,omitempty"`
	ExitCode        *int              `json:"exitCode,omitempty"`
	Signal          string            `json:"signal,omitempty" doc:"The signal that ended the command."`
	OutputBytes     int64             `json:"outputBytes" doc:"Bytes that the command printed, including those not kept."`
	OutputTruncated bool              `json:"outputTruncated,omitempty" doc:"Bytes in the middle of the output were not kept."`
	CPUSeconds      float64           `json:"cpuSeconds,omitempty" doc:"CPU time of its processes."`
	MaxRSSBytes     int64             `json:"maxRssBytes,omitempty" doc:"Highest resident memory: of one process, or of all together as last sampled, if that is more."`
	ReadBytes       int64             `json:"readBytes,omitempty" doc:"Bytes that its processes read from storage; absent if none, and if they were not measured."`
	WrittenBytes    int64             `json:"writtenBytes,omitempty" doc:"Bytes that its processes wrote to storage; absent if none, and if they were not measured."`
	Leftover        int               `json:"leftover,omitempty" doc:"Number of processes that the command left behind, as in the background; they were ended with it."`
	TriggeredBy     string            `json:"triggeredBy,omitempty"`
	Note            string            `json:"note,omitempty"`
	Gap             *Gap              `json:"gap,omitempty"`
	Delays          *Delays           `json:"delays,omitempty" doc:"Time between planned time and start, by phase."`
	Params          map[string]string `json:"params,omitempty" doc:"Parameters set by the trigger, or by the schedule that planned the fire."`
	Schedule        string            `json:"schedule,omitempty" doc:"Label of the schedule that planned the fire, of a job with several schedules."`
	Outputs         map[string]string `json:"outputs,omitempty" doc:"Values that the run reported, by name; a list has one item per line. Lists of runs leave them out."`
	Orphaned        *LateEnd          `json:"orphaned,omitempty" doc:"How the run ended on its worker after it had been resolved as lost."`
	ReadyAt         *time.Time        `json:"readyAt,omitempty" doc:"When the run was allowed to start, if that was not its planned time: after the backoff of a retry, when a re-run was requested, or at the end of a maintenance window. Its delays count from here."`
	DueAt           *time.Time        `json:"dueAt,omitempty" doc:"Due time of a pending run, if later than planned."`
	Restarts        int               `json:"restarts,omitempty" doc:"Of a replica of a daemon job: number of its consecutive runs, up to this one, that lasted less than healthyAfter."`
	Parents         []ParentRun       `json:"parents,omitempty" nullable:"false" doc:"Of a fire with the cause after, and of its further attempts: the runs of its parents whose successes it consumed, by the names of their jobs."`
	NoAfter         bool              `json:"noAfter,omitempty" doc:"Its success starts no jobs that name the job in after: it was requested with after: false, as an attempt before it may have been."`
	Ending          *Ending           `json:"ending,omitempty" doc:"Kill request of a run that has not ended yet."`
	Forced          *Forced           `json:"forced,omitempty" doc:"Of a flow run: the kill request that ended its clean-up steps, or kept them from starting."`
	Flow            *FlowNode         `json:"flow,omitempty" doc:"The node of a flow run that the run belongs to."`
	Nodes           *NodeCounts       `json:"nodes,omitempty" doc:"Of a flow run: the numbers of its nodes, by how they ended."`
	Digest          string            `json:"digest,omitempty" doc:"Of a flow run: identifies the definition of its steps."`
	Spread          *Spread           `json:"spread,omitempty" doc:"Of a run on several workers: which ones. Lists of runs leave it out."`

	Traceparent string `json:"traceparent,omitempty" doc:"The span that requested the run, as in the header traceparent of the request."`

	// Base holds the nodes that the re-run of a flow run keeps; the API shows them among its nodes.
	Base *Base `json:"base,omitempty" hidden:"true"`
	// Accepted are the failures of nodes that were accepted while the flow run went on; see Base.
	Accepted []Acceptance `json:"accepted,omitempty" hidden:"true"`
	// Backfill is kept by the outcome of a backfill; the API shows it with the backfill.
	Backfill *EndedBackfill `json:"backfill,omitempty" hidden:"true"`
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
	Base       int           `json:"base,omitempty"`
	ReadyAt    *time.Time    `json:"readyAt,omitempty"`
	Restarts   int           `json:"restarts,omitempty"` // of a replica: consecutive short runs before this one
	RunsAs     string        `json:"runsAs,omitempty"`   // of a replica: StoredJob.RunsAs as of the claim
	Cause      Cause         `json:"cause"`
	By         string        `json:"by,omitempty"`
	Note       string        `json:"note,omitempty"`
	NoAfter    bool          `json:"noAfter,omitempty"` // that of the trigger
	Parents    []ParentRun   `json:"parents,omitempty"` // those of the trigger
	Owner      Life          `json:"owner"`
	Nonce      string        `json:"nonce"`
	Policy     Policy        `json:"policy"`
	TTL        time.Duration `json:"ttl"`

	Params   map[string]string `json:"params,omitempty"`
	Schedule string            `json:"schedule,omitempty"` // label of the schedule that planned the fire
	Flow     *FlowNode         `json:"flow,omitempty"`
	// Traceparent is that of the trigger.
	Traceparent string    `json:"traceparent,omitempty"`
	Pool        *PoolHold `json:"pool,omitempty"`  // the slots of a pool that the run has; nil: none
	Retry       *Retry    `json:"retry,omitempty"` // that of the trigger
}

// Step returns the step of the flow run that the run belongs to; empty if it belongs to none.
func (r *Run) Step() string {
	if r.Flow == nil {
		return ""
	}
	step, _, _ := strings.Cut(r.Flow.Node, "@")
	return step
}

// UID returns the uid of the job, or of the flow for an inline step.
func (r *Record) UID() string { return uidOf(r.JobUID, r.Flow) }

// UID returns the uid of the job, or of the flow for an inline step.
func (t *Trigger) UID() string { return uidOf(t.JobUID, t.Flow) }

func uidOf(uid string, of *FlowNode) string {
	if of != nil {
		return of.UID
	}
	return uid
}

// AsRun returns the run of the record with a status.
func (r *Record) AsRun(s Status) Run {
	claimed := r.ClaimedAt
	return Run{ID: r.Run, Job: r.Job, JobUID: r.UID(), JobVersion: r.JobVersion, Group: r.Group, Fire: r.Fire,
		PlannedAt: r.PlannedAt, Cause: r.Cause, Attempt: r.Attempt, After: r.After, Status: s, Worker: r.Owner.Worker,
		WorkerName: r.Owner.Name, ClaimedAt: &claimed, TriggeredBy: r.By, Note: r.Note, Params: r.Params,
		Schedule: r.Schedule, ReadyAt: r.ReadyAt, Flow: r.Flow, Restarts: r.Restarts, Traceparent: r.Traceparent,
		NoAfter: r.NoAfter, Parents: r.Parents}
}

// Ready returns the time from which the delays of the run count.
func (r *Run) Ready() time.Time {
	if r.ReadyAt != nil {
		return *r.ReadyAt
	}
	return r.PlannedAt
}

// Follows returns the outcome of the previous attempt; empty for a first attempt. Older versions did not store
// it: their retries count as those of a failed attempt.
func (r *Run) Follows() Status { return follows(r.Cause, r.After) }

// Follows returns the outcome of the previous attempt, as that of the run does.
func (r *Record) Follows() Status { return follows(r.Cause, r.After) }

func follows(cause Cause, after Status) Status {
	switch cause {
	case CauseRerun:
		return cmp.Or(after, StatusLost)
	case CauseRetry:
		return cmp.Or(after, StatusFailed)
	case CauseBackfill: // its fire may have no attempt before
		return after
	default:
		return ""
	}
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
	Code   string    `json:"code,omitempty" enum:"replaced,timeout,fail_fast,definition_missing,restored" doc:"Reason, if not requested by a user: replaced by the next fire; of a flow run also its timeout, its first failure, a definition that cannot be read, or a restore of etcd."`
	Signal Signal    `json:"signal" enum:"TERM,INT,QUIT,HUP,USR1,USR2,KILL" doc:"The first signal."`
	At     time.Time `json:"at"`
}

// Forced is a kill request that ended the clean-up steps of a flow run.
type Forced struct {
	By   string    `json:"by"`
	Note string    `json:"note,omitempty" doc:"Why."`
	At   time.Time `json:"at,omitzero"`
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
