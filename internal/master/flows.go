package master

import (
	"context"

	"carillon/internal/common"
	flowetcd "carillon/internal/flow/etcd"
	"carillon/internal/jobmgr/live"
)

// flowRuns reads live flow runs.
type flowRuns struct {
	*live.Runs
	*flowetcd.MarkReader
}

// inlineOf returns the function that returns the job of a node of an inline step.
func inlineOf(bodies *flowetcd.Bodies) func(context.Context, *common.FlowNode) (common.Job, bool) {
	return func(ctx context.Context, of *common.FlowNode) (common.Job, bool) {
		_, graph, err := bodies.Load(ctx, of.UID, of.Digest)
		if err != nil {
			return common.Job{}, false
		}
		step, _, err := common.SplitNode(of.Node)
		if err != nil {
			return common.Job{}, false
		}
		job, err := graph.Inline(step)
		return job, err == nil
	}
}
