package carillon

import (
	"bytes"
	"encoding/json"
	"time"

	"carillon/internal/common"
)

// Job is the definition of a job, with the fields of the API; docs/jobs.md describes them. Durations are texts such as
// "1h30m", sizes such as "512MiB".
type Job struct {
	// Func names a function of this program, in place of Type and With.
	Func string `json:"-"`

	Name             string            `json:"name"`
	Title            string            `json:"title,omitempty"`
	Group            string            `json:"group,omitempty"`
	Labels           map[string]string `json:"labels,omitempty"`
	Description      string            `json:"description,omitempty"`
	CronExpr         string            `json:"cronExpr,omitempty"`
	Timezone         string            `json:"timezone,omitempty"`
	DST              *DST              `json:"dst,omitempty"`
	Schedules        []Schedule        `json:"schedules,omitempty"`
	Type             string            `json:"type,omitempty"`
	With             map[string]any    `json:"with,omitempty"`
	Command          string            `json:"command,omitempty"`
	Args             []string          `json:"args,omitempty"`
	Stdin            string            `json:"stdin,omitempty"`
	Shell            string            `json:"shell,omitempty"`
	Env              map[string]string `json:"env,omitempty"`
	WorkDir          string            `json:"workDir,omitempty"`
	User             string            `json:"user,omitempty"`
	Timeout          string            `json:"timeout,omitempty"`
	KillGrace        string            `json:"killGrace,omitempty"`
	MemoryMax        string            `json:"memoryMax,omitempty"`
	TasksMax         int               `json:"tasksMax,omitempty"`
	SuccessExitCodes []int             `json:"successExitCodes,omitempty"`
	Overlap          string            `json:"overlap,omitempty"`
	Output           *OutputPolicy     `json:"output,omitempty"`
	StartAt          *time.Time        `json:"startAt,omitempty"`
	EndAt            *time.Time        `json:"endAt,omitempty"`
	Jitter           string            `json:"jitter,omitempty"`
	Params           map[string]Param  `json:"params,omitempty"`
	Concurrency      int               `json:"concurrency,omitempty"`
	FailFast         bool              `json:"failFast,omitempty"`
	Steps            []Step            `json:"steps,omitempty"`
	Outputs          map[string]Output `json:"outputs,omitempty"`
	After            []string          `json:"after,omitempty"`
	RunOn            *RunOn            `json:"runOn,omitempty"`
	ConfirmRun       bool              `json:"confirmRun,omitempty"`
	StartDeadline    string            `json:"startDeadline,omitempty"`
	CatchUp          *CatchUpPolicy    `json:"catchUp,omitempty"`
	Retry            *RetryPolicy      `json:"retry,omitempty"`
	OnLost           string            `json:"onLost,omitempty"`
	LostAfter        string            `json:"lostAfter,omitempty"`
	Placement        *Placement        `json:"placement,omitempty"`
	Priority         int               `json:"priority,omitempty"`
	Slots            int               `json:"slots,omitempty"`
	Pool             string            `json:"pool,omitempty"`
	PoolSlots        int               `json:"poolSlots,omitempty"`
	Paused           bool              `json:"paused,omitempty"` // applies when the job is created
	PauseNote        string            `json:"pauseNote,omitempty"`
	PauseUntil       *time.Time        `json:"pauseUntil,omitempty"`
	AutoPause        *AutoPause        `json:"autoPause,omitempty"`
	Notify           *NotifyPolicy     `json:"notify,omitempty"`
	Retention        *Retention        `json:"retention,omitempty"`
	Daemon           *Daemon           `json:"daemon,omitempty"`
}

// Step is a step of a flow.
type Step struct {
	// Func names a function of this program, in place of Type and With.
	Func string `json:"-"`

	Name             string            `json:"name"`
	Title            string            `json:"title,omitempty"`
	After            []Edge            `json:"after,omitempty"`
	Rule             string            `json:"rule,omitempty"`
	When             string            `json:"when,omitempty"`
	AllowFailure     bool              `json:"allowFailure,omitempty"`
	ForEach          *ForEach          `json:"forEach,omitempty"`
	Finally          bool              `json:"finally,omitempty"`
	Type             string            `json:"type,omitempty"`
	With             map[string]any    `json:"with,omitempty"`
	Command          string            `json:"command,omitempty"`
	Args             []string          `json:"args,omitempty"`
	Stdin            string            `json:"stdin,omitempty"`
	Shell            string            `json:"shell,omitempty"`
	Env              map[string]string `json:"env,omitempty"`
	WorkDir          string            `json:"workDir,omitempty"`
	User             string            `json:"user,omitempty"`
	Timeout          string            `json:"timeout,omitempty"`
	KillGrace        string            `json:"killGrace,omitempty"`
	MemoryMax        string            `json:"memoryMax,omitempty"`
	TasksMax         int               `json:"tasksMax,omitempty"`
	SuccessExitCodes []int             `json:"successExitCodes,omitempty"`
	Output           *OutputPolicy     `json:"output,omitempty"`
	Outputs          map[string]Output `json:"outputs,omitempty"`
	Retry            *RetryPolicy      `json:"retry,omitempty"`
	OnLost           string            `json:"onLost,omitempty"`
	LostAfter        string            `json:"lostAfter,omitempty"`
	Placement        *Placement        `json:"placement,omitempty"`
	Priority         int               `json:"priority,omitempty"`
	Slots            int               `json:"slots,omitempty"`
	Job              string            `json:"job,omitempty"`
	Params           map[string]string `json:"params,omitempty"`
	Approval         *Approval         `json:"approval,omitempty"`
	Wait             *Wait             `json:"wait,omitempty"`
	Join             bool              `json:"join,omitempty"`
}

// Edge is a step that another one depends on.
type Edge struct {
	Step      string `json:"step"`
	On        string `json:"on,omitempty"`
	ExitCodes []int  `json:"exitCodes,omitempty"`
}

// ForEach makes a step run once for each item of a list.
type ForEach struct {
	Items       []string `json:"items,omitempty"`
	List        string   `json:"list,omitempty"`
	As          string   `json:"as,omitempty"`
	Concurrency int      `json:"concurrency,omitempty"`
	MaxFailures int      `json:"maxFailures,omitempty"`
	Stop        bool     `json:"stop,omitempty"`
	Collect     string   `json:"collect,omitempty"`
}

// Approval makes a step wait for an operator.
type Approval struct {
	Text       string           `json:"text"`
	Timeout    string           `json:"timeout,omitempty"`
	OnTimeout  string           `json:"onTimeout,omitempty"`
	Approvers  *Approvers       `json:"approvers,omitempty"`
	NotStarter bool             `json:"notStarter,omitempty"`
	Params     map[string]Param `json:"params,omitempty"`
}

// Wait makes a step wait until fires of another job have succeeded.
type Wait struct {
	Job       string `json:"job"`
	Fires     string `json:"fires,omitempty"`
	OnFailure string `json:"onFailure,omitempty"`
	Timeout   string `json:"timeout,omitempty"`
}

// Approvers are those who may answer an approval.
type Approvers struct {
	Role  string `json:"role,omitempty"`
	Group string `json:"group,omitempty"`
}

// Output is an output of a run.
type Output struct {
	List     bool    `json:"list,omitempty"`
	Required bool    `json:"required,omitempty"`
	Pointer  string  `json:"pointer,omitempty"`
	Default  *string `json:"default,omitempty"` // an empty text is a default, too
	Value    string  `json:"value,omitempty"`
}

// Param is a parameter, which the trigger of a run may set.
type Param struct {
	Default     string `json:"default,omitempty"`
	Description string `json:"description,omitempty"`
	Pattern     string `json:"pattern,omitempty"`
}

// DST is what happens on nights when the clocks change.
type DST struct {
	Gap     string `json:"gap,omitempty"`
	Overlap string `json:"overlap,omitempty"`
}

// Schedule is one of several schedules of a job.
type Schedule struct {
	CronExpr string            `json:"cronExpr"`
	Timezone string            `json:"timezone,omitempty"`
	DST      *DST              `json:"dst,omitempty"`
	StartAt  *time.Time        `json:"startAt,omitempty"`
	EndAt    *time.Time        `json:"endAt,omitempty"`
	Jitter   string            `json:"jitter,omitempty"`
	Params   map[string]string `json:"params,omitempty"`
	Label    string            `json:"label,omitempty"`
}

// OutputPolicy limits the stored output of a run.
type OutputPolicy struct {
	Max string `json:"max,omitempty"`
}

// CatchUpPolicy selects the fires past their deadline that still run.
type CatchUpPolicy struct {
	Policy string `json:"policy,omitempty"`
	Window string `json:"window,omitempty"`
	Max    int    `json:"max,omitempty"`
}

// RetryPolicy is how failed runs are retried.
type RetryPolicy struct {
	Max        int    `json:"max,omitempty"`
	Backoff    string `json:"backoff,omitempty"`
	MaxBackoff string `json:"maxBackoff,omitempty"`
	ExitCodes  []int  `json:"exitCodes,omitempty"`
	Elsewhere  *bool  `json:"elsewhere,omitempty"`
}

// Placement restricts where a job may run.
type Placement struct {
	Strategy string   `json:"strategy,omitempty"`
	Selector string   `json:"selector,omitempty"`
	Workers  []string `json:"workers,omitempty"`
}

// AutoPause pauses a job after a number of consecutive fires without success.
type AutoPause struct {
	Failures int `json:"failures"`
}

// NotifyPolicy selects the events of a job that are notified, and the channels.
type NotifyPolicy struct {
	On    []string            `json:"on,omitempty"`
	To    []string            `json:"to,omitempty"`
	After map[string][]string `json:"after,omitempty"`

	Quiet  *QuietHours `json:"quiet,omitempty"`
	Urgent bool        `json:"urgent,omitempty"`
}

// QuietHours are the hours in which notifications of a job wait.
type QuietHours struct {
	From     string `json:"from"` // HH:MM
	To       string `json:"to"`
	Timezone string `json:"timezone,omitempty"`
}

// Retention is how long runs are kept.
type Retention struct {
	Age  string `json:"age,omitempty"`
	Runs int    `json:"runs,omitempty"`
}

// RunOn makes each fire run on several workers; Workers is a number, or "all".
type RunOn struct {
	Workers     any  `json:"workers"`
	Concurrency int  `json:"concurrency,omitempty"`
	MaxFailures int  `json:"maxFailures,omitempty"`
	Stop        bool `json:"stop,omitempty"`
}

// Daemon keeps replicas running, in place of a schedule; Count is a number, or "all".
type Daemon struct {
	Count        any        `json:"count"`
	Backoff      string     `json:"backoff,omitempty"`
	MaxBackoff   string     `json:"maxBackoff,omitempty"`
	HealthyAfter string     `json:"healthyAfter,omitempty"`
	Rebalance    *Rebalance `json:"rebalance,omitempty"`
}

// Rebalance sets when replicas are moved.
type Rebalance struct {
	After string `json:"after,omitempty"`
}

// convert returns the job as the master receives it.
func (j *Job) convert() (job common.Job, err error) {
	data, err := json.Marshal(j)
	if err != nil {
		return job, err
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	return job, in.Decode(&job)
}
