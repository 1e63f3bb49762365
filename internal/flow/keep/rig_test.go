package keep

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/scheduler/placement"
)

// world is an etcd of flow runs in memory, with the keepers that follow it.
type world struct {
	old   map[string]bool // workers of an earlier version
	t     *testing.T
	graph *flow.Graph

	mu       sync.Mutex
	revision int64
	heads    map[string]common.FlowRun
	marks    map[string]map[string]flow.Mark // by flow run and node
	waits    map[string]time.Time            // deadlines of pending approvals, by node
	nexts    []*common.Trigger               // of the flow runs that have ended; nil: none
	outcomes []common.Run
	starts   []string        // nodes, in order
	batches  []int           // nodes of each transaction that started some
	delays   []time.Duration // from ready to started, node by node
	ended    []string        // started nodes that were asked to end
	searches int             // for vanished nodes
	triggers map[string]Trigger
	replaced []string // workers, and what followed
	holds    bool     // triggers wait until a test claims them
	keepers  map[string]*Keeper
	away     map[string]bool // workers whose transactions are not answered
	alive    map[string]int  // rounds that a keeper has reported

	outputs map[string]string // of each node
	// run ends a started node, unless it is nil.
	run func(node string) (status common.Status, after time.Duration)
}

func newWorld(t *testing.T, job *common.Job) *world {
	job.Name = "f"
	graph, err := flow.Compile(job)
	if err != nil {
		t.Fatal(err)
	}
	return &world{
		t:       t,
		graph:   graph,
		heads:   map[string]common.FlowRun{},
		marks:   map[string]map[string]flow.Mark{},
		waits:   map[string]time.Time{},
		keepers: map[string]*Keeper{},
		away:    map[string]bool{},
		alive:   map[string]int{},

		triggers: map[string]Trigger{},
		run:      func(string) (common.Status, time.Duration) { return common.StatusSucceeded, time.Second },
	}
}

// chain returns a flow whose steps follow each other.
func chain(steps ...string) *common.Job {
	job := &common.Job{}
	for i, name := range steps {
		step := common.Step{Name: name, Command: "true"}
		if i > 0 {
			step.After = []common.Edge{{Step: steps[i-1]}}
		}
		job.Steps = append(job.Steps, step)
	}
	return job
}

// counted holds what the keepers have measured.
type counted struct{ *world }

func (counted) FlowRuns(int, int) {}
func (counted) FlowBatch(int)     {}
func (counted) FlowTakeover()     {}
func (counted) FlowVanished(int)  {}

func (c counted) FlowStarted(nodes int, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range nodes {
		c.delays = append(c.delays, after)
	}
}

// keepers starts the keepers of workers, until the test ends.
func (w *world) keep(workers ...string) {
	var candidates []placement.Candidate
	for _, id := range workers {
		features := []string{common.FeatureFlows}
		if !w.old[id] {
			features = append(features, common.FeatureValues)
		}
		candidates = append(candidates, placement.Candidate{ID: id, Features: features})
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	var all sync.WaitGroup
	for _, id := range workers {
		k := New(Config{
			Store:      port{w, id},
			Graph:      func(context.Context, *common.Head) (*flow.Graph, error) { return w.graph, nil },
			Candidates: func() ([]placement.Candidate, uint64) { return candidates, 1 },
			Held:       func() error { return nil },
			Alive: func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.alive[id]++
			},
			Outcomes: func() {},
			Worker:   id,
			Most:     60,

			MostUnclaimed: 30,
			Now:           time.Now,
			Log:           slog.New(slog.DiscardHandler),
			Metrics:       counted{w},
		})
		w.mu.Lock()
		w.keepers[id] = k
		heads := slices.Collect(maps.Values(w.heads))
		w.mu.Unlock()
		all.Go(func() { _ = k.Run(ctx) })
		k.Listening()
		k.Heads(true, heads, nil)
	}
	w.t.Cleanup(func() {
		cancel()
		all.Wait()
	})
}

// keeper returns the worker of a rank for a flow run.
func (w *world) keeper(run string, rank int) string {
	var candidates []placement.Candidate
	for id := range w.keepers {
		candidates = append(candidates, placement.Candidate{ID: id})
	}
	for id := range w.keepers {
		if placement.SettleRank(run, candidates, id) == rank {
			return id
		}
	}
	w.t.Fatalf("no worker has rank %d", rank)
	return ""
}

// begin begins a flow run.
func (w *world) begin(change func(*common.Head)) string {
	head := common.Head{Kind: common.KindFlow, Run: "u.1.1", Fire: "u.1", Attempt: 1, Job: "f", UID: "u",
		ClaimedAt: time.Now()}
	if change != nil {
		change(&head)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revision++
	w.putHead(common.FlowRun{Head: head, Created: w.revision, Revision: w.revision})
	return head.Run
}

// request changes the head of a flow run, as an operator does.
func (w *world) request(run string, change func(*common.Head)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	head := w.heads[run]
	change(&head.Head)
	w.revision++
	head.Revision = w.revision
	w.putHead(head)
}

// putHead stores a head and reports it. The caller holds mu.
func (w *world) putHead(head common.FlowRun) {
	w.heads[head.Run] = head
	for _, k := range w.keepers {
		go k.Heads(false, []common.FlowRun{head}, nil)
	}
}

// mark stores a mark and reports it. The caller holds mu.
func (w *world) mark(run, node string, value common.Node) {
	if w.marks[run] == nil {
		w.marks[run] = map[string]flow.Mark{}
	}
	w.revision++
	mark := flow.Mark{Node: node, Value: value, Revision: w.revision}
	w.marks[run][node] = mark
	for id, k := range w.keepers {
		if !w.away[id] {
			go k.Mark(run, mark)
		}
	}
}

// end ends a node that was started.
func (w *world) end(run, node string, status common.Status, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.marks[run][node].Value
	if was.State != common.NodeStarted {
		return
	}
	was.Outputs = w.outputs
	was.State, was.Status, was.Reason, was.Class = common.NodeEnded, status, reason, common.ClassOf(status, reason)
	w.mark(run, node, was)
}

// started returns the nodes that were started, in order.
func (w *world) started() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.starts, " ")
}

// statuses returns how the nodes of a flow run have ended: "a succeeded, b skipped upstream_failed".
func (w *world) statuses(run string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for node, mark := range w.marks[run] {
		all = append(all, strings.TrimSpace(fmt.Sprintln(node, mark.Value.Status, mark.Value.Reason)))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// outcome returns the outcome of a flow run; nil if it has not ended.
func (w *world) outcome(run string) *common.Run {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.outcomes {
		if w.outcomes[i].ID == run {
			return &w.outcomes[i]
		}
	}
	return nil
}

// port is the store of one keeper.
type port struct {
	*world
	worker string
}

// reach waits as a request does, and fails while the worker cannot reach etcd.
func (p port) reach(ctx context.Context) error {
	time.Sleep(time.Millisecond)
	p.mu.Lock()
	away := p.away[p.worker]
	p.mu.Unlock()
	if away {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return nil
}

func (p port) Marks(ctx context.Context, run string) ([]flow.Mark, error) {
	if err := p.reach(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Values(p.marks[run])), nil
}

// same reports whether a head is the stored one. The caller holds mu.
func (p port) same(run *common.FlowRun) bool {
	head, live := p.heads[run.Run]
	return live && head.Revision == run.Revision
}

func (p port) Start(ctx context.Context, run *common.FlowRun, starts []flow.Start) (done, outcomes bool, err error) {
	if err := p.reach(ctx); err != nil {
		return false, false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range starts {
		if _, marked := p.marks[run.Run][starts[i].Node]; marked || !p.same(run) {
			return false, false, nil
		}
	}
	p.batches = append(p.batches, len(starts))
	for i := range starts {
		node := starts[i].Node
		p.starts = append(p.starts, node)
		if starts[i].Step.Join {
			p.mark(run.Run, node, common.Node{State: common.NodeEnded, Round: starts[i].Round, Attempt: 1,
				Status: common.StatusSucceeded, Class: common.ClassSuccess})
			outcomes = true
			continue
		}
		p.mark(run.Run, node, common.Node{State: common.NodeStarted, Round: starts[i].Round, Attempt: 1,
			Job: "f:" + node, Fire: common.NodeFire("u", run.Run, node)})
		if a := starts[i].Step.Approval; a != nil {
			p.waits[node] = time.Now().Add(a.Limit())
			continue
		}
		if p.holds {
			of := run.Node(node, 1, "u")
			fire := common.NodeFire("u", run.Run, node)
			assigned, _ := run.Spread.Worker(starts[i].Item)
			p.putTrigger(common.Trigger{ID: common.RunID(fire, 1), Job: "f:worker", Fire: fire, Attempt: 1, Flow: of,
				Worker: assigned.ID, NotBefore: time.Now()})
		}
		if status, after := p.run(node); status != "" {
			time.AfterFunc(after, func() { p.end(run.Run, node, status, "") })
		}
	}
	return true, outcomes, nil
}

func (p port) Settle(ctx context.Context, run *common.FlowRun, settles []flow.Settle) (bool, error) {
	if err := p.reach(ctx); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range settles {
		if _, marked := p.marks[run.Run][settles[i].Node]; marked || !p.same(run) {
			return false, nil
		}
	}
	for i := range settles {
		p.mark(run.Run, settles[i].Node, settles[i].Mark)
	}
	return true, nil
}

func (p port) Complete(ctx context.Context, run *common.FlowRun, outcome *common.Run,
	next *common.Trigger) (bool, error) {
	if err := p.reach(ctx); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.same(run) {
		return false, nil
	}
	delete(p.heads, run.Run)
	p.outcomes = append(p.outcomes, *outcome)
	p.nexts = append(p.nexts, next)
	for _, k := range p.keepers {
		go k.Heads(false, nil, []string{run.Run})
	}
	return true, nil
}

func (p port) Kill(ctx context.Context, run *common.FlowRun, kill common.FlowKill) (bool, error) {
	if err := p.reach(ctx); err != nil {
		return false, err
	}
	p.mu.Lock()
	same := p.same(run)
	p.mu.Unlock()
	if same {
		p.request(run.Run, func(h *common.Head) { h.Kill = &kill })
	}
	return same, nil
}

func (p port) EndNodes(ctx context.Context, run *common.FlowRun, nodes []flow.View) (bool, error) {
	if err := p.reach(ctx); err != nil {
		return false, err
	}
	for i := range nodes {
		p.mu.Lock()
		p.ended = append(p.ended, nodes[i].Node)
		p.mu.Unlock()
		p.end(run.Run, nodes[i].Node, common.StatusKilled, "")
	}
	return false, nil
}

func (p port) Expire(ctx context.Context, run *common.FlowRun, step string) (next time.Time, ended bool, err error) {
	if err := p.reach(ctx); err != nil {
		return next, false, err
	}
	p.mu.Lock()
	next = p.waits[step]
	p.mu.Unlock()
	if time.Now().Before(next) {
		return next, false, nil
	}
	p.end(run.Run, step, common.StatusTimedOut, common.ReasonTimeout)
	return next, true, nil
}

func (p port) Vanished(ctx context.Context, run *common.FlowRun, nodes []flow.View) (ended []string, err error) {
	if err := p.reach(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.searches++
	p.mu.Unlock()
	for i := range nodes {
		if status, _ := p.run(nodes[i].Node); status == "" && !p.holds {
			p.end(run.Run, nodes[i].Node, common.StatusLost, common.ReasonVanished)
			ended = append(ended, nodes[i].Node)
		}
	}
	return ended, nil
}

func (p port) Sweep(context.Context, func(string) bool) (bool, error) { return false, nil }
