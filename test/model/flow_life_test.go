package model

import (
	"context"
	"fmt"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/dispatch"
	"carillon/internal/flow"
	flowetcd "carillon/internal/flow/etcd"
	"carillon/internal/flow/keep"
	"carillon/internal/scheduler"
	"carillon/internal/scheduler/placement"
)

// mostNodes is the number of nodes of one transaction: small, so that flow runs need several.
const mostNodes = 3

// flowRuns are the parts of a life that flows need.
type flowRuns struct {
	store  *flowetcd.Store
	bodies *flowetcd.Bodies
	keeper *keep.Keeper
	steps  *dispatch.Steps // used by the follower of triggers
	heads  func(whole bool, put []common.FlowRun, gone []string)
	marks  func(run string, mark flow.Mark)
}

func (l *life) newFlowRuns(client *clientv3.Client) *flowRuns {
	if l.world.flows == nil {
		return nil
	}
	f := &flowRuns{
		store:  flowetcd.New(client, l.id.Worker, l.wall, l.chains.Parent),
		bodies: flowetcd.NewBodies(client),
	}
	f.steps = dispatch.NewSteps(f.graph, l.world.log)
	f.keeper = keep.New(keep.Config{
		Store: l.world.mutation.ofStore(f.store),
		Graph: func(ctx context.Context, head *common.Head) (*flow.Graph, error) {
			if head.Kind != common.KindBackfill {
				return f.graph(ctx, head.UID, head.Digest)
			}
			graph, _, err := flow.Backfill(head)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", flow.ErrDefinition, err)
			}
			return graph, nil
		},
		Candidates: func() ([]placement.Candidate, uint64) {
			members, generation := l.Members()
			return slices.DeleteFunc(placement.Candidates(members), func(c placement.Candidate) bool {
				return !slices.Contains(c.Features, common.FeatureFlows)
			}), generation
		},
		Held:     l.gate.Check,
		Alive:    func() {},
		Outcomes: l.rouse,
		Worker:   l.id.Worker,
		Most:     mostNodes,

		MostUnclaimed: mostNodes,
		Now:           l.wall,
		Log:           l.world.log,
		Metrics:       deaf{},
	})
	f.heads = l.world.mutation.ofHeads(f.keeper.Heads)
	f.marks = l.world.mutation.ofMarks(f.keeper.Mark)
	return f
}

func (f *flowRuns) graph(ctx context.Context, uid, digest string) (*flow.Graph, error) {
	_, graph, err := f.bodies.Load(ctx, uid, digest)
	return graph, err
}

// parts are what a life runs for flows.
func (f *flowRuns) parts(ctx context.Context) []func() {
	if f == nil {
		return nil
	}
	quiet := func(error) {}
	return []func(){
		func() { _ = f.keeper.Run(ctx) },
		func() { _ = f.store.FollowHeads(ctx, quiet, f.heads) },
		func() { _ = f.store.FollowMarks(ctx, quiet, f.keeper.Listening, f.marks) },
	}
}

// define adds the definitions of inline steps to triggers.
func (f *flowRuns) define(ctx context.Context, triggers []scheduler.Trigger) {
	if f != nil {
		f.steps.Define(ctx, triggers)
	}
}

// triggers sends triggers to the keeper.
func (f *flowRuns) triggers(u *scheduler.Triggers) {
	if f == nil {
		return
	}
	var put []keep.Trigger
	for i := range u.Put {
		put = append(put, keep.Trigger{Trigger: u.Put[i].Trigger, Revision: u.Put[i].Revision})
	}
	gone := make([]keep.TriggerKey, len(u.Gone))
	for i, key := range u.Gone {
		gone[i] = keep.TriggerKey(key)
	}
	f.keeper.Triggers(u.Whole, put, gone)
}

// backfilled reports whether a backfill of a job goes on.
func (f *flowRuns) backfilled(job string) bool { return f != nil && f.keeper.Backfilled(job) }

func (deaf) FlowRuns(int, int)              {}
func (deaf) FlowBatch(int)                  {}
func (deaf) FlowStarted(int, time.Duration) {}
func (deaf) FlowTakeover()                  {}
func (deaf) FlowVanished(int)               {}
