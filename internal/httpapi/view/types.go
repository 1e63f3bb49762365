package view

import (
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
)

// The types of this file are those of package common with texts for the OpenAPI document in their
// tags. Go converts one into the other only if their fields agree, so an added field that is not
// described here does not compile.

// Definition is what a job's author defines.
type Definition struct {
	Name             string               `json:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the job, without '..'." example:"nightly-report"`
	Title            string               `json:"title,omitempty" maxLength:"200" doc:"Display name, in any language." example:"每晚报表"`
	Group            string               `json:"group,omitempty" pattern:"^([a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?)?$" doc:"The group that the job belongs to." example:"reports"`
	Labels           map[string]string    `json:"labels,omitempty" doc:"Labels for selectors, at most 32."`
	Description      string               `json:"description,omitempty"`
	CronExpr         string               `json:"cronExpr,omitempty" maxLength:"256" doc:"The schedule: 5 fields, 7 with seconds and years, or an alias such as @daily. Without it the job runs only when triggered." example:"30 2 * * MON-FRI"`
	Timezone         string               `json:"timezone,omitempty" doc:"IANA time zone of the schedule. Filled in when the job is saved." example:"Asia/Shanghai"`
	DST              *common.DST          `json:"dst,omitempty"`
	Command          string               `json:"command,omitempty" doc:"Command line for the shell. Either command or args is required." example:"make report"`
	Args             []string             `json:"args,omitempty" nullable:"false" doc:"A program and its arguments, run without a shell."`
	Stdin            string               `json:"stdin,omitempty" doc:"Standard input of the command."`
	Shell            string               `json:"shell,omitempty" doc:"Absolute path of the shell. Default: /bin/sh."`
	Env              map[string]string    `json:"env,omitempty" doc:"Environment variables, at most 128. The worker replaces a value such as secret:db-password by the secret of that name when a run starts."`
	WorkDir          string               `json:"workDir,omitempty" doc:"Absolute path of the working directory."`
	User             string               `json:"user,omitempty" doc:"The user to run as. The worker refuses the run if it does not allow this user."`
	Timeout          common.Duration      `json:"timeout,omitempty" doc:"The run is ended after this time. Default: none." example:"1h"`
	KillGrace        common.Duration      `json:"killGrace,omitempty" doc:"Time between TERM and KILL. Default: 10s; at most a third of lostAfter." example:"10s"`
	MemoryMax        common.Size          `json:"memoryMax,omitempty" doc:"Memory limit of a run; a run that exceeds it is killed as a whole. Requires a worker with cgroups. Default: no limit." example:"512MiB"`
	TasksMax         int                  `json:"tasksMax,omitempty" minimum:"1" maximum:"65536" doc:"Maximum number of processes and threads of a run. Requires a worker with cgroups. Default: 512 on workers with cgroups, no limit on others."`
	SuccessExitCodes []int                `json:"successExitCodes,omitempty" nullable:"false" doc:"Exit codes that count as success. Default: 0."`
	Overlap          common.Overlap       `json:"overlap,omitempty" enum:"skip,queue,replace,allow" doc:"What a fire does while an earlier run is unresolved. skip: it is recorded as skipped; queue: it waits (one at most); replace: it kills that run; allow: it runs at the same time. Default: skip."`
	Output           *common.OutputPolicy `json:"output,omitempty"`

	StartAt       *time.Time              `json:"startAt,omitempty" doc:"No fire before this time."`
	EndAt         *time.Time              `json:"endAt,omitempty" doc:"No fire after this time."`
	Jitter        common.Duration         `json:"jitter,omitempty" doc:"Upper bound of a delay of each fire, always the same for the same fire." example:"30s"`
	Params        map[string]common.Param `json:"params,omitempty" doc:"Parameters: variables that a trigger may set, by name."`
	StartDeadline common.Duration         `json:"startDeadline,omitempty" doc:"How long after its planned time a fire counts as late; after that, catchUp applies. Default: 5m." example:"5m"`
	CatchUp       *common.CatchUp         `json:"catchUp,omitempty"`
	Retry         *common.Retry           `json:"retry,omitempty"`
	OnLost        common.OnLost           `json:"onLost,omitempty" enum:"rerun,abandon,detach" doc:"What follows when a run is lost with its worker. rerun: the next attempt; abandon: nothing; detach: like abandon, and a worker without connection to etcd lets the run continue. Default: rerun."`
	LostAfter     common.Duration         `json:"lostAfter,omitempty" doc:"How long a worker that cannot reach etcd lets its runs continue, and the minimum time before other workers resolve a run as lost. 20s to 1h; default: 60s." example:"60s"`
	Placement     *common.Placement       `json:"placement,omitempty"`
	Priority      int                     `json:"priority,omitempty" minimum:"1" maximum:"9" doc:"Order in which fires get free slots, 9 first. Default: 5."`
	Slots         int                     `json:"slots,omitempty" minimum:"1" maximum:"1000" doc:"Number of the worker's slots that a run uses. Default: 1."`
	Paused        bool                    `json:"paused,omitempty" doc:"The job's fires are skipped, until pauseUntil if given. Manual runs are possible."`
	PauseNote     string                  `json:"pauseNote,omitempty" maxLength:"500" doc:"Why it is paused."`
	PauseUntil    *time.Time              `json:"pauseUntil,omitempty" doc:"When the job resumes automatically."`
	Notify        *common.Notify          `json:"notify,omitempty"`
	Retention     *common.Retention       `json:"retention,omitempty"`
}

// DST is described in place of common.DST.
type DST struct {
	Gap     string `json:"gap,omitempty" enum:"run,skip" doc:"A fixed local time that does not exist. run: fire at the first instant after the gap; skip: do not fire. Default: run."`
	Overlap string `json:"overlap,omitempty" enum:"first,second,both" doc:"Which occurrence of a fixed local time that exists twice. Default: first."`
}

// OutputPolicy is described in place of common.OutputPolicy.
type OutputPolicy struct {
	Max common.Size `json:"max,omitempty" doc:"How much of a run's output is kept, from its beginning and end. Default: 16MiB." example:"16MiB"`
}

// Param is described in place of common.Param.
type Param struct {
	Default     string `json:"default,omitempty" doc:"Default value."`
	Description string `json:"description,omitempty"`
	Pattern     string `json:"pattern,omitempty" doc:"A regular expression (RE2) that the whole value must match." example:"[a-z0-9-]+"`
}

// CatchUp is described in place of common.CatchUp.
type CatchUp struct {
	Policy common.CatchUpPolicy `json:"policy,omitempty" enum:"none,latest,all" doc:"Which fires past their start deadline are run. Default: latest."`
	Window common.Duration      `json:"window,omitempty" doc:"Maximum age of these fires, by planned time. Default: 1h." example:"1h"`
	Max    int                  `json:"max,omitempty" minimum:"1" maximum:"1000" doc:"Maximum number of these fires; the latest ones are run. Default: 10."`
}

// Retry is described in place of common.Retry.
type Retry struct {
	Max        int             `json:"max,omitempty" minimum:"0" maximum:"20" doc:"Maximum number of retries. Default: 0."`
	Backoff    common.Duration `json:"backoff,omitempty" doc:"Backoff before the first retry; doubled each time. Default: 5s." example:"5s"`
	MaxBackoff common.Duration `json:"maxBackoff,omitempty" doc:"Maximum backoff. Default: 5m." example:"5m"`
	ExitCodes  []int           `json:"exitCodes,omitempty" nullable:"false" doc:"Exit codes that are retried. Default: all failures."`
	Elsewhere  *bool           `json:"elsewhere,omitempty" doc:"Prefer another worker. Default: true."`
}

// Placement is described in place of common.Placement.
type Placement struct {
	Strategy common.Strategy `json:"strategy,omitempty" enum:"hash,least,weight,any" doc:"How eligible workers are ranked. Default: hash."`
	Selector string          `json:"selector,omitempty" maxLength:"1024" doc:"Only workers whose labels match." example:"zone=a,disk!=slow"`
	Workers  []string        `json:"workers,omitempty" nullable:"false" maxItems:"100" doc:"Only these workers, by name or id."`
}

// Notify is described in place of common.Notify.
type Notify struct {
	On []common.Event `json:"on,omitempty" nullable:"false" maxItems:"5" enum:"failed,missed,lost,late,recovered" doc:"Events. failed: the last attempt of a fire failed; missed: a fire did not run; lost: a run was lost with its worker; late: a fire has not started in time, or a run takes much longer than usual; recovered: success after one of these."`
	To []string       `json:"to,omitempty" nullable:"false" maxItems:"20" doc:"Names of the channels to notify."`
}

// Retention is described in place of common.Retention.
type Retention struct {
	Age  common.Duration `json:"age,omitempty" doc:"Runs planned longer ago are deleted with their output; the last run of a job is kept. 1h to 10 years; default: 30d." example:"30d"`
	Runs int             `json:"runs,omitempty" minimum:"1" maximum:"10000000" doc:"Maximum number of runs to keep, the newest ones. Default: no limit."`
}

// Run is described in place of common.Run, with its outlook.
type Run struct {
	RunFields
	Outlook
	Hidden bool `json:"hidden,omitempty" doc:"You have no role in the run's group: params, note and the reason's text are left out, and its output is not accessible."`
}

// Outlook is the estimate for a pending or current run; it is not stored.
type Outlook struct {
	ExpectedEndAt *time.Time `json:"expectedEndAt,omitempty" doc:"Expected end, estimated from the job's last 7 days; in the past if the run takes longer than nearly all of those."`
	Late          bool       `json:"late,omitempty" doc:"The run should have started by now."`
	Slow          bool       `json:"slow,omitempty" doc:"The run takes much longer than usual."`
}

// RunFields are those of common.Run.
type RunFields struct {
	ID              string            `json:"id" doc:"Id of the run."`
	Job             string            `json:"job" doc:"Name of the job."`
	JobUID          string            `json:"jobUid" doc:"Distinguishes the job from earlier jobs of the same name."`
	JobVersion      int64             `json:"jobVersion,omitempty" doc:"Version of the job at the run."`
	Group           string            `json:"group,omitempty"`
	Fire            string            `json:"fire" doc:"Id of the fire; shared by its attempts."`
	PlannedAt       time.Time         `json:"plannedAt"`
	Cause           common.Cause      `json:"cause" enum:"cron,catchup,manual,retry,rerun"`
	Attempt         int               `json:"attempt" doc:"Number of the attempt, from 1; 0 for a fire that did not run."`
	Status          common.Status     `json:"status" enum:"waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed"`
	Reason          *common.Reason    `json:"reason,omitempty"`
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
	Gap             *common.Gap       `json:"gap,omitempty"`
	Delays          *common.Delays    `json:"delays,omitempty" doc:"Time between planned time and start, by phase."`
	Params          map[string]string `json:"params,omitempty" doc:"Parameters set by the trigger."`
	Orphaned        *common.LateEnd   `json:"orphaned,omitempty" doc:"How the run ended on its worker after it had been resolved as lost."`
	DueAt           *time.Time        `json:"dueAt,omitempty" doc:"Due time of a pending run, if later than planned."`
	Ending          *common.Ending    `json:"ending,omitempty" doc:"Kill request of a run that has not ended yet."`
}

// Ending is described in place of common.Ending.
type Ending struct {
	By     string        `json:"by" doc:"Who sent the last request."`
	Note   string        `json:"note,omitempty" doc:"Why."`
	Code   string        `json:"code,omitempty" enum:"replaced" doc:"Reason, if not requested by a user: replaced by the next fire."`
	Signal common.Signal `json:"signal" enum:"TERM,INT,QUIT,HUP,USR1,USR2,KILL" doc:"The first signal."`
	At     time.Time     `json:"at"`
}

// Fault is described in place of common.Fault.
type Fault struct {
	Location string       `json:"location" doc:"Location: such as path.name, query.limit, header.If-Match or body.env.PATH." example:"body.timeout"`
	Code     string       `json:"code" doc:"Stable fault code." example:"duration"`
	Message  string       `json:"message" doc:"The fault, following its location: for example must be a duration."`
	Hint     string       `json:"hint,omitempty" doc:"Advice on correcting it."`
	Value    any          `json:"value,omitempty" doc:"The value sent, shortened and escaped."`
	Data     common.Words `json:"data,omitempty" doc:"Values for translated texts."`
}

// LateEnd is described in place of common.LateEnd.
type LateEnd struct {
	Run         string        `json:"run"`
	Job         string        `json:"job"`
	Status      common.Status `json:"status" enum:"succeeded,failed,timed_out,killed,lost,refused,missed" doc:"Status on its worker."`
	Worker      string        `json:"worker" doc:"Id of the worker."`
	WorkerName  string        `json:"workerName,omitempty"`
	ExitCode    *int          `json:"exitCode,omitempty"`
	Signal      string        `json:"signal,omitempty"`
	StartedAt   *time.Time    `json:"startedAt,omitempty"`
	EndedAt     *time.Time    `json:"endedAt,omitempty"`
	OutputBytes int64         `json:"outputBytes"`
}

// Fire is described in place of common.Fire.
type Fire struct {
	ID        string         `json:"id" doc:"Id of the fire, or of the gap entry."`
	Job       string         `json:"job" doc:"Name of the job."`
	JobUID    string         `json:"jobUid" doc:"Distinguishes the job from earlier jobs of the same name."`
	Group     string         `json:"group,omitempty"`
	PlannedAt time.Time      `json:"plannedAt"`
	DueAt     *time.Time     `json:"dueAt,omitempty" doc:"Due time, if later than planned."`
	Cause     common.Cause   `json:"cause" enum:"cron,catchup,manual,retry,rerun"`
	Status    common.Status  `json:"status" enum:"planned,waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed" doc:"Status of the last attempt; planned: in the future; waiting: due."`
	Reason    *common.Reason `json:"reason,omitempty" doc:"Reason for the status."`
	Attempts  []string       `json:"attempts" nullable:"false" doc:"Ids of its runs, oldest first."`
	Gap       *common.Gap    `json:"gap,omitempty" doc:"The entry represents several fires."`
}

// Delays is described in place of common.Delays.
type Delays struct {
	Plan  common.Duration `json:"plan" doc:"From the planned time until a worker processed the fire." example:"1.2ms"`
	Claim common.Duration `json:"claim" doc:"Until etcd granted the claim." example:"3.4ms"`
	Start common.Duration `json:"start" doc:"Until the command started." example:"2.1ms"`
}

// Reason is described in place of common.Reason.
type Reason struct {
	Code string            `json:"code" doc:"For programs and translations."`
	Data map[string]string `json:"data,omitempty" doc:"Values for translated texts."`
	Text string            `json:"text" doc:"English text."`
}

// Gap is described in place of common.Gap.
type Gap struct {
	From  time.Time `json:"from" doc:"The entry represents all fires after this time"`
	To    time.Time `json:"to" doc:"up to and including this one."`
	Count int64     `json:"count" doc:"Number of fires."`
}

// Condition is described in place of common.Condition.
type Condition struct {
	Code        string            `json:"code" doc:"For programs and translations." enum:"etcd_away,etcd_full,log_store_away,outbox_full,spool_full,disk_full,clock_off,worker_lost,no_workers,watch_stale,loop_stuck,no_elected_master,unreadable,certificate_ends,certificate_unusable,misses_feature,housekeeping_fails,fires_overdue,fire_without_entry,notify_failing,notifications_stuck,notifications_behind,run_as_ignored,changes_full,audit_stuck,audit_unreadable,clock_unproven,cursor_in_future,etcd_went_back,cannot_start,start_hangs,guardian_silent"`
	Who         string            `json:"who,omitempty" doc:"Name of the worker or master that reports it."`
	Text        string            `json:"text" doc:"English text."`
	Data        map[string]string `json:"data,omitempty" doc:"Values for translated texts."`
	From        time.Time         `json:"since" doc:"Begin of the condition."`
	StopsClaims bool              `json:"stopsClaims,omitempty" doc:"The worker claims no runs while the condition lasts."`
}

// NewSchemas returns the registry in which the types above replace those of common.
func NewSchemas() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	alias := func(from, to any) { r.RegisterTypeAlias(reflect.TypeOf(from), reflect.TypeOf(to)) }
	alias(common.DST{}, DST(common.DST{}))
	alias(common.OutputPolicy{}, OutputPolicy(common.OutputPolicy{}))
	alias(common.Param{}, Param(common.Param{}))
	alias(common.CatchUp{}, CatchUp(common.CatchUp{}))
	alias(common.Retry{}, Retry(common.Retry{}))
	alias(common.Placement{}, Placement(common.Placement{}))
	alias(common.Notify{}, Notify(common.Notify{}))
	alias(common.Retention{}, Retention(common.Retention{}))
	alias(common.Run{}, Run{RunFields: RunFields(common.Run{})})
	alias(common.LateEnd{}, LateEnd(common.LateEnd{}))
	alias(common.Ending{}, Ending(common.Ending{}))
	alias(common.Fire{}, Fire(common.Fire{}))
	alias(common.Reason{}, Reason(common.Reason{}))
	alias(common.Condition{}, Condition(common.Condition{}))
	alias(common.Gap{}, Gap(common.Gap{}))
	alias(common.Delays{}, Delays(common.Delays{}))
	alias(common.Fault{}, Fault(common.Fault{}))
	return r
}
