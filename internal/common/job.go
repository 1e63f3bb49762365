package common

import (
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
	Name             string            `json:"name"`
	Title            string            `json:"title,omitempty"`
	Group            string            `json:"group,omitempty"`
	Labels           map[string]string `json:"labels,omitempty"`
	Description      string            `json:"description,omitempty"`
	CronExpr         string            `json:"cronExpr,omitempty"`
	Timezone         string            `json:"timezone,omitempty"`
	DST              *DST              `json:"dst,omitempty"`
	Command          string            `json:"command,omitempty"`
	Args             []string          `json:"args,omitempty"`
	Stdin            string            `json:"stdin,omitempty"`
	Shell            string            `json:"shell,omitempty"`
	Env              map[string]string `json:"env,omitempty"`
	WorkDir          string            `json:"workDir,omitempty"`
	User             string            `json:"user,omitempty"`
	Timeout          Duration          `json:"timeout,omitempty"`
	KillGrace        Duration          `json:"killGrace,omitempty"`
	MemoryMax        Size              `json:"memoryMax,omitempty"`
	TasksMax         int               `json:"tasksMax,omitempty"`
	SuccessExitCodes []int             `json:"successExitCodes,omitempty"`
	Overlap          Overlap           `json:"overlap,omitempty"`
	Output           *OutputPolicy     `json:"output,omitempty"`
	StartAt          *time.Time        `json:"startAt,omitempty"`
	EndAt            *time.Time        `json:"endAt,omitempty"`
	Jitter           Duration          `json:"jitter,omitempty"`
	Params           map[string]Param  `json:"params,omitempty"`
	StartDeadline    Duration          `json:"startDeadline,omitempty"`
	CatchUp          *CatchUp          `json:"catchUp,omitempty"`
	Retry            *Retry            `json:"retry,omitempty"`
	OnLost           OnLost            `json:"onLost,omitempty"`
	LostAfter        Duration          `json:"lostAfter,omitempty"`
	Placement        *Placement        `json:"placement,omitempty"`
	Priority         int               `json:"priority,omitempty"`
	Slots            int               `json:"slots,omitempty"`
	Paused           bool              `json:"paused,omitempty"`
	PauseNote        string            `json:"pauseNote,omitempty"`
	PauseUntil       *time.Time        `json:"pauseUntil,omitempty"`
	Notify           *Notify           `json:"notify,omitempty"`
	Retention        *Retention        `json:"retention,omitempty"`
}

// Param is a variable that the trigger of a run may set.
type Param struct {
	Default     string `json:"default,omitempty"`
	Description string `json:"description,omitempty"`
	Pattern     string `json:"pattern,omitempty"` // a regular expression that the whole value must match
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
	Policy CatchUpPolicy `json:"policy,omitempty"`
	Window Duration      `json:"window,omitempty"`
	Max    int           `json:"max,omitempty"`
}

// Retry makes failed runs be retried: at most Max times, with backoff from Backoff to MaxBackoff, doubled each time,
// for these exit codes (any if empty), and on another worker if there is one (Elsewhere).
type Retry struct {
	Max        int      `json:"max,omitempty"`
	Backoff    Duration `json:"backoff,omitempty"`
	MaxBackoff Duration `json:"maxBackoff,omitempty"`
	ExitCodes  []int    `json:"exitCodes,omitempty"`
	Elsewhere  *bool    `json:"elsewhere,omitempty"` // default true
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
	Strategy Strategy `json:"strategy,omitempty"`
	Selector string   `json:"selector,omitempty"` // of labels: zone=a,disk!=slow
	Workers  []string `json:"workers,omitempty"`  // only these, by name or id
}

// DST is how fixed-time fires are handled on nights when the clocks change.
type DST struct {
	Gap     string `json:"gap,omitempty"`     // run (default) or skip
	Overlap string `json:"overlap,omitempty"` // first (default), second or both
}

// OutputPolicy bounds the stored output of a run.
type OutputPolicy struct {
	Max Size `json:"max,omitempty"` // default 16MiB
}

// StoredJob is the value of /cron/jobs/<job>: the job and the fields that the master adds.
type StoredJob struct {
	Job
	UID       string    `json:"uid"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
	// Needs are the features without which a worker would not run the job as defined: a worker that lacks one is not
	// eligible.
	Needs []string `json:"needs,omitempty"`
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
	for _, a := range j.Args {
		n += len(a)
	}
	for name, value := range j.Env {
		n += len(name) + len(value)
	}
	return n
}

// PausedAt reports whether the job is paused at a time.
func (j *Job) PausedAt(now time.Time) bool {
	return j.Paused && (j.PauseUntil == nil || now.Before(*j.PauseUntil))
}

// Succeeded reports whether an exit code counts as success for the job.
func (j *Job) Succeeded(exitCode int) bool {
	if len(j.SuccessExitCodes) == 0 {
		return exitCode == 0
	}
	return slices.Contains(j.SuccessExitCodes, exitCode)
}
