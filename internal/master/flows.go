package master

import (
	"context"
	"time"

	"carillon/internal/common"
	flowetcd "carillon/internal/flow/etcd"
	"carillon/internal/flow/waits"
	"carillon/internal/jobmgr/live"
	"carillon/internal/runlog"
)

// flowRuns reads live flow runs.
type flowRuns struct {
	*live.Runs
	*flowetcd.MarkReader
}

// endsOf returns the function that reads the last attempts of the fires of a job.
func endsOf(view *runlog.View) waits.Past {
	return func(ctx context.Context, job *common.JobState, from, to time.Time, most int) (map[int64]*common.Run,
		error) {
		return runlog.Ends(ctx, view, job, from, to, most)
	}
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
