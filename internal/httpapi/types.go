package httpapi

import (
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
)

// The types of this file are those of package common with words for the OpenAPI
// document in their tags. Go converts one into the other only while their fields
// agree, so a field that is added below and not described here does not compile.

// Definition is what a job's author defines.
type Definition struct {
	Name             string               `json:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Names the job; without '..'." example:"nightly-report"`
	Title            string               `json:"title,omitempty" maxLength:"200" doc:"A name for people, in any language." example:"每晚报表"`
	Group            string               `json:"group,omitempty" pattern:"^([a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?)?$" doc:"The group that the job belongs to." example:"reports"`
	Labels           map[string]string    `json:"labels,omitempty" doc:"Words to select by, at most 32."`
	Description      string               `json:"description,omitempty"`
	CronExpr         string               `json:"cronExpr,omitempty" maxLength:"256" doc:"The timetable: 5 fields, 7 with seconds and years, or @daily and the like. Without it the job runs only when triggered." example:"30 2 * * MON-FRI"`
	Timezone         string               `json:"timezone,omitempty" doc:"IANA name of the zone of the timetable. Filled in when the job is saved." example:"Asia/Shanghai"`
	DST              *common.DST          `json:"dst,omitempty"`
	Command          string               `json:"command,omitempty" doc:"Run by the shell. Either this or args is needed." example:"make report"`
	Args             []string             `json:"args,omitempty" nullable:"false" doc:"A program and its arguments, run without a shell."`
	Stdin            string               `json:"stdin,omitempty" doc:"What the command reads on standard input."`
	Shell            string               `json:"shell,omitempty" doc:"Absolute path of the shell; /bin/sh where not given."`
	Env              map[string]string    `json:"env,omitempty" doc:"Environment variables, at most 128. The value secret:db-password stands for the secret of that name, which the worker puts in its place when a run starts."`
	WorkDir          string               `json:"workDir,omitempty" doc:"Absolute path of the folder to run in."`
	User             string               `json:"user,omitempty" doc:"The user to run as: a wish, which the worker may refuse."`
	Timeout          common.Duration      `json:"timeout,omitempty" doc:"The run is stopped after this time. None where not given." example:"1h"`
	KillGrace        common.Duration      `json:"killGrace,omitempty" doc:"Time between TERM and KILL; 10s where not given, at most a third of lostAfter." example:"10s"`
	MemoryMax        common.Size          `json:"memoryMax,omitempty" doc:"How much memory a run may use; one that needs more is killed as a whole. Only workers with cgroups run such a job. No limit where not given." example:"512MiB"`
	TasksMax         int                  `json:"tasksMax,omitempty" minimum:"1" maximum:"65536" doc:"How many processes and threads a run may have at a time. Only workers with cgroups run such a job; where not given they take 512, and other workers set no limit."`
	SuccessExitCodes []int                `json:"successExitCodes,omitempty" nullable:"false" doc:"Exit codes that count as success; 0 where not given."`
	Overlap          common.Overlap       `json:"overlap,omitempty" enum:"skip,queue,replace,allow" doc:"What happens to a fire while the earlier run still goes: it is written down as skipped, waits (one at most), kills that run, or runs beside it; skip where not given."`
	Output           *common.OutputPolicy `json:"output,omitempty"`

	StartAt       *time.Time              `json:"startAt,omitempty" doc:"No fire before this time."`
	EndAt         *time.Time              `json:"endAt,omitempty" doc:"No fire after this time."`
	Jitter        common.Duration         `json:"jitter,omitempty" doc:"Each fire is due up to this much later than planned, always the same for the same fire." example:"30s"`
	Params        map[string]common.Param `json:"params,omitempty" doc:"Variables that a trigger may set, by name."`
	StartDeadline common.Duration         `json:"startDeadline,omitempty" doc:"Until so long after its planned time a fire is merely late; 5m where not given." example:"5m"`
	CatchUp       *common.CatchUp         `json:"catchUp,omitempty"`
	Retry         *common.Retry           `json:"retry,omitempty"`
	OnLost        common.OnLost           `json:"onLost,omitempty" enum:"rerun,abandon,detach" doc:"What follows when a run was lost with its worker: the next attempt, or nothing; detach is like abandon, and a worker that is cut off lets the run go on; rerun where not given."`
	LostAfter     common.Duration         `json:"lostAfter,omitempty" doc:"How long a worker that cannot reach etcd lets its runs go on, and at least how long others wait before they take a run for lost; 60s where not given, 20s to 1h." example:"60s"`
	Placement     *common.Placement       `json:"placement,omitempty"`
	Priority      int                     `json:"priority,omitempty" minimum:"1" maximum:"9" doc:"9 first, where slots are scarce; 5 where not given."`
	Slots         int                     `json:"slots,omitempty" minimum:"1" maximum:"1000" doc:"How many of its worker's slots a run takes; 1 where not given."`
	Paused        bool                    `json:"paused,omitempty" doc:"Its fires are skipped, until pauseUntil where that is given; it can be run by hand."`
	PauseNote     string                  `json:"pauseNote,omitempty" maxLength:"500" doc:"Why it is paused."`
	PauseUntil    *time.Time              `json:"pauseUntil,omitempty" doc:"When it goes on by itself."`
	Notify        *common.Notify          `json:"notify,omitempty"`
	Retention     *common.Retention       `json:"retention,omitempty"`
}

// DST is described in place of common.DST.
type DST struct {
	Gap     string `json:"gap,omitempty" enum:"run,skip" doc:"A fixed time that does not exist: run it at the first instant after the gap (the default), or skip it."`
	Overlap string `json:"overlap,omitempty" enum:"first,second,both" doc:"A fixed time that exists twice; first where not given."`
}

// OutputPolicy is described in place of common.OutputPolicy.
type OutputPolicy struct {
	Max common.Size `json:"max,omitempty" doc:"How much of a run's output is kept, head and tail; 16MiB where not given." example:"16MiB"`
}

// Param is described in place of common.Param.
type Param struct {
	Default     string `json:"default,omitempty" doc:"The value where the trigger gives none."`
	Description string `json:"description,omitempty"`
	Pattern     string `json:"pattern,omitempty" doc:"A regular expression (RE2) that the whole value must match." example:"[a-z0-9-]+"`
}

// CatchUp is described in place of common.CatchUp.
type CatchUp struct {
	Policy common.CatchUpPolicy `json:"policy,omitempty" enum:"none,latest,all" doc:"Which of the fires that are past their start deadline still run; latest where not given."`
	Window common.Duration      `json:"window,omitempty" doc:"Only those planned no longer ago than this; 1h where not given." example:"1h"`
	Max    int                  `json:"max,omitempty" minimum:"1" maximum:"1000" doc:"Only so many of them, the last ones; 10 where not given."`
}

// Retry is described in place of common.Retry.
type Retry struct {
	Max        int             `json:"max,omitempty" minimum:"0" maximum:"20" doc:"How often a failed run is tried again; 0 where not given."`
	Backoff    common.Duration `json:"backoff,omitempty" doc:"The pause before the first retry; it doubles each time; 5s where not given." example:"5s"`
	MaxBackoff common.Duration `json:"maxBackoff,omitempty" doc:"The longest pause; 5m where not given." example:"5m"`
	ExitCodes  []int           `json:"exitCodes,omitempty" nullable:"false" doc:"Only these exit codes are tried again; all failures where not given."`
	Elsewhere  *bool           `json:"elsewhere,omitempty" doc:"Prefer another worker; true where not given."`
}

// Placement is described in place of common.Placement.
type Placement struct {
	Strategy common.Strategy `json:"strategy,omitempty" enum:"hash,least,weight,any" doc:"How the workers that may run it are ranked; hash where not given."`
	Selector string          `json:"selector,omitempty" maxLength:"1024" doc:"Only workers whose labels match." example:"zone=a,disk!=slow"`
	Workers  []string        `json:"workers,omitempty" nullable:"false" maxItems:"100" doc:"Only these workers, by name or id."`
}

// Notify is described in place of common.Notify.
type Notify struct {
	On []common.Event `json:"on,omitempty" nullable:"false" maxItems:"5" enum:"failed,missed,lost,late,recovered" doc:"Of what is told: a fire failed for good, was not run at all, was lost with its worker; has not started in time, or runs far longer than usual; succeeded after one of these."`
	To []string       `json:"to,omitempty" nullable:"false" maxItems:"20" doc:"Names of the channels that it is told to."`
}

// Retention is described in place of common.Retention.
type Retention struct {
	Age  common.Duration `json:"age,omitempty" doc:"Runs that were planned longer ago go, with their output; 30d where not given, 1h to 10 years. The last run of a job stays." example:"30d"`
	Runs int             `json:"runs,omitempty" minimum:"1" maximum:"10000000" doc:"Only so many runs of the job are kept, the newest ones; any number where not given."`
}

// Run is described in place of common.Run: it, and what is said of one that goes on.
type Run struct {
	RunFields
	Outlook
	Hidden bool `json:"hidden,omitempty" doc:"You have no role in its group: params, note, and the words of the reason are left out, and its output is not for you."`
}

// Outlook is what is said of a run that waits or runs; it is not stored.
type Outlook struct {
	ExpectedEndAt *time.Time `json:"expectedEndAt,omitempty" doc:"When it should end, going by the job's last 7 days; in the past where it takes longer than nearly all of those."`
	Late          bool       `json:"late,omitempty" doc:"It should have started by now."`
	Slow          bool       `json:"slow,omitempty" doc:"It has been running for far longer than is usual."`
}

// RunFields are those of common.Run.
type RunFields struct {
	ID              string            `json:"id" doc:"Names the run."`
	Job             string            `json:"job" doc:"Name of the job."`
	JobUID          string            `json:"jobUid" doc:"Tells the job from others that had its name."`
	JobVersion      int64             `json:"jobVersion,omitempty" doc:"The version of the job that ran."`
	Group           string            `json:"group,omitempty"`
	Fire            string            `json:"fire" doc:"Names the fire that the run is for; attempts share it."`
	PlannedAt       time.Time         `json:"plannedAt"`
	Cause           common.Cause      `json:"cause" enum:"cron,catchup,manual,retry,rerun"`
	Attempt         int               `json:"attempt" doc:"1 is the first; 0 stands for a fire that did not run."`
	Status          common.Status     `json:"status" enum:"waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed"`
	Reason          *common.Reason    `json:"reason,omitempty"`
	Worker          string            `json:"worker,omitempty" doc:"Id of the worker."`
	WorkerName      string            `json:"workerName,omitempty"`
	ClaimedAt       *time.Time        `json:"claimedAt,omitempty"`
	StartedAt       *time.Time        `json:"startedAt,omitempty"`
	EndedAt         *time.Time        `json:"endedAt,omitempty"`
	ExitCode        *int              `json:"exitCode,omitempty"`
	Signal          string            `json:"signal,omitempty" doc:"The signal that ended the command."`
	OutputBytes     int64             `json:"outputBytes" doc:"All that the command printed, kept or not."`
	OutputTruncated bool              `json:"outputTruncated,omitempty" doc:"The middle of the output was not kept."`
	CPUSeconds      float64           `json:"cpuSeconds,omitempty"`
	MaxRSSBytes     int64             `json:"maxRssBytes,omitempty"`
	TriggeredBy     string            `json:"triggeredBy,omitempty"`
	Note            string            `json:"note,omitempty"`
	Gap             *common.Gap       `json:"gap,omitempty"`
	Delays          *common.Delays    `json:"delays,omitempty" doc:"Where the time between plan and start went."`
	Params          map[string]string `json:"params,omitempty" doc:"Variables that its trigger set."`
	Orphaned        *common.LateEnd   `json:"orphaned,omitempty" doc:"How the run ended on its worker after it had been written down as lost."`
	DueAt           *time.Time        `json:"dueAt,omitempty" doc:"When a waiting run may start, where that is later than planned."`
	Ending          *common.Ending    `json:"ending,omitempty" doc:"Of a run that goes on: its end was asked for, and has not come yet."`
}

// Ending is described in place of common.Ending.
type Ending struct {
	By     string        `json:"by" doc:"Who asked for it last."`
	Note   string        `json:"note,omitempty" doc:"Why."`
	Code   string        `json:"code,omitempty" enum:"replaced" doc:"Of the reason, where nobody asked: the next fire takes its place."`
	Signal common.Signal `json:"signal" enum:"TERM,INT,QUIT,HUP,USR1,USR2,KILL" doc:"With which the end began, or is to begin."`
	At     time.Time     `json:"at"`
}

// LateEnd is described in place of common.LateEnd.
type LateEnd struct {
	Run         string        `json:"run"`
	Job         string        `json:"job"`
	Status      common.Status `json:"status" enum:"succeeded,failed,timed_out,killed,lost,refused,missed" doc:"As its worker saw it."`
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
	ID        string         `json:"id" doc:"Names the fire; of a gap, the entry."`
	Job       string         `json:"job" doc:"Name of the job."`
	JobUID    string         `json:"jobUid" doc:"Tells the job from others that had its name."`
	Group     string         `json:"group,omitempty"`
	PlannedAt time.Time      `json:"plannedAt"`
	DueAt     *time.Time     `json:"dueAt,omitempty" doc:"When it may start, where that is later than planned."`
	Cause     common.Cause   `json:"cause" enum:"cron,catchup,manual,retry,rerun"`
	Status    common.Status  `json:"status" enum:"planned,waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed" doc:"That of its last attempt; planned is in the future, waiting is due."`
	Reason    *common.Reason `json:"reason,omitempty" doc:"Why it waits, or did not run, or ended as it did."`
	Attempts  []string       `json:"attempts" nullable:"false" doc:"Ids of its runs, the oldest first."`
	Gap       *common.Gap    `json:"gap,omitempty" doc:"The entry stands for many fires."`
}

// Delays is described in place of common.Delays.
type Delays struct {
	Plan  common.Duration `json:"plan" doc:"From the planned time until a worker took the fire up." example:"1.2ms"`
	Claim common.Duration `json:"claim" doc:"Until etcd had granted it." example:"3.4ms"`
	Start common.Duration `json:"start" doc:"Until the command was started." example:"2.1ms"`
}

// Reason is described in place of common.Reason.
type Reason struct {
	Code string            `json:"code" doc:"What it is, for programs and for translation."`
	Data map[string]string `json:"data,omitempty" doc:"What the translation needs."`
	Text string            `json:"text" doc:"The same in English."`
}

// Gap is described in place of common.Gap.
type Gap struct {
	From  time.Time `json:"from" doc:"The entry stands for all fires after this time"`
	To    time.Time `json:"to" doc:"up to and including this one."`
	Count int64     `json:"count" doc:"How many they are."`
}

// Condition is described in place of common.Condition.
type Condition struct {
	Code        string            `json:"code" doc:"What it is, for programs and for translation." enum:"etcd_away,etcd_full,log_store_away,outbox_full,spool_full,disk_full,clock_off,worker_lost,no_workers,watch_stale,loop_stuck,no_elected_master,unreadable,certificate_ends,certificate_unusable,misses_feature,housekeeping_fails,fires_overdue,fire_without_entry,notify_failing,notifications_stuck,notifications_behind,run_as_ignored,changes_full,audit_stuck,audit_unreadable,clock_unproven,cursor_in_future,etcd_went_back,cannot_start,start_hangs,guardian_silent"`
	Who         string            `json:"who,omitempty" doc:"The worker or master that tells of it, by its name."`
	Text        string            `json:"text" doc:"The same in English."`
	Data        map[string]string `json:"data,omitempty" doc:"What the translation needs."`
	From        time.Time         `json:"since" doc:"When it began."`
	StopsClaims bool              `json:"stopsClaims,omitempty" doc:"The worker takes no new runs for as long as it lasts."`
}

// newSchemas makes the registry in which the types above stand for those of common.
func newSchemas() huma.Registry {
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

func problemSchema(api huma.API) *huma.Schema {
	return api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")
}

// Page is a page of a list.
type Page[T any] struct {
	Items      []T    `json:"items" nullable:"false"`
	NextCursor string `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last one."`
}

// page makes a page; an empty one has an empty list and not null.
func page[T any](items []T, next string) Page[T] {
	if items == nil {
		items = []T{}
	}
	return Page[T]{Items: items, NextCursor: next}
}

// HistoryPage is a page of what was, and is.
type HistoryPage[T any] struct {
	Items      []T    `json:"items" nullable:"false"`
	NextCursor string `json:"nextCursor,omitempty" doc:"Where the next page begins; absent on the last one."`
	Partial    bool   `json:"partial,omitempty" doc:"The log store is away: of the history only what waits, runs, or has just ended is told."`
}

func historyPage[T any](items []T, next string, partial bool) HistoryPage[T] {
	p := page(items, next)
	return HistoryPage[T]{Items: p.Items, NextCursor: p.NextCursor, Partial: partial}
}
