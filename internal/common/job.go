package common

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Defaults of a job. They are not stored with it, so that a job is returned as it was sent; only the time zone is
// filled in when a job is saved.
const (
	DefaultShell     = "/bin/sh"
	DefaultKillGrace = 10 * time.Second
	DefaultLostAfter = 60 * time.Second
	DefaultOutputMax = 16 << 20
	// DefaultTasksMax applies on workers that can limit tasks.
	DefaultTasksMax = 512

	DefaultStartDeadline = 5 * time.Minute
	DefaultWindow        = time.Hour
	DefaultCatchUpMax    = 10
	DefaultBackoff       = 5 * time.Second
	DefaultMaxBackoff    = 5 * time.Minute
	DefaultPriority      = 5
	DefaultSlots         = 1

	// MaxAttempts bounds how often a fire is re-run after its run was lost.
	MaxAttempts = 3
)

// Overlap is the overlap policy: what a fire does while an earlier run of its job is unresolved.
type Overlap string

// Overlap policies.
const (
	OverlapSkip    Overlap = "skip"    // it is recorded as skipped
	OverlapQueue   Overlap = "queue"   // it waits for the end of that run; at most one fire waits
	OverlapReplace Overlap = "replace" // it waits for the end of that run, which is killed
	OverlapAllow   Overlap = "allow"   // it runs as well
)

// Forbids reports whether two runs of the job must not overlap.
func (o Overlap) Forbids() bool { return o != OverlapAllow }

// OnLost is what follows a run that was lost with its worker.
type OnLost string

// Values of OnLost.
const (
	LostRerun   OnLost = "rerun"   // the next attempt
	LostAbandon OnLost = "abandon" // nothing
	// LostDetach is like LostAbandon, and a run continues while its worker has no connection: two runs of the job may
	// then overlap, whatever its overlap policy.
	LostDetach OnLost = "detach"
)

// Job is a job as its author defines it. Its JSON is used by the API, in files and in etcd.
type Job struct {
	Name             string            `json:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the job, without '..'." example:"nightly-report"`
	Title            string            `json:"title,omitempty" maxLength:"200" doc:"Display name, in any language." example:"每晚报表"`
	Group            string            `json:"group,omitempty" pattern:"^([a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?)?$" doc:"The group that the job belongs to. Groups are nested by name with /, as in shop/eu." example:"reports"`
	Labels           map[string]string `json:"labels,omitempty" doc:"Labels for selectors, at most 32."`
	Description      string            `json:"description,omitempty"`
	CronExpr         string            `json:"cronExpr,omitempty" maxLength:"256" doc:"The schedule: 5 fields, 7 with seconds and years, or an alias such as @daily. Without it the job runs only when triggered." example:"30 2 * * MON-FRI"`
	Timezone         string            `json:"timezone,omitempty" doc:"IANA time zone of the schedule. Filled in when the job is saved." example:"Asia/Shanghai"`
	DST              *DST              `json:"dst,omitempty"`
	Schedules        []JobSchedule     `json:"schedules,omitempty" nullable:"false" maxItems:"20" doc:"Several schedules, in place of cronExpr, timezone, dst, startAt, endAt and jitter. When several of them fire at the same time, that is one fire, which belongs to the first of them in the list."`
	Type             string            `json:"type,omitempty" pattern:"^([a-z][a-z0-9-]{0,30})?$" doc:"What a run executes: shell (a command), http (a request), or a plug-in of the workers; see GET /types. Default: shell." example:"http"`
	With             With              `json:"with,omitempty" doc:"Settings of a type other than shell, at most 32 KiB and 8 levels. A text may contain ${NAME}, which is replaced by the value of NAME in params or env; where the type permits it, secret:NAME is replaced by the secret of that name."`
	Command          string            `json:"command,omitempty" doc:"Command line for the shell. Either command or args is required for the type shell." example:"make report"`
	Args             []string          `json:"args,omitempty" nullable:"false" doc:"A program and its arguments, run without a shell."`
	Stdin            string            `json:"stdin,omitempty" doc:"Standard input of the command."`
	Shell            string            `json:"shell,omitempty" doc:"Absolute path of the shell. Default: /bin/sh."`
	Env              map[string]string `json:"env,omitempty" doc:"Environment variables, at most 128. The worker replaces a value such as secret:db-password by the secret of that name when a run starts."`
	WorkDir          string            `json:"workDir,omitempty" doc:"Absolute path of the working directory."`
	User             string            `json:"user,omitempty" doc:"The user to run as. The worker refuses the run if it does not allow this user."`
	Timeout          Duration          `json:"timeout,omitempty" doc:"The run is ended after this time. Default: none; with 0s, the job inherits none." example:"1h"`
	KillGrace        Duration          `json:"killGrace,omitempty" doc:"Time between TERM and KILL. Default: 10s; at most a third of lostAfter." example:"10s"`
	MemoryMax        Size              `json:"memoryMax,omitempty" doc:"Memory limit of a run; a run that exceeds it is killed as a whole. Requires a worker with cgroups. Default: no limit." example:"512MiB"`
	TasksMax         int               `json:"tasksMax,omitempty" minimum:"1" maximum:"65536" doc:"Maximum number of processes and threads of a run. Requires a worker with cgroups. Default: 512 on workers with cgroups, no limit on others."`
	SuccessExitCodes []int             `json:"successExitCodes,omitempty" nullable:"false" doc:"Exit codes that count as success, in addition to 0."`
	Overlap          Overlap           `json:"overlap,omitempty" enum:"skip,queue,replace,allow" doc:"What a fire does while an earlier run is unresolved. skip: it is recorded as skipped; queue: it waits (one at most); replace: it kills that run; allow: it runs at the same time. Default: skip."`
	Output           *OutputPolicy     `json:"output,omitempty"`
	StartAt          *time.Time        `json:"startAt,omitempty" doc:"No fire before this time."`
	EndAt            *time.Time        `json:"endAt,omitempty" doc:"No fire after this time."`
	Jitter           Duration          `json:"jitter,omitempty" doc:"Upper bound of a delay of each fire, always the same for the same fire." example:"30s"`
	Params           Params            `json:"params,omitempty" doc:"Parameters: variables that a trigger may set, by name. Their order is kept."`
	Concurrency      int               `json:"concurrency,omitempty" minimum:"1" maximum:"1000" doc:"Maximum number of nodes of one flow run that run at the same time. Default: 100."`
	FailFast         bool              `json:"failFast,omitempty" doc:"The first failure ends the nodes of the flow run that run, and no further node is started."`
	Steps            []Step            `json:"steps,omitempty" nullable:"false" maxItems:"10000" doc:"The steps of a flow, in any order, in place of a command."`
	Outputs          map[string]Output `json:"outputs,omitempty" doc:"Values that a run reports, by name, at most 32: each a file of that name in the folder CARILLON_OUTPUT, of at most 4 KiB. They are stored with the run."`
	After            []string          `json:"after,omitempty" nullable:"false" maxItems:"20" doc:"Names of jobs, the parents: the job gets a fire when each of them has succeeded since its last such fire." example:"[\"import-stock\"]"`
	RunOn            *RunOn            `json:"runOn,omitempty" doc:"Each fire runs once on each of several workers: all, a number, or an object."`
	ConfirmRun       bool              `json:"confirmRun,omitempty" doc:"The console asks before a manual run. Schedules, scripts and cronctl are not affected."`
	StartDeadline    Duration          `json:"startDeadline,omitempty" doc:"How long after its planned time a fire counts as late; after that, catchUp applies. Default: 5m." example:"5m"`
	CatchUp          *CatchUp          `json:"catchUp,omitempty"`
	Retry            *Retry            `json:"retry,omitempty"`
	OnLost           OnLost            `json:"onLost,omitempty" enum:"rerun,abandon,detach" doc:"What follows when a run is lost with its worker. rerun: the next attempt; abandon: nothing; detach: like abandon, and a worker without connection to etcd lets the run continue. Default: rerun."`
	LostAfter        Duration          `json:"lostAfter,omitempty" doc:"How long a worker that cannot reach etcd lets its runs continue, and the minimum time before other workers resolve a run as lost. 20s to 1h; default: 60s." example:"60s"`
	Placement        *Placement        `json:"placement,omitempty"`
	Priority         int               `json:"priority,omitempty" minimum:"1" maximum:"9" doc:"Order in which fires get free slots, 9 first. Default: 5."`
	Slots            int               `json:"slots,omitempty" minimum:"1" maximum:"1000" doc:"Number of the worker's slots that a run uses. Default: 1."`
	Pool             string            `json:"pool,omitempty" pattern:"^([a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?)?$" doc:"A pool that limits how many runs of all jobs that use it exist at the same time. A fire that finds no free slot waits until startDeadline." example:"reports-db"`
	PoolSlots        int               `json:"poolSlots,omitempty" minimum:"1" maximum:"64" doc:"Number of the pool's slots that a run takes. Default: 1."`
	Paused           bool              `json:"paused,omitempty" doc:"The job's fires are skipped, until pauseUntil if given. Manual runs are possible."`
	PauseNote        string            `json:"pauseNote,omitempty" maxLength:"500" doc:"Why it is paused."`
	PauseUntil       *time.Time        `json:"pauseUntil,omitempty" doc:"When the job resumes automatically."`
	AutoPause        *AutoPause        `json:"autoPause,omitempty"`
	Notify           *Notify           `json:"notify,omitempty"`
	Retention        *Retention        `json:"retention,omitempty"`
	Daemon           *Daemon           `json:"daemon,omitempty" doc:"Keeps replicas of the command running, in place of a schedule."`
}

// Param is a variable that the trigger of a run may set.
type Param struct {
	Default     string `json:"default,omitempty" doc:"Default value."`
	Description string `json:"description,omitempty"`
	Pattern     string `json:"pattern,omitempty" doc:"A regular expression (RE2) that the whole value must match." example:"[a-z0-9-]+"`

	place int // among the parameters of its job; set by Params
}

// MaxSchedules is the maximum number of schedules of a job.
const MaxSchedules = 20

// JobSchedule is one of several schedules of a job.
type JobSchedule struct {
	CronExpr string            `json:"cronExpr" maxLength:"256" doc:"The schedule, as the field cronExpr of a job. @every requires a startAt." example:"30 2 * * MON-FRI"`
	Timezone string            `json:"timezone,omitempty" doc:"IANA time zone of the schedule. Filled in when the job is saved." example:"Asia/Shanghai"`
	DST      *DST              `json:"dst,omitempty"`
	StartAt  *time.Time        `json:"startAt,omitempty" doc:"No fire before this time."`
	EndAt    *time.Time        `json:"endAt,omitempty" doc:"No fire after this time."`
	Jitter   Duration          `json:"jitter,omitempty" doc:"Upper bound of a delay of each fire, always the same for the same fire." example:"30s"`
	Params   map[string]string `json:"params,omitempty" doc:"Values for parameters of the job, in the runs of these fires."`
	Label    string            `json:"label,omitempty" maxLength:"100" doc:"Name of the schedule, shown with its fires." example:"business hours"`
}

// CatchUpPolicy selects the fires past their deadline that still run.
type CatchUpPolicy string

// Catch-up policies.
const (
	CatchUpNone   CatchUpPolicy = "none"
	CatchUpLatest CatchUpPolicy = "latest"
	CatchUpAll    CatchUpPolicy = "all"
)

// CatchUp is the policy with its limits: fires no older than Window, and of these the last Max.
type CatchUp struct {
	Policy CatchUpPolicy `json:"policy,omitempty" enum:"none,latest,all" doc:"Which fires are run that were due in an outage, or are past their start deadline. none: the last one of an outage, if it is not past its deadline. Default: latest."`
	Window Duration      `json:"window,omitempty" doc:"Maximum age of fires past their deadline, by planned time. Default: 1h." example:"1h"`
	Max    int           `json:"max,omitempty" minimum:"1" maximum:"1000" doc:"Maximum number of these fires; the latest ones are run. Default: 10."`
}

// AutoPause pauses the job after a number of consecutive fires without success.
type AutoPause struct {
	Failures int `json:"failures" minimum:"1" maximum:"1000" doc:"The job is paused once this many fires in a row have failed, timed out, been refused, or been lost with their worker, each with its last attempt. Missed and skipped fires do not count; a success resets the count." example:"5"`
}

// FailsTooOften reports whether the job is to be paused after a number of consecutive failures.
func (j *Job) FailsTooOften(failures int64) bool {
	return j.AutoPause != nil && failures >= int64(j.AutoPause.Failures)
}

// Retry makes failed runs be retried: at most Max times, with backoff from Backoff to MaxBackoff, doubled each time,
// for these exit codes (any if empty), and on another worker if there is one (Elsewhere).
type Retry struct {
	Max        int      `json:"max,omitempty" minimum:"0" maximum:"20" doc:"Maximum number of retries. Default: 0."`
	Backoff    Duration `json:"backoff,omitempty" doc:"Backoff before the first retry; doubled each time. Default: 5s." example:"5s"`
	MaxBackoff Duration `json:"maxBackoff,omitempty" doc:"Maximum backoff. Default: 5m." example:"5m"`
	ExitCodes  []int    `json:"exitCodes,omitempty" nullable:"false" doc:"Exit codes that are retried. Default: all failures."`
	Elsewhere  *bool    `json:"elsewhere,omitempty" doc:"Prefer another worker. Default: true."`
}

// Pause returns the backoff after a number of attempts, which doubles with each of them.
func (r *Retry) Pause(attempts int) time.Duration {
	pause, most := r.Backoff.Or(DefaultBackoff), r.MaxBackoff.Or(DefaultMaxBackoff)
	for ; attempts > 1 && pause < most; attempts-- {
		pause *= 2
	}
	return min(pause, most)
}

// Strategy ranks the workers that may run a job.
type Strategy string

// The strategies.
const (
	StrategyHash   Strategy = "hash"   // the same worker for a job, while it is alive
	StrategyLeast  Strategy = "least"  // the one with the fewest runs
	StrategyWeight Strategy = "weight" // like hash, with shares by weight
	StrategyAny    Strategy = "any"    // all at once: the first claim is granted
)

// Placement restricts where a job may run.
type Placement struct {
	Strategy Strategy `json:"strategy,omitempty" enum:"hash,least,weight,any" doc:"How eligible workers are ranked. Default: hash."`
	Selector string   `json:"selector,omitempty" maxLength:"1024" doc:"Only workers whose labels match." example:"zone=a,disk!=slow"`
	Workers  []string `json:"workers,omitempty" nullable:"false" maxItems:"100" doc:"Only these workers, by name or id."`
}

// DST is how fixed-time fires are handled on nights when the clocks change.
type DST struct {
	Gap     string `json:"gap,omitempty" enum:"run,skip" doc:"A fixed local time that does not exist. run: fire at the first instant after the gap; skip: do not fire. Default: run."`
	Overlap string `json:"overlap,omitempty" enum:"first,second,both" doc:"Which occurrence of a local time that exists twice. Default, as cron: both if a field of the time begins with *, otherwise first."`
}

// OutputPolicy bounds the stored output of a run.
type OutputPolicy struct {
	Max Size `json:"max,omitempty" doc:"How much of a run's output is kept, from its beginning and end. Default: 16MiB." example:"16MiB"`
}

// StoredJob is the value of /cron/jobs/<job>: the job and the fields that the master adds.
type StoredJob struct {
	Job
	UID       string    `json:"uid"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
	// Number counts the versions of the job from its creation, which is 1. A version that an older master wrote has
	// none stored: it gets the number of writes of its key when it is read.
	Number int64 `json:"number,omitempty"`
	// Restarted is the last request to replace the runs of a daemon job; nil: none.
	Restarted *Restart `json:"restarted,omitempty"`
	// WasDaemon marks a job that has been a daemon and is none: workers remove its replicas.
	WasDaemon bool `json:"wasDaemon,omitempty"`
	// Needs are the features without which a worker would not run the job as defined: a worker that lacks one is not
	// eligible.
	Needs []string `json:"needs,omitempty"`
	// Flow identifies the stored steps of a flow, which the value in etcd lacks; nil for other jobs.
	Flow *FlowRef `json:"flow,omitempty"`
	// Inherited is what the job has from defaults, nearest first; see Own.
	Inherited []Inheritance `json:"inherited,omitempty"`
}

// IsFlow reports whether the job has steps, wherever they are stored. An older master that replaces the steps by a
// command keeps the field that it does not know.
func (s *StoredJob) IsFlow() bool {
	return s.Job.IsFlow() || s.Flow != nil && s.Command == "" && len(s.Args) == 0 && !s.IsTyped()
}

// JobState is a stored job with its version (the etcd revision of its last change) and its cursor (the last fire that
// is accounted for).
type JobState struct {
	StoredJob
	Version int64
	Created int64 // the etcd revision of its creation
	Cursor  time.Time
}

// CommandBytes returns the size of the command with its arguments and environment.
func (j *Job) CommandBytes() int {
	n := len(j.Command) + len(j.Stdin)
	if data, err := json.Marshal(j.With); err == nil && j.With != nil {
		n += len(data)
	}
	for _, a := range j.Args {
		n += len(a)
	}
	for name, value := range j.Env {
		n += len(name) + len(value)
	}
	return n
}

// HasSchedule reports whether the job has a schedule, or several.
func (j *Job) HasSchedule() bool { return j.CronExpr != "" || len(j.Schedules) > 0 }

// EachSchedule calls visit for each schedule of the job, with the prefix of the names of its fields, and its place in
// the list of several, or -1. A job without an expression has one schedule, which has none either.
func (j *Job) EachSchedule(visit func(at string, index int, s *JobSchedule)) {
	for i := range j.Schedules {
		visit(fmt.Sprintf("schedules[%d].", i), i, &j.Schedules[i])
	}
	if len(j.Schedules) == 0 {
		visit("", -1, &JobSchedule{CronExpr: j.CronExpr, Timezone: j.Timezone, DST: j.DST, StartAt: j.StartAt,
			EndAt: j.EndAt, Jitter: j.Jitter})
	}
}

// Zone returns the time zone of the job's schedule; of several schedules, that of the first one.
func (j *Job) Zone() string {
	if len(j.Schedules) > 0 {
		return j.Schedules[0].Timezone
	}
	return j.Timezone
}

// DefaultTimezone fills in the time zone where none is given.
func (j *Job) DefaultTimezone(zone string) {
	if len(j.Schedules) == 0 {
		j.Timezone = or(j.Timezone, zone)
		return
	}
	j.Schedules = slices.Clone(j.Schedules)
	for i := range j.Schedules {
		j.Schedules[i].Timezone = or(j.Schedules[i].Timezone, zone)
	}
}

// PausedAt reports whether the job is paused at a time.
func (j *Job) PausedAt(now time.Time) bool {
	return j.Paused && (j.PauseUntil == nil || now.Before(*j.PauseUntil))
}

// Succeeded reports whether an exit code counts as success for the job. 0 always does.
func (j *Job) Succeeded(exitCode int) bool {
	return exitCode == 0 || slices.Contains(j.SuccessExitCodes, exitCode)
}
