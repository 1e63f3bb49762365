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
)

// Overlap says what happens to a fire while the job's earlier run still goes.
type Overlap string

// OverlapSkip writes the fire down as skipped.
const OverlapSkip Overlap = "skip"

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
	SuccessExitCodes []int             `json:"successExitCodes,omitempty"`
	Overlap          Overlap           `json:"overlap,omitempty"`
	Output           *OutputPolicy     `json:"output,omitempty"`
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
}

// JobState is a stored job as it was read: with its version (the etcd revision
// of its last change) and its cursor (the last fire accounted for).
type JobState struct {
	StoredJob
	Version int64
	Cursor  time.Time
}

// Policy is what a claim writes into the record, so that the owner and those who
// survive it use the same figures whatever is saved later.
type Policy struct {
	Overlap   Overlap       `json:"overlap"`
	KillGrace time.Duration `json:"killGrace"`
	LostAfter time.Duration `json:"lostAfter"`
}

// Policy is the job's policy with the defaults filled in.
func (j *Job) Policy() Policy {
	p := Policy{Overlap: j.Overlap, KillGrace: j.KillGrace.Or(DefaultKillGrace), LostAfter: DefaultLostAfter}
	if p.Overlap == "" {
		p.Overlap = OverlapSkip
	}
	return p
}

// Succeeded tells whether an exit code counts as success for the job.
func (j *Job) Succeeded(exitCode int) bool {
	if len(j.SuccessExitCodes) == 0 {
		return exitCode == 0
	}
	return slices.Contains(j.SuccessExitCodes, exitCode)
}
