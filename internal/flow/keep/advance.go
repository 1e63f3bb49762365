package keep

import (
	"context"
	"errors"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
)

const (
	// retryAfter is the pause after an error, and refusedAfter that after a refused transaction, unless a change
	// arrives before. After mostRefused of them in a row, the state is loaded again.
	retryAfter   = time.Second
	refusedAfter = 100 * time.Millisecond
	mostRefused  = 5
	// endEvery is the interval at which started nodes of a flow run that is being ended are asked to end.
	endEvery = 2 * time.Second
	// lookFirst is the interval at which vanished nodes are searched for: a node must have been started during all of
	// it. While nothing changes the interval is doubled, up to lookMost, which also applies to pending approvals.
	lookFirst = 30 * time.Second
	lookMost  = 8 * time.Minute
	// mostBytes bounds the values of a transaction that starts nodes; etcd's default limit is 1.5 MiB.
	mostBytes = 512 << 10
	// mostCompares is etcd's limit of compares of one transaction.
	mostCompares = 128
)

// advance does the next step for a flow run, if there is one and it is this worker's turn.
func (k *Keeper) advance(ctx context.Context, r *kept) {
	now := k.cfg.Now()
	r.wake = time.Time{}
	switch {
	case r.over || r.busy || !r.follows() || now.Before(r.after):
	case r.missing:
		k.abandon(ctx, r)
	case r.state == nil:
		k.load(ctx, r)
	case k.turn(r, now):
		k.act(ctx, r, now)
	default:
		r.idle(now)
	}
}

// turn reports whether this worker may act: at once with rank 0; with rank 1 on work that was pending for some time.
func (k *Keeper) turn(r *kept, now time.Time) bool {
	if r.rank == 0 {
		r.pending = time.Time{}
		return true
	}
	kill := r.run.Kill
	expired := kill == nil && r.expired(now)
	switch {
	case !expired && !r.state.Pending() && len(r.unclaimed(now)) == 0 &&
		(kill == nil || kill.Spare || len(r.stopping()) == 0):
		r.pending, r.changed = time.Time{}, time.Time{}
		return false
	case r.pending.IsZero():
		r.pending = now
		return false
	case now.Sub(r.pending) < takeoverAfter:
		return false
	}
	k.cfg.Metrics.FlowTakeover()
	return true
}

// load reads the definition and the marks.
func (k *Keeper) load(ctx context.Context, r *kept) {
	run := r.run
	r.early, r.lost = nil, false
	k.request(r, func() func() {
		graph, err := k.cfg.Graph(ctx, &run.Head)
		var marks []flow.Mark
		if err == nil {
			marks, err = k.cfg.Store.Marks(ctx, run.Run)
		}
		return func() {
			early := r.early
			r.early = nil
			switch {
			case r.lost:
			case errors.Is(err, flow.ErrDefinition):
				k.cfg.Log.Error("flow_definition_missing", "run", run.Run, "job", run.Job, "error", err)
				r.missing = true
			case err != nil:
				k.failed(r, "load", err)
			default:
				r.state = flow.New(graph, &r.run.Head)
				for _, unknown := range r.state.Load(marks) {
					k.cfg.Log.Error("flow_mark_unknown", "run", run.Run, "node", unknown)
				}
				r.touch(k.cfg.Now())
				for _, mark := range early {
					r.apply(mark, k.cfg.Now(), k.cfg.Log)
				}
				r.waiting = waitingSteps(graph)
			}
		}
	})
}

// waitingSteps returns the steps that wait for an operator, or for fires of a job.
func waitingSteps(graph *flow.Graph) (steps map[string]bool) {
	steps = map[string]bool{}
	for i := range graph.Len() {
		if step := graph.Step(i); step.Approval != nil || step.Wait != nil {
			steps[step.Name] = true
		}
	}
	return steps
}

// failed pauses a flow run after an error.
func (k *Keeper) failed(r *kept, what string, err error) {
	r.after = k.cfg.Now().Add(retryAfter)
	if !errors.Is(err, context.Canceled) {
		k.cfg.Log.Warn("flow_run_waits", "run", r.run.Run, "job", r.run.Job, "call", what, "error", err)
	}
}

// act commits the next transaction of a flow run.
func (k *Keeper) act(ctx context.Context, r *kept, now time.Time) {
	if kill := r.run.Kill; kill == nil && r.expired(now) {
		k.kill(ctx, r, common.ReasonTimeout)
		return
	} else if kill != nil && !kill.Spare && !now.Before(r.endAgain) {
		if nodes := r.stopping(); len(nodes) > 0 {
			r.endAgain = now.Add(endEvery)
			k.end(ctx, r, nodes)
			return
		}
	}
	if due := r.unclaimed(now); len(due) > 0 {
		k.replace(ctx, r, due)
		return
	}
	work := r.state.Next(k.cfg.Most)
	switch {
	case work.Kill != "":
		k.kill(ctx, r, work.Kill)
	case work.Complete != nil:
		k.complete(ctx, r, work.Complete)
	case len(work.Starts) > 0:
		names := make([]string, len(work.Settles))
		for i := range work.Settles {
			names[i] = work.Settles[i].Node
		}
		give(r.state, names)
		k.start(ctx, r, work.Starts)
	case len(work.Settles) > 0:
		k.settle(ctx, r, work.Settles)
	default:
		r.changed = time.Time{}
		k.look(ctx, r, now)
	}
}

// give returns nodes to the engine; without names it would return the kill request and the completion.
func give(state *flow.State, names []string) {
	if len(names) > 0 {
		state.Return(names...)
	}
}

// applied handles the result of a transaction, and reports whether it was committed. undo is called if it was not.
func (k *Keeper) applied(r *kept, what string, done bool, err error, undo func()) bool {
	if err == nil && done {
		return true
	}
	if r.state != nil {
		undo()
	}
	if err != nil {
		k.failed(r, what, err)
		return false
	}
	if !r.fresh {
		r.after = k.cfg.Now().Add(refusedAfter)
	}
	if r.run.Kind == common.KindBackfill { // a fire of the plan goes first
		r.after = k.cfg.Now().Add(retryAfter)
	}
	if r.refused++; r.refused >= mostRefused {
		r.forget()
	}
	return false
}

func (k *Keeper) kill(ctx context.Context, r *kept, code string) {
	run, request := r.run, common.FlowKill{By: "carillon", Code: code, At: k.cfg.Now().UTC()}
	k.request(r, func() func() {
		done, err := k.cfg.Store.Kill(ctx, &run, request)
		return func() { k.applied(r, "kill", done, err, func() { r.state.Return() }) }
	})
}

func (k *Keeper) end(ctx context.Context, r *kept, nodes []flow.View) {
	run := r.run
	k.request(r, func() func() {
		outcomes, err := k.cfg.Store.EndNodes(ctx, &run, nodes)
		return func() {
			if outcomes {
				k.cfg.Outcomes()
			}
			k.applied(r, "end nodes", true, err, func() {})
		}
	})
}

func (k *Keeper) start(ctx context.Context, r *kept, starts []flow.Start) {
	n := fitting(starts)
	give(r.state, namesOf(starts[n:]))
	starts = starts[:n]
	run, since := r.run, r.changed
	if !r.state.Pending() {
		r.changed = time.Time{}
	}
	k.request(r, func() func() {
		done, outcomes, err := k.cfg.Store.Start(ctx, &run, starts)
		return func() {
			if k.applied(r, "start", done, err, func() {
				give(r.state, namesOf(starts))
				r.changed = since
			}) {
				k.cfg.Metrics.FlowBatch(len(starts))
				k.cfg.Metrics.FlowStarted(len(starts), k.cfg.Now().Sub(since))
				if outcomes {
					k.cfg.Outcomes()
				}
			}
		}
	})
}

// fitting returns the number of nodes whose values and compares fit into one transaction; at least one.
func fitting(starts []flow.Start) int {
	size, compared := 0, map[string]bool{} // jobs and maps
	for i := range starts {
		start := &starts[i]
		size += 1024
		for name, value := range start.Params {
			size += len(name) + 2*len(value)
		}
		if start.Step.Job != "" {
			compared["job "+start.Step.Job] = true
		}
		if start.Stops() {
			compared["map "+start.Step.Name] = true
		}
		compares := 1 + (i + 1) + len(compared) // the head, the nodes so far, and these
		if i > 0 && (size > mostBytes || compares > mostCompares) {
			return i
		}
	}
	return len(starts)
}

func namesOf(starts []flow.Start) []string {
	names := make([]string, len(starts))
	for i := range starts {
		names[i] = starts[i].Node
	}
	return names
}

func (k *Keeper) settle(ctx context.Context, r *kept, settles []flow.Settle) {
	run := r.run
	k.request(r, func() func() {
		done, err := k.cfg.Store.Settle(ctx, &run, settles)
		return func() {
			if k.applied(r, "settle", done, err, func() {
				names := make([]string, len(settles))
				for i := range settles {
					names[i] = settles[i].Node
				}
				give(r.state, names)
			}) {
				k.cfg.Outcomes()
			}
		}
	})
}

// complete ends a flow run. Its head is then gone, which a change reports.
func (k *Keeper) complete(ctx context.Context, r *kept, c *flow.Completion) {
	now := k.cfg.Now().UTC()
	run, outcome := r.run, outcomeOf(&r.run, r.state, c, now)
	next, err := r.state.NextAttempt(outcome.Status, now)
	if err != nil {
		k.cfg.Log.Warn("flow_run_not_retried", "run", run.Run, "job", run.Job, "error", err)
		notRetried(&outcome)
	}
	k.request(r, func() func() {
		done, err := k.cfg.Store.Complete(ctx, &run, &outcome, next)
		return func() {
			if done {
				k.cfg.Outcomes()
			}
			k.applied(r, "complete", done, err, func() { r.state.Return() })
		}
	})
}

// look ends steps that wait and whose time is over, and nodes that have vanished from etcd.
func (k *Keeper) look(ctx context.Context, r *kept, now time.Time) {
	for step := range r.waiting {
		if v, known := r.state.Node(step); known && v.Stage == flow.StageStarted && !now.Before(r.expires[step]) {
			k.expire(ctx, r, step)
			return
		}
	}
	if now.Before(r.looked.Add(r.lookEvery)) {
		r.idle(now)
		return
	}
	nodes := r.unchanged(now)
	r.idle(now)
	if len(nodes) == 0 {
		return
	}
	run := r.run
	k.request(r, func() func() {
		ended, err := k.cfg.Store.Vanished(ctx, &run, nodes)
		return func() {
			if len(ended) > 0 {
				k.cfg.Log.Error("flow_nodes_vanished", "run", run.Run, "job", run.Job, "nodes", ended)
				k.cfg.Metrics.FlowVanished(len(ended))
				k.cfg.Outcomes()
			}
			k.applied(r, "look for vanished nodes", true, err, func() {})
		}
	})
}

func (k *Keeper) expire(ctx context.Context, r *kept, step string) {
	run := r.run
	k.request(r, func() func() {
		next, ended, err := k.cfg.Store.Expire(ctx, &run, step)
		return func() {
			if ended {
				k.cfg.Outcomes()
			}
			if r.expires == nil {
				r.expires = map[string]time.Time{}
			}
			r.expires[step] = next
			k.applied(r, "expire", true, err, func() {})
		}
	})
}

// abandon ends a flow run whose definition cannot be read: it ends what runs, and then the flow run.
func (k *Keeper) abandon(ctx context.Context, r *kept) {
	run := r.run
	now := k.cfg.Now().UTC()
	r.after = now.Add(retryAfter)
	k.request(r, func() func() {
		if run.Kill == nil {
			done, err := k.cfg.Store.Kill(ctx, &run,
				common.FlowKill{By: "carillon", Code: common.ReasonDefinitionMissing, At: now})
			return func() { k.applied(r, "kill", done, err, func() {}) }
		}
		marks, err := k.cfg.Store.Marks(ctx, run.Run)
		if err != nil {
			return func() { k.failed(r, "list nodes", err) }
		}
		var nodes []flow.View
		for i := range marks {
			if m := &marks[i]; m.Value.State == common.NodeStarted {
				nodes = append(nodes, flow.View{Node: m.Node, Job: m.Value.Job, Fire: m.Value.Fire,
					Attempt: m.Value.Attempt, Round: m.Value.Round, Revision: m.Revision})
			}
		}
		if len(nodes) > 0 {
			_, err := k.cfg.Store.EndNodes(ctx, &run, nodes)
			return func() {
				k.cfg.Outcomes()
				k.applied(r, "end nodes", true, err, func() {})
			}
		}
		outcome := run.AsRun(common.StatusRefused)
		outcome.EndedAt, outcome.Nodes = &now, &common.NodeCounts{Total: len(marks)}
		outcome.Reason = &common.Reason{Code: common.ReasonDefinitionMissing,
			Text: "the steps of the flow could not be read"}
		done, err := k.cfg.Store.Complete(ctx, &run, &outcome, nil)
		return func() {
			k.cfg.Outcomes()
			k.applied(r, "complete", done, err, func() {})
		}
	})
}
