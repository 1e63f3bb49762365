package flow

import (
	"time"

	"carillon/internal/common"
)

// NextAttempt returns the trigger of the attempt that follows a flow run whose nodes have ended; nil if it has not
// failed, a user has ended it meanwhile, its retries are used up, or no step of it has failed. What has succeeded is
// kept, as in a re-run of what failed. A re-run that keeps failures was asked for by a user, who left them out: it is
// not followed by another one. It fails if the kept outputs are too large: running all of it again is for a user to
// decide.
func (s *State) NextAttempt(status common.Status, now time.Time) (*common.Trigger, error) {
	h, policy := &s.head, s.graph.job.Retry
	if h.Retry != nil {
		policy = h.Retry
	}
	attempts := h.Attempt - h.Before
	switch {
	case h.Kind != common.KindFlow || status != common.StatusFailed || policy == nil || attempts > policy.Max:
		return nil, nil
	case h.Kill != nil && (h.Kill.Force || !h.Kill.SignaledAt.IsZero()): // after failFast
		return nil, nil
	case h.Base != nil && len(h.Base.Failed) > 0:
		return nil, nil
	}
	plan, err := Replan(s, s.graph, Scope{Kind: ScopeFailed})
	if err != nil {
		return nil, err
	}
	if len(plan.Run) == 0 { // its own outputs are at fault
		return nil, nil
	}
	s.goOnAgain(plan)
	return h.Next(now.Add(policy.Pause(attempts)), plan.Base), nil
}

// goOnAgain makes the failed nodes of a plan, which were to go on from earlier flow runs, go on from the same ones.
// What they ran meanwhile is in the history, which no worker reads.
func (s *State) goOnAgain(plan *Plan) {
	if s.head.Base == nil {
		return
	}
	for _, node := range plan.Failed {
		if nested := s.head.Base.Nested[node.Was]; nested != nil {
			if plan.Base.Nested == nil {
				plan.Base.Nested = map[string]*common.Nested{}
			}
			plan.Base.Nested[node.Node] = nested
		}
	}
	if plan.TooLarge() {
		plan.Base.Nested = nil
	}
}
