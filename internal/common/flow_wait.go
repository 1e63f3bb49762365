package common

import (
	"slices"
	"time"
)

// FlowWait is the value of /cron/flowwaits/<flow>/<run>.<step>: a step waits for an operator, or for fires of a job.
type FlowWait struct {
	Flow      FlowNode   `json:"flow"`
	Group     string     `json:"group,omitempty"`
	Fire      string     `json:"fire"`
	Attempt   int        `json:"attempt,omitempty"` // 0: the first
	PlannedAt time.Time  `json:"plannedAt"`
	Text      string     `json:"text,omitempty"` // of an approval, with the values of its references
	Since     time.Time  `json:"since"`
	Deadline  *time.Time `json:"deadline,omitempty"` // nil: it waits without a limit
	Notified  []string   `json:"notified,omitempty"` // channels that were notified of it

	Awaited *Awaited `json:"awaited,omitempty"` // nil: an approval

	OnTimeout  OnTimeout  `json:"onTimeout,omitempty"`
	Approvers  *Approvers `json:"approvers,omitempty"`
	NotStarter bool       `json:"notStarter,omitempty"`
	Params     Params     `json:"params,omitempty"`
	// Starters are the persons who started the flow run and those that it is nested in; see Actor.Person. StartedBy is
	// the name of the one who started the flow run, for those that a worker of an earlier version began.
	Starters  []string `json:"starters,omitempty"`
	StartedBy string   `json:"startedBy,omitempty"`
}

// NewFlowWait returns the pending approval of a step with a text.
func NewFlowWait(run *FlowRun, of *FlowNode, a *Approval, text string, now time.Time) FlowWait {
	deadline := now.Add(a.Limit())
	return FlowWait{Flow: *of, Group: run.Group, Fire: NodeFire(run.UID, run.Run, of.Node), PlannedAt: run.PlannedAt,
		Text: text, Since: now, Deadline: &deadline, OnTimeout: a.OnTimeout, Approvers: a.Approvers,
		NotStarter: a.NotStarter, Params: a.Params, Starters: run.Starters, StartedBy: run.By}
}

// Bars reports whether an actor may not approve the step, having started the flow run.
func (w *FlowWait) Bars(a Actor) bool {
	if !w.NotStarter {
		return false
	}
	return slices.Contains(w.Starters, a.Person()) || w.StartedBy != "" && w.StartedBy == a.Name
}

// Expired returns the outcome of the step after its time.
func (w *FlowWait) Expired(now time.Time) Run {
	if !w.IsApproval() {
		return w.Ended(StatusTimedOut, w.Awaited.TimedOut(), now)
	}
	run := w.AsRun()
	since := w.Since
	run.StartedAt, run.EndedAt, run.Status = &since, &now, StatusTimedOut
	run.Reason = &Reason{Code: ReasonTimeout, Data: map[string]string{"text": w.Text},
		Text: "it was not answered in time"}
	if w.OnTimeout == TimeoutSkips {
		run.Status, run.Reason.Code = StatusSkipped, ReasonNotAnswered
	}
	return run
}

// AsRun returns the step as a run that waits.
func (w *FlowWait) AsRun() Run {
	since, attempt, cause := w.Since, max(1, w.Attempt), CauseFlow
	if attempt > 1 {
		cause = CauseRerun
	}
	reason := &Reason{Code: ReasonApproval, Data: map[string]string{"text": w.Text}, Text: w.Text}
	if !w.IsApproval() {
		reason = w.Awaited.Reason()
	}
	return Run{ID: RunID(w.Fire, attempt), Job: StepJob(w.Flow.Job, w.Flow.Node), JobUID: w.Flow.UID, Group: w.Group,
		Fire: w.Fire, PlannedAt: w.PlannedAt, ReadyAt: &since, Cause: cause, Attempt: attempt, Status: StatusWaiting,
		Reason: reason, Flow: &w.Flow}
}

// Answer approves or rejects a step that waits for it.
type Answer struct {
	Step    string
	Approve bool
	Note    string
	Params  map[string]string // of an approval: values of its parameters
}
