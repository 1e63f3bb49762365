package nodes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/runlog"
)

// Runs reads runs, live and stored ones.
type Runs interface {
	Run(ctx context.Context, id string) (common.Run, error)
	Runs(ctx context.Context, q runlog.Query) (runlog.RunPage, error)
}

// Live reads live flow runs.
type Live interface {
	// FlowRun returns the head of a flow run; found is false if it is not live.
	FlowRun(ctx context.Context, id string) (head common.Head, found bool, err error)
	// Marks returns the marks of its nodes.
	Marks(ctx context.Context, id string) ([]flow.Mark, error)
}

// Definitions reads definitions of flows. The error is flow.ErrDefinition if there is none.
type Definitions interface {
	Load(ctx context.Context, uid, digest string) (*flow.Definition, *flow.Graph, error)
}

// Jobs reads jobs.
type Jobs interface {
	Get(ctx context.Context, name string) (common.JobState, error)
}

// View shows the nodes of flow runs.
type View struct {
	runs        Runs
	live        Live
	definitions Definitions
	jobs        Jobs
	now         func() time.Time
}

// New returns a view. now is the wall clock.
func New(runs Runs, live Live, definitions Definitions, jobs Jobs, now func() time.Time) *View {
	return &View{runs: runs, live: live, definitions: definitions, jobs: jobs, now: now}
}

// Found are the nodes of a flow run, in the order of its definition, each map followed by its items.
type Found struct {
	Run     common.Run
	Nodes   []Node
	Partial bool // the log store is away: nodes that have ended may be missing, or have no times
}

// tries bounds how often a flow run is read again that ends while it is read.
const tries = 3

// Of returns the nodes of a flow run. Its error has the reason no_flow if the run is not one of a flow, not_started if
// it waits for its start, and never_started if it ended without one.
func (v *View) Of(ctx context.Context, id string) (Found, error) { return v.reader().of(ctx, id) }

// reader reads flow runs, each of those that have ended once. It is used by one goroutine.
type reader struct {
	*View
	known map[string]*past // by id; nil while it is being read
	read  int              // runs of nodes of earlier flow runs
}

func (v *View) reader() *reader { return &reader{View: v, known: map[string]*past{}} }

func (r *reader) of(ctx context.Context, id string) (Found, error) {
	for range tries {
		run, err := r.runs.Run(ctx, id)
		if err != nil {
			return Found{}, err
		}
		if run.Digest == "" || run.Status.Terminal() && run.ClaimedAt == nil {
			return Found{}, r.none(ctx, &run)
		}
		found, known, err := r.nodes(ctx, &run)
		if err != nil || known {
			return found, err
		}
	}
	return Found{}, common.Errorf(common.CodeUnavailable, "the flow run is changing").WithReason("busy")
}

// none returns why a run has no nodes.
func (r *reader) none(ctx context.Context, run *common.Run) error {
	id, because := common.Shorten(run.ID), ""
	if run.Reason != nil && run.Reason.Text != "" {
		because = ": " + run.Reason.Text
	}
	switch {
	case run.Status.Terminal() && run.ClaimedAt == nil:
		return common.Errorf(common.CodeConflict, "run %q never started, and has no nodes%s", id, because).
			WithReason("never_started").WithHint("its status shows how it ended")
	case run.Status == common.StatusWaiting:
		job, err := r.jobs.Get(ctx, run.Job)
		switch {
		case err != nil && common.CodeOf(err) != common.CodeNotFound:
			return err
		case err == nil && job.BeginsFlowRuns():
			return common.Errorf(common.CodeConflict, "flow run %q has not started%s", id, because).
				WithReason("not_started").WithHint("its nodes are listed once it has started")
		}
	}
	return common.Errorf(common.CodeConflict, "run %q is not a run of a flow", id).WithReason("no_flow").
		WithHint("only runs of jobs with steps or runOn have nodes")
}

// nodes returns the nodes of a flow run; known is false if it is no longer live although the run is.
func (r *reader) nodes(ctx context.Context, run *common.Run) (found Found, known bool, err error) {
	if run.Status.Terminal() {
		p, err := r.past(ctx, run)
		if err != nil {
			return Found{Run: *run}, true, err
		}
		return p.Found, true, nil
	}
	found.Run = *run
	head, known, err := r.live.FlowRun(ctx, run.ID)
	if err != nil || !known {
		return found, known, err
	}
	marks, err := r.live.Marks(ctx, run.ID)
	if err != nil {
		return found, true, err
	}
	// The runs are read after the marks: the run of a node that has ended is found.
	byNode, partial, err := r.byNode(ctx, run.ID)
	found.Partial = partial
	if err != nil {
		return found, true, err
	}
	_, graph, err := r.definitions.Load(ctx, run.JobUID, run.Digest)
	switch {
	case errors.Is(err, flow.ErrDefinition):
		found.Nodes = unordered(byNode, r.now())
		return found, true, nil
	case err != nil:
		return found, true, err
	}
	b := builder{graph: graph, state: flow.New(graph, &head), head: &head, live: true, runs: byNode, now: r.now()}
	b.state.Load(marks)
	earlier, err := r.earlier(ctx, head.Base)
	if err != nil {
		return found, true, err
	}
	found.Nodes, found.Partial = b.nodes(earlier), partial || earlier != nil && earlier.Partial
	return found, true, nil
}

// byNode returns the runs of the nodes of a flow run, the first attempt first.
func (r *reader) byNode(ctx context.Context, id string) (byNode map[string][]common.Run, partial bool, err error) {
	page, err := r.runs.Runs(ctx, runlog.Query{FlowRun: id})
	if err != nil {
		return nil, false, err
	}
	byNode = map[string][]common.Run{}
	for _, run := range page.Runs {
		byNode[run.Flow.Node] = append(byNode[run.Flow.Node], run)
	}
	for _, of := range byNode {
		slices.SortFunc(of, func(a, b common.Run) int { return a.Attempt - b.Attempt })
	}
	return byNode, page.Partial, nil
}

// unordered returns the nodes that have runs, in the order of their names: the definition is not known.
func unordered(byNode map[string][]common.Run, now time.Time) (all []Node) {
	for name, runs := range byNode {
		n := Node{Node: name, Step: runs[0].Step()}
		if _, item, err := common.SplitNode(name); err == nil && item >= 0 {
			n.Item = &item
		}
		n.ran(runs, now)
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b Node) int { return strings.Compare(a.Node, b.Node) })
	for i := range all {
		all[i].at = i
	}
	return all
}
