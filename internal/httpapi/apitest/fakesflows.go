package apitest

import (
	"context"
	"fmt"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/flow/nodes"
)

func (f *Fakes) PauseRun(ctx context.Context, _ common.Actor, run string, paused bool, note string) error {
	if _, err := f.Run(ctx, run); err != nil {
		return err
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Paused == nil {
		f.Paused = map[string]bool{}
	}
	f.Paused[run] = paused
	f.Notes = append(f.Notes, note)
	return nil
}

func (f *Fakes) Answer(_ context.Context, _ common.Actor, run string, answer common.Answer,
	may func(*common.FlowWait) error) error {
	f.Mu.Lock()
	waits := f.Waits
	f.Mu.Unlock()
	for i := range waits {
		if w := &waits[i]; w.Flow.Run == run && w.Flow.Node == answer.Step {
			if err := may(w); err != nil {
				return err
			}
			f.Mu.Lock()
			defer f.Mu.Unlock()
			f.Answers = append(f.Answers, fmt.Sprint(run, " ", answer.Step, " ", answer.Approve, " ", answer.Note))
			return nil
		}
	}
	if err := may(nil); err != nil {
		return err
	}
	return common.Errorf(common.CodeConflict, "step %q does not wait for an approval", answer.Step).
		WithReason("no_approval")
}

func (f *Fakes) RetryNode(ctx context.Context, _ common.Actor, r common.NodeRetry) (common.Trigger, error) {
	if _, err := f.Run(ctx, r.Run); err != nil {
		return common.Trigger{}, err
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Continued, r.Continue = r.Continue != nil, nil
	f.Retries = append(f.Retries, r)
	return common.Trigger{Fire: common.NodeFire("uid", r.Run, r.Node), Attempt: 2}, f.Fail
}

func (f *Fakes) Approvals(context.Context) ([]common.FlowWait, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.Waits, f.Fail
}

func (f *Fakes) nodesOf(ctx context.Context, run string) (nodes.Found, error) {
	if found, known := f.FlowOf[run]; known {
		return found, nil
	}
	if _, err := f.Run(ctx, run); err != nil {
		return nodes.Found{}, err
	}
	return nodes.Found{}, common.Errorf(common.CodeConflict, "run %q is not a run of a flow", run).WithReason("no_flow")
}

var restartOf = map[bool]string{true: " restart"}

// Continue returns nothing: no step ran a flow.
func (n Nodes) Continue(context.Context, string) (*common.Nested, error) { return nil, n.Fail }

// Replan returns the plan that the test has put there.
func (n Nodes) Replan(_ context.Context, run *common.Run, scope flow.Scope, digest string,
	restart bool) (*flow.Plan, error) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	asked := fmt.Sprint(run.ID, " ", scope.Kind, " ", scope.Steps, " ", digest, restartOf[restart])
	n.Replans = append(n.Replans, asked)
	n.Scopes = append(n.Scopes, scope)
	plan := n.Plan
	plan.Base = &common.Base{Run: run.ID}
	return &plan, n.Fail
}

// Nodes reads nodes of flow runs, in memory.
type Nodes struct{ *Fakes }

func (n Nodes) Of(ctx context.Context, run string) (nodes.Found, error) { return n.nodesOf(ctx, run) }

func (n Nodes) Grid(ctx context.Context, job, _ string, _ int) (nodes.Grid, error) {
	grid := nodes.Grid{Steps: []nodes.GridStep{}, Runs: []nodes.GridRun{}}
	for id, found := range n.FlowOf {
		if found.Run.Job != job {
			continue
		}
		row := nodes.GridRun{ID: id, Status: found.Run.Status, Digest: found.Run.Digest, Attempt: 1}
		for _, node := range found.Nodes {
			grid.Steps = append(grid.Steps, nodes.GridStep{Name: node.Step, Title: node.Title})
			row.Statuses = append(row.Statuses, node.Status)
		}
		grid.Runs = append(grid.Runs, row)
	}
	return grid, nil
}
