package common

import (
	"slices"
	"time"
)

// Defaults of a job. They are not stored with it, so that what was sent comes
// back; only the time zone is filled in when a job is saved.
const (
	DefaultShell     = "/bin/sh"
	DefaultKillGrace = 10 * time.Second
	DefaultLostAfter = 60 * time.Second
	DefaultOutputMax = 16 << 20
	// DefaultTasksMax holds on workers that can limit tasks.
	DefaultTasksMax = 512

	DefaultStartDeadline = 5 * time.Minute
	DefaultWindow        = time.Hour
	DefaultCatchUpMax    = 10
	DefaultBackoff       = 5 * time.Second
	DefaultMaxBackoff    = 5 * time.Minute
	DefaultPriority      = 5
	DefaultSlots         = 1

	// MaxAttempts bounds how often a fire is run again because its worker was lost.
	MaxAttempts = 3
)

// Overlap says what happens to a fire while the job's earlier run still goes.
type Overlap string

// What can happen to it.
const (
	OverlapSkip    Overlap = "skip"    // it is written down as skipped
	OverlapQueue   Overlap = "queue"   // it waits for the end of that run; one at most waits
	OverlapReplace Overlap = "replace" // it waits for the end of that run, which is killed
	OverlapAllow   Overlap = "allow"   // it runs beside it
)

// Forbids reports whether two runs of the job must not go on at a time.
func (o Overlap) Forbids() bool { return o != OverlapAllow }

// OnLost says what follows when a run was lost with its worker.
type OnLost string

// What can follow.
const (
	LostRerun   OnLost = "rerun"   // the next attempt
	LostAbandon OnLost = "abandon" // nothing
	// LostDetach is like abandon, and a worker that is cut off lets the run go on: two
	// runs of the job may go on at a time then, whatever its overlap policy.
	LostDetach OnLost = "detach"
)

// Job is what its author defines. Its JSON is the form of the API, of files and
// of etcd.
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

// Param is a variable that a trigger may set for its run.
type Param struct {
	Default     string `json:"default,omitempty"`
	Description string `json:"description,omitempty"`
	Pattern     string `json:"pattern,omitempty"` // a regular expression that the whole value must match
}

// CatchUpPolicy says which of the fires that are past their deadline still run.
type CatchUpPolicy string

// The policies.
const (
	CatchUpNone   CatchUpPolicy = "none"
	CatchUpLatest CatchUpPolicy = "latest"
	CatchUpAll    CatchUpPolicy = "all"
)

// CatchUp is the policy, and which fires it looks at: those no older than Window,
// and of these the Max last ones.
type CatchUp struct {
	Policy CatchUpPolicy `json:"policy,omitempty"`
	Window Duration      `json:"window,omitempty"`
	Max    int           `json:"max,omitempty"`
}

// Retry reports whether a failed run is tried again: at most Max times, after a
// pause that doubles from Backoff to MaxBackoff, for these exit codes (any, where
// none is given), on another worker where there is one (Elsewhere).
type Retry struct {
	Max        int      `json:"max,omitempty"`
	Backoff    Duration `json:"backoff,omitempty"`
	MaxBackoff Duration `json:"maxBackoff,omitempty"`
	ExitCodes  []int    `json:"exitCodes,omitempty"`
	Elsewhere  *bool    `json:"elsewhere,omitempty"` // default true
}

// Strategy is how the workers that may run a job are ranked.
type Strategy string

// The strategies.
const (
	StrategyHash   Strategy = "hash"   // the same worker for the same job, while it lives
	StrategyLeast  Strategy = "least"  // the one with the fewest runs
	StrategyWeight Strategy = "weight" // like hash, each with a share according to its weight
	StrategyAny    Strategy = "any"    // all at once: the first comes first
)

// Placement says where a job may run.
type Placement struct {
	Strategy Strategy `json:"strategy,omitempty"`
	Selector string   `json:"selector,omitempty"` // of labels: zone=a,disk!=slow
	Workers  []string `json:"workers,omitempty"`  // only these, by name or id
}

// DST says what happens to fixed-time fires on nights when the clocks change.
type DST struct {
	Gap     string `json:"gap,omitempty"`     // run (default) or skip
	Overlap string `json:"overlap,omitempty"` // first (default), second or both
}

// OutputPolicy bounds what is kept of a run's output.
type OutputPolicy struct {
	Max Size `json:"max,omitempty"` // default 16MiB
}

// StoredJob is the value of /cron/jobs/<job>: the job and what the master adds.
type StoredJob struct {
	Job
	UID       string    `json:"uid"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
	// Needs are the features without which a worker would run the job otherwise than it
	// says: one that does not have them all does not run it.
	Needs []string `json:"needs,omitempty"`
}

// JobState is a stored job as it was read: with its version (the etcd revision
// of its last change) and its cursor (the last fire accounted for).
type JobState struct {
	StoredJob
	Version int64
	Created int64 // the etcd revision of its creation
	Cursor  time.Time
}

// CommandBytes is how long what the job gives its command is.
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
