package worker

import (
	"context"
	"fmt"
	"slices"

	"carillon/internal/common"
	"carillon/internal/dispatch"
	"carillon/internal/flow"
	flowetcd "carillon/internal/flow/etcd"
	"carillon/internal/flow/keep"
	"carillon/internal/joblock"
	"carillon/internal/platform/wallclock"
	"carillon/internal/scheduler"
	"carillon/internal/scheduler/placement"
)

// newKeeper returns the keeper of a worker's flow runs.
func (w *Worker) newKeeper() *keep.Keeper {
	return keep.New(keep.Config{
		Store:         w.flows,
		Graph:         w.graphOf,
		Candidates:    w.keepers,
		Held:          w.cluster.wentBack,
		Alive:         w.loops.Loop("flow_keeper").Alive,
		Outcomes:      w.sink.Outcomes,
		Worker:        w.cfg.Life.Worker,
		Most:          flowetcd.MostStarts,
		MostUnclaimed: flowetcd.MostUnclaimed,
		Now:           wallclock.Now,
		Log:           w.cfg.Log,
		Metrics:       w.metrics,
	})
}

// keepers returns the live workers that keep flow runs.
func (w *Worker) keepers() ([]placement.Candidate, uint64) {
	members, generation := w.cluster.Members()
	all := placement.Candidates(members)
	return slices.DeleteFunc(all, func(c placement.Candidate) bool {
		return !slices.Contains(c.Features, common.FeatureFlows)
	}), generation
}

func (w *Worker) graph(ctx context.Context, uid, digest string) (*flow.Graph, error) {
	_, graph, err := w.bodies.Load(ctx, uid, digest)
	return graph, err
}

// graphOf returns the definition of a flow run.
func (w *Worker) graphOf(ctx context.Context, head *common.Head) (*flow.Graph, error) {
	if head.Kind != common.KindBackfill {
		return w.graph(ctx, head.UID, head.Digest)
	}
	graph, _, err := flow.Backfill(head)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", flow.ErrDefinition, err)
	}
	return graph, nil
}

// followFlowRuns follows the heads of all flow runs.
func (w *Worker) followFlowRuns(ctx context.Context) error {
	return w.flows.FollowHeads(ctx, w.loops.ReportOf("flow_runs"),
		func(whole bool, put []common.FlowRun, gone []string) {
			w.flowLoad.Heads(whole, put, gone)
			w.keep.Heads(whole, put, gone)
		})
}

// followFlowNodes follows the marks of all nodes.
func (w *Worker) followFlowNodes(ctx context.Context) error {
	return w.flows.FollowMarks(ctx, w.loops.ReportOf("flow_nodes"), w.keep.Listening, w.keep.Mark)
}

// followTriggers sends triggers to the scheduler, those of inline steps of flows with their definitions, and to the
// keeper of jobs that run after others.
func (w *Worker) followTriggers(ctx context.Context) error {
	steps := dispatch.NewSteps(w.graph, w.cfg.Log)
	return joblock.FollowTriggers(ctx, w.cfg.Etcd, w.loops.ReportOf("triggers"),
		func(ctx context.Context, news scheduler.Triggers) error {
			if err := w.chains.Triggers(ctx, news); err != nil {
				return err
			}
			w.keepTriggers(&news)
			steps.Define(ctx, news.Put)
			return w.loop.Triggers(ctx, news)
		})
}

// keepTriggers sends triggers to the keeper of flow runs, which replaces workers that do not claim them.
func (w *Worker) keepTriggers(news *scheduler.Triggers) {
	put := make([]keep.Trigger, 0, len(news.Put))
	for i := range news.Put {
		put = append(put, keep.Trigger{Trigger: news.Put[i].Trigger, Revision: news.Put[i].Revision})
	}
	gone := make([]keep.TriggerKey, len(news.Gone))
	for i, key := range news.Gone {
		gone[i] = keep.TriggerKey(key)
	}
	w.keep.Triggers(news.Whole, put, gone)
}
