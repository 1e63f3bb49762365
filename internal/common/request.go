package common

import (
	"context"
	"time"
)

// TriggerRequest requests a run outside the schedule.
type TriggerRequest struct {
	Job    string
	Note   string
	Params map[string]string
	Worker string // only this worker, by name or id; any if empty
	// NoAfter lets its success start no jobs that name the job in after.
	NoAfter bool `json:",omitempty"`
	// JobUID, if set, is the job that is meant: one of the same name that was created since is not run.
	JobUID string `json:",omitempty"`
	// Key is the idempotency key: a request that is repeated with it by the same actor within a day is executed once.
	// Empty for none.
	Key string
	// Hook is the id of the hook that received the request, which has a bound of keys of its own; empty for none.
	Hook string       `json:"-"`
	Pre  Precondition `json:"-"` // of a new trigger
	// Traceparent is the span that requests the run; empty for none. It is not a part of what is asked.
	Traceparent string `json:"-"`
	// Again, if set, requests the next attempt of a fire that has ended, in place of a new fire.
	Again *AgainRequest `json:",omitempty"`
	// Inherited are the names of parameters with the values of an earlier run. One that the job no longer declares is
	// left out.
	Inherited []string `json:"-"`
	// Dropped, if set, is called with the names of those that are left out, in order; nil if there are none. Its error
	// refuses the request. The re-run of a flow run does not call it: see FlowRerun.Keep.
	Dropped func(names []string) error `json:"-"`
}

// AgainRequest names a fire that has ended.
type AgainRequest struct {
	Fire string
	// Last reads the last attempt of the fire. It is called when the fire has no live run.
	Last func(context.Context) (Run, error) `json:"-"`
	// Flow, if set, selects what the re-run of a flow run runs.
	Flow *FlowRerun `json:",omitempty"`
}

// FlowRerun requests the re-run of a flow run that has ended.
type FlowRerun struct {
	Run        string // its id: the last attempt of its fire
	Scope      string
	Steps      []string // of the scopes from and only
	Accept     []string // steps whose failures count as successes
	Definition Definition
	Restart    bool `json:",omitempty"` // flow runs of failed steps start from the beginning
	// Keep returns the nodes that a re-run with a definition keeps, and its parameters: those of the trigger.
	Keep func(ctx context.Context, last *Run, digest string) (*Base, map[string]string, error) `json:"-"`
}

// Definition is with which definition of its steps a flow run is re-run.
type Definition string

// Definitions.
const (
	DefinitionCurrent Definition = "current"
	DefinitionSame    Definition = "same" // that of the earlier flow run
)

// Digest returns the digest of the definition with which a flow run of a job is re-run. It fails if the job is no
// longer a flow.
func (d Definition) Digest(job *StoredJob, last *Run) (string, error) {
	switch {
	case !job.HasBody():
		return "", Errorf(CodeConflict, "job %q is not a flow any more", job.Name).WithReason("no_flow").
			WithHint("run the job now instead")
	case (job.RunOn == nil) != (last.Spread == nil):
		return "", Errorf(CodeConflict, "job %q is not the kind of job any more that it was at the run", job.Name).
			WithReason("no_flow").WithHint("run the job now instead")
	case d == DefinitionSame:
		return last.Digest, nil
	}
	return job.Flow.Digest, nil
}

// FireLive refuses a further attempt of a fire that has not ended.
func FireLive(fire string) error {
	return Errorf(CodeConflict, "fire %q has a run that is pending or running", Shorten(fire)).WithReason("fire_live").
		WithHint("wait until it has ended, or kill it")
}

// JobReplaced refuses a further attempt of a fire whose job was deleted.
func JobReplaced(job string) error {
	return Errorf(CodeConflict, "the fire is one of an earlier job %q, which was deleted", job).
		WithReason("job_replaced").WithHint("run the job now instead")
}

// NotLast refuses the re-run of a flow run after which another attempt of its fire was made.
func NotLast(run, last string) error {
	return Errorf(CodeConflict, "run %q is not the last attempt of its fire", Shorten(run)).
		WithReason("not_last_attempt").With("last", last).WithHint("re-run the last attempt, " + last)
}

// NodeRetry requests to start a node of class failure again, or to accept its failure, in a flow run that has not
// ended.
type NodeRetry struct {
	Run    string // id of the flow run
	Node   string
	Note   string
	Key    string // idempotency key, as in TriggerRequest
	DryRun bool   // change nothing
	Accept bool   // its failure counts as a success; it is not started again
	// Continue returns how a flow run that a step ran goes on from its failures; nil if the run was none. Without it
	// the next one starts from the beginning.
	Continue func(ctx context.Context, run string) (*Nested, error)
}

// Verb names the request in the audit log.
func (r *NodeRetry) Verb() string {
	if r.Accept {
		return "accept"
	}
	return "retry"
}

// KillRequest requests the end of a run.
type KillRequest struct {
	Signal Signal `json:"signal,omitempty" enum:"TERM,INT,QUIT,HUP,USR1,USR2,KILL" doc:"The signal to send first; default TERM. Processes still alive after the job's killGrace get KILL; with KILL there is no grace period. A run that is ending already gets the signal as well; of a flow run, the runs of its steps that have not ended, without clean-up steps. A pending run is cancelled, whatever the signal."`
	Note   string `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the run."`
	Force  bool   `json:"force,omitempty" doc:"Of a flow run: ends its clean-up steps as well, and starts none. Other runs are refused."`
}

// PauseRequest requests to pause a job, until a time or until it is resumed.
type PauseRequest struct {
	Note  string     `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the job. Recommended."`
	Until *time.Time `json:"until,omitempty" doc:"When the job resumes automatically. Default: not before it is resumed."`
}

// DeleteRequest says what goes with a deleted job.
type DeleteRequest struct {
	Kill  bool // end its current runs
	Force bool // also if other jobs name it in after, or steps of flows run it or wait for it
}
