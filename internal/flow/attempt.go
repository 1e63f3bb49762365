package flow

import (
	"time"

	"carillon/internal/common"
)

// NextAttempt returns the trigger of the attempt that follows a flow run whose nodes have ended; nil if it has not
// failed, or its retries are used up. What has succeeded is kept, as in a re-run of what failed. It fails if the kept
// outputs are too large: running all of it again is for a user to decide.
func (s *State) NextAttempt(status common.Status, now time.Time) (*common.Trigger, error) {
	h, policy := &s.head, s.graph.job.Retry
	if h.Retry != nil {
		policy = h.Retry
	}
	attempts := h.Attempt - h.Before
	if h.Kind != common.KindFlow || status != common.StatusFailed || policy == nil || attempts > policy.Max {
		return nil, nil
	}
	plan, err := Replan(s, s.graph, Scope{Kind: ScopeFailed})
	if err != nil {
		return nil, err
	}
	return h.Next(now.Add(policy.Pause(attempts)), plan.Base), nil
}
