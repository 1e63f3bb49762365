package dispatch

import (
	"testing"
	"time"

	"carillon/internal/common"
)

// The planned time of a node is that of its flow run, and that of a re-run or a further attempt that of the fire: it
// may be days ago. Their delays count from when they could start. Those of manual runs count from the request, which is
// their planned time.
func TestClaim_Trigger_IsReadyFromItsStart(t *testing.T) {
	node := &common.FlowNode{Kind: common.KindFlow, Job: "etl", Run: "run", Node: "load", Round: 1}
	for name, c := range map[string]struct {
		cause common.Cause
		flow  *common.FlowNode
		ready bool
	}{
		"a node":                       {common.CauseFlow, node, true},
		"a further attempt of a node":  {common.CauseRetry, node, true},
		"a fire of a backfill":         {common.CauseBackfill, &common.FlowNode{Kind: common.KindBackfill}, true},
		"a retry":                      {common.CauseRetry, nil, true},
		"a re-run":                     {common.CauseRerun, nil, true},
		"a job after others":           {common.CauseAfter, nil, true},
		"a manual run":                 {common.CauseManual, nil, false},
		"a fire that waited in a line": {common.CauseCron, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				f := r.shot("a", "x")
				f.Trigger.Cause, f.Trigger.Flow = c.cause, c.flow
				f.Trigger.PlannedAt = f.At.Add(-48 * time.Hour)
				f.Trigger.NotBefore = f.At.Add(-time.Second)
				r.hand(f)
				record := r.claimer.claims()[0].Record
				want := f.Trigger.NotBefore
				if !c.ready {
					want = f.Trigger.PlannedAt
				}
				run := record.AsRun(common.StatusRunning)
				if got := run.Ready(); !got.Equal(want) || !run.PlannedAt.Equal(f.Trigger.PlannedAt) {
					r.Errorf("planned at %v, ready at %v, want %v", run.PlannedAt, got, want)
				}
				r.metrics.mu.Lock()
				defer r.metrics.mu.Unlock()
				// The whole run takes less than a second of the bubble's time.
				if late := time.Since(want); r.metrics.delay > late || r.metrics.delay < late-time.Second {
					r.Errorf("the start delay is %v, and it was ready %v ago", r.metrics.delay, late)
				}
			})
		})
	}
}
