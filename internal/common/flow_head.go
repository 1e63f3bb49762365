package common

import (
	"strconv"
	"time"
)

// FlowKind is what a flow run consists of.
type FlowKind string

// Kinds of flow runs.
const (
	KindFlow     FlowKind = "flow"     // the steps of a flow
	KindSpread   FlowKind = "spread"   // one fire on several workers
	KindBackfill FlowKind = "backfill" // past fires of one job
)

// FlowRef is the field flow of a stored job that is a flow: where its steps are stored, and what must be known of them
// without a read.
type FlowRef struct {
	Digest   string   `json:"digest"` // of the body
	Parts    int      `json:"parts"`
	Bytes    int      `json:"bytes"` // of the body, as JSON
	Steps    int      `json:"steps"`
	Items    int      `json:"items,omitempty"`   // constant items of its maps
	StepsSum string   `json:"stepsSum"`          // equal for equal steps
	Jobs     int      `json:"jobs,omitempty"`    // steps that run a job
	Runs     []string `json:"runs,omitempty"`    // names of the jobs that its steps run, sorted, MaxFlowNames at most
	WaitsFor []string `json:"waits,omitempty"`   // and of those whose fires its steps wait for
	Secrets  []string `json:"secrets,omitempty"` // that the env of its steps refers to, sorted
	Types    []string `json:"types,omitempty"`   // of its steps, other than shell, sorted
	Needs    []string `json:"needs,omitempty"`   // features of the workers that advance its flow runs, besides FeatureFlows
}

// MaxFlowNames bounds the names of jobs in a FlowRef, of each kind.
const MaxFlowNames = 500

// Nodes returns the number of steps and of constant items of maps. Items of lists are known once a flow run reads them.
func (r *FlowRef) Nodes() int { return r.Steps + r.Items }

// Head is the value of /cron/flowruns/<job>/<run>: the flow run has not ended.
type Head struct {
	Kind        FlowKind          `json:"kind"`
	Run         string            `json:"run"`
	Fire        string            `json:"fire"`
	Attempt     int               `json:"attempt"`
	After       Status            `json:"after,omitempty"` // outcome of the previous attempt
	Job         string            `json:"job"`
	UID         string            `json:"uid"`
	JobVersion  int64             `json:"jobVersion,omitempty"`
	Group       string            `json:"group,omitempty"`
	Digest      string            `json:"digest,omitempty"`
	PlannedAt   time.Time         `json:"plannedAt"`
	ReadyAt     *time.Time        `json:"readyAt,omitempty"`
	ClaimedAt   time.Time         `json:"claimedAt"`
	Before      int               `json:"before,omitempty"` // attempts before a re-run that a user requested
	Retry       *Retry            `json:"retry,omitempty"`  // that of the trigger
	Cause       Cause             `json:"cause"`
	Origin      Cause             `json:"origin,omitempty"` // of a retry: the cause of the attempt before its retries
	By          string            `json:"by,omitempty"`
	Starters    []string          `json:"starters,omitempty"` // persons who started it, and those around it
	Note        string            `json:"note,omitempty"`
	NoAfter     bool              `json:"noAfter,omitempty"`  // that of the trigger
	Parents     []ParentRun       `json:"parents,omitempty"`  // those of the trigger
	Params      map[string]string `json:"params,omitempty"`   // set by the trigger, or by the schedule
	Schedule    string            `json:"schedule,omitempty"` // label of the schedule that planned the fire
	Concurrency int               `json:"concurrency,omitempty"`
	Deadline    time.Time         `json:"deadline,omitzero"` // end of its timeout; zero without one
	Depth       int               `json:"depth,omitempty"`   // 0 for a flow run without a parent
	Parent      *FlowNode         `json:"parent,omitempty"`
	Base        *Base             `json:"base,omitempty"`
	Fires       []byte            `json:"fires,omitempty"`       // of a backfill: see PackFires
	MaxFailures int               `json:"maxFailures,omitempty"` // of a backfill: it stops after as many; 0: never
	Range       *BackfillRange    `json:"range,omitempty"`
	Interval    *Interval         `json:"interval,omitempty"` // of a fire of the schedule
	Spread      *Spread           `json:"spread,omitempty"`   // of kind spread
	// StartDeadline is how long a worker has to start its run, in a flow run of kind spread.
	StartDeadline time.Duration `json:"startDeadline,omitempty"`
	Nonce         string        `json:"nonce"`
	Needs         []string      `json:"needs,omitempty"`       // features of the workers that advance it
	Nodes         int           `json:"nodes,omitempty"`       // steps and constant items; 0: unknown
	Traceparent   string        `json:"traceparent,omitempty"` // that of the trigger

	// Requests of operators.
	Paused bool           `json:"paused,omitempty"`
	Kill   *FlowKill      `json:"kill,omitempty"`
	Rounds map[string]int `json:"rounds,omitempty"` // required rounds of nodes that were started again, or accepted
	// Accepted are the failures of its own nodes that count as successes.
	Accepted []Acceptance `json:"accepted,omitempty"`
}

// Load returns the number of nodes that the flow run counts for MaxLiveNodes. The fires of a backfill count by
// themselves, if they are flow runs.
func (h *Head) Load() int {
	switch {
	case h.Kind == KindBackfill:
		return 0
	case h.Spread != nil:
		return h.Spread.Nodes
	default:
		return max(1, h.Nodes)
	}
}

// FlowsFull returns the reason of a fire that waits until fewer nodes of flow runs are live.
func FlowsFull() Reason {
	return Reason{Code: ReasonFlowsFull, Data: map[string]string{"most": strconv.Itoa(MaxLiveNodes)},
		Text: "the live flow runs have too many nodes, " + strconv.Itoa(MaxLiveNodes) + " at most"}
}

// AsRun returns the flow run with a status.
func (h *Head) AsRun(s Status) Run {
	claimed := h.ClaimedAt
	run := Run{ID: h.Run, Job: h.Job, JobUID: h.UID, JobVersion: h.JobVersion, Group: h.Group, Fire: h.Fire,
		PlannedAt: h.PlannedAt, Cause: h.Cause, Attempt: h.Attempt, After: h.After, Status: s, ClaimedAt: &claimed,
		StartedAt: &claimed, TriggeredBy: h.By, Note: h.Note, Params: h.Params, Schedule: h.Schedule,
		ReadyAt: h.ReadyAt, Flow: h.Parent, Nodes: &NodeCounts{}, Digest: h.Digest, Base: h.Base.Bare(),
		Spread: h.Spread, Traceparent: h.Traceparent, Accepted: h.Accepted, NoAfter: h.NoAfter,
		Parents: h.Parents}
	if h.Kind == KindFlow { // others have no clean-up
		run.Forced = h.Kill.Forced()
	}
	return run
}

// Live returns the flow run as one that has not ended, with its kill request, or the reason why it starts nothing.
func (h *Head) Live() Run {
	run := h.AsRun(StatusRunning)
	switch {
	case h.Kill != nil:
		run.Ending = h.Kill.Ending()
	case h.Paused:
		run.Reason = &Reason{Code: ReasonFlowPaused, Text: "the flow run is paused: it starts no further steps"}
	}
	run.Nodes = nil // only its nodes show how many have ended
	return run
}

// Next returns the trigger of the next attempt after a flow run that failed.
func (h *Head) Next(notBefore time.Time, keep *Base) *Trigger {
	id := RunID(h.Fire, h.Attempt+1)
	next := &Trigger{
		ID:        id,
		Job:       h.Job,
		JobUID:    h.UID,
		Group:     h.Group,
		Fire:      h.Fire,
		PlannedAt: h.PlannedAt,
		Attempt:   h.Attempt + 1,
		After:     StatusFailed,
		Base:      h.Before,
		Cause:     CauseRetry,
		By:        h.By,
		Note:      h.Note,
		NotBefore: notBefore.UTC(),
		NoAfter:   h.NoAfter,
		Parents:   h.Parents,
		Params:    h.Params,
		Schedule:  h.Schedule,
		Starters:  h.Starters,
		Flow:      h.Parent,
		Digest:    h.Digest,
		Needs:     h.Needs,
		Origin:    h.Began(),
		Retry:     h.Retry,
		Keep:      keep,

		Traceparent: h.Traceparent,
	}
	if h.Parent != nil {
		next.JobUID = ""
	}
	return next
}

// Began returns the cause of the flow run, or that of the attempt before its retries: a retry decides as that one did.
func (h *Head) Began() Cause { return or(h.Origin, h.Cause) }

// FlowRun is a head with the revisions of its key.
type FlowRun struct {
	Head
	Created  int64 // its CreateRevision
	Revision int64 // its ModRevision
}

// Node returns the node that belongs to a run of the job with a uid; that of the flow for an inline step.
func (r *FlowRun) Node(name string, round int, uid string) *FlowNode {
	return &FlowNode{
		Kind:    r.Kind,
		Job:     r.Job,
		Run:     r.Run,
		Node:    name,
		Round:   round,
		Created: r.Created,
		UID:     uid,
		Digest:  r.Digest,
		Depth:   r.Depth,

		Background: r.Parent != nil && r.Parent.Background,
		Interval:   r.Interval,
	}
}

// RetryOf returns how a job that a step runs is tried again, in place of what the job says; nil if it decides. The runs
// of a job on several workers are those of the step that runs it.
func (h *Head) RetryOf(s *Step) *Retry {
	switch {
	case h.Kind == KindSpread:
		return h.Retry
	case s.Kind() == JobStep:
		return s.Retry
	}
	return nil
}

// Round returns the required round of a node.
func (h *Head) Round(node string) int { return max(1, h.Rounds[node]) }

// FlowKill is a request to end a flow run: its runs are killed and no further node is started.
type FlowKill struct {
	By   string    `json:"by,omitempty"`
	Note string    `json:"note,omitempty"`
	Code string    `json:"code,omitempty"` // reason, unless a user requested it
	At   time.Time `json:"at"`
	// Signal is sent first to the commands of its runs.
	Signal Signal `json:"signal,omitempty"`
	// A later request, whose signal is sent to the runs of the main part that have not ended.
	SignaledBy   string    `json:"signaledBy,omitempty"`
	SignaledNote string    `json:"signaledNote,omitempty"`
	SignaledAt   time.Time `json:"signaledAt,omitzero"`
	// Force ends clean-up steps as well. The request that did is this one, or a later one.
	Force      bool      `json:"force,omitempty"`
	ForcedBy   string    `json:"forcedBy,omitempty"`
	ForcedNote string    `json:"forcedNote,omitempty"`
	ForcedAt   time.Time `json:"forcedAt,omitzero"`
	// Spare lets runs that have started continue: only no further node is started.
	Spare bool `json:"spare,omitempty"`
}

// Again returns the request after a later one: its signal is sent to the runs that have not ended, and with force it
// ends clean-up steps as well. A forced request without a signal concerns only these.
func (k *FlowKill) Again(later *FlowKill) *FlowKill {
	next := *k
	if later.Force && !next.Force {
		next.Force, next.ForcedBy, next.ForcedNote, next.ForcedAt = true, later.By, later.Note, later.At
	}
	if later.Signal != "" || !later.Force {
		next.Signal, next.SignaledBy = or(later.Signal, SignalTerm), later.By
		next.SignaledNote, next.SignaledAt = later.Note, later.At
		for _, earlier := range []time.Time{k.At, k.SignaledAt} { // of a master whose clock is ahead
			if !next.SignaledAt.After(earlier) {
				next.SignaledAt = earlier.Add(1)
			}
		}
	}
	return &next
}

// Forced returns the request that ends clean-up steps; nil if none does.
func (k *FlowKill) Forced() *Forced {
	switch {
	case k == nil || !k.Force:
		return nil
	case k.ForcedBy != "":
		return &Forced{By: k.ForcedBy, Note: k.ForcedNote, At: k.ForcedAt}
	}
	return &Forced{By: k.By, Note: k.Note, At: k.At}
}

// Ending returns the last request as it is shown with its flow run.
func (k *FlowKill) Ending() *Ending {
	if k.SignaledAt.IsZero() {
		return &Ending{By: k.By, Note: k.Note, Code: k.Code, Signal: or(k.Signal, SignalTerm), At: k.At}
	}
	return &Ending{By: k.SignaledBy, Note: k.SignaledNote, Signal: k.Signal, At: k.SignaledAt}
}

// Status returns the status of the flow run that the request ends.
func (k *FlowKill) Status() Status {
	switch k.Code {
	case ReasonTimeout:
		return StatusTimedOut
	case ReasonFailFast:
		return StatusFailed
	case ReasonRestored:
		return StatusMissed
	default:
		return StatusKilled
	}
}

// NodeCounts are the numbers of a flow run's nodes, by status.
type NodeCounts struct {
	Total     int `json:"total" doc:"Number of nodes."`
	Succeeded int `json:"succeeded,omitempty"`
	Failed    int `json:"failed,omitempty" doc:"Those that failed, timed out, were killed, lost, refused or missed."`
	Skipped   int `json:"skipped,omitempty" doc:"Those that did not run, for whatever reason."`
	Kept      int `json:"kept,omitempty" doc:"Number of these that are kept from an earlier flow run."`
}

// Add counts a node that has ended with a status.
func (c *NodeCounts) Add(s Status) {
	switch s {
	case StatusSucceeded:
		c.Succeeded++
	case StatusSkipped:
		c.Skipped++
	default:
		c.Failed++
	}
}
