package common

import "time"

// FlowWait is the value of /cron/flowwaits/<flow>/<run>.<step>: an approval that waits for an operator.
type FlowWait struct {
	Flow      FlowNode   `json:"flow"`
	Group     string     `json:"group,omitempty"`
	Fire      string     `json:"fire"`
	Attempt   int        `json:"attempt,omitempty"` // 0: the first
	PlannedAt time.Time  `json:"plannedAt"`
	Text      string     `json:"text"`
	Since     time.Time  `json:"since"`
	Deadline  *time.Time `json:"deadline,omitempty"` // nil: it waits without a limit
	Notified  []string   `json:"notified,omitempty"` // channels that were notified of it
}

// NewFlowWait returns the pending approval of a step.
func NewFlowWait(run *FlowRun, of *FlowNode, a *Approval, now time.Time) FlowWait {
	wait := FlowWait{Flow: *of, Group: run.Group, Fire: NodeFire(run.UID, run.Run, of.Node), PlannedAt: run.PlannedAt,
		Text: a.Text, Since: now}
	if limit := a.Timeout.Or(0); limit > 0 {
		deadline := now.Add(limit)
		wait.Deadline = &deadline
	}
	return wait
}

// AsRun returns the approval as a run that waits.
func (w *FlowWait) AsRun() Run {
	since, attempt, cause := w.Since, max(1, w.Attempt), CauseFlow
	if attempt > 1 {
		cause = CauseRerun
	}
	return Run{ID: RunID(w.Fire, attempt), Job: StepJob(w.Flow.Job, w.Flow.Node), JobUID: w.Flow.UID, Group: w.Group,
		Fire: w.Fire, PlannedAt: w.PlannedAt, ReadyAt: &since, Cause: cause, Attempt: attempt, Status: StatusWaiting,
		Reason: &Reason{Code: ReasonApproval, Data: map[string]string{"text": w.Text}, Text: w.Text}, Flow: &w.Flow}
}
