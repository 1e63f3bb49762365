package nodes

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Grid shows the last flow runs of a job, step by step.
type Grid struct {
	Steps   []GridStep `json:"steps" nullable:"false" doc:"In the order of the newest definition; then those that only earlier flow runs had."`
	Runs    []GridRun  `json:"runs" nullable:"false" doc:"The newest first. Fewer than requested if they have more than 50,000 nodes in total."`
	Partial bool       `json:"partial,omitempty" doc:"The log store is away: only live flow runs are listed."`
}

// GridStep is a step of a flow.
type GridStep struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
}

// GridRun is a flow run in a grid.
type GridRun struct {
	ID        string          `json:"id"`
	PlannedAt time.Time       `json:"plannedAt"`
	StartedAt *time.Time      `json:"startedAt,omitempty"`
	EndedAt   *time.Time      `json:"endedAt,omitempty"`
	Attempt   int             `json:"attempt"`
	Status    common.Status   `json:"status" enum:"waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed"`
	Digest    string          `json:"digest" doc:"Identifies the definition of its steps."`
	Statuses  []common.Status `json:"statuses" nullable:"false" enum:",pending,waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed" doc:"Of each step of the grid, in its order; empty if the flow run has no such step."`
	Kept      []int           `json:"kept,omitempty" nullable:"false" doc:"Indexes of the steps that were kept from an earlier flow run: their status is that of then."`
}

// maxCells bounds the nodes that are read for a grid.
const maxCells = 50_000

// Grid returns the n last flow runs of a job.
func (v *View) Grid(ctx context.Context, job string, n int) (Grid, error) {
	grid := Grid{Steps: []GridStep{}, Runs: []GridRun{}}
	// Fires that did not run have no nodes.
	page, err := v.runs.Runs(ctx, runlog.Query{Job: job, Limit: 2 * n})
	if err != nil {
		return grid, err
	}
	grid.Partial = page.Partial
	columns, reader := map[string]int{}, v.reader() // indexes of steps
	read := 0
	for i := range page.Runs {
		if page.Runs[i].Digest == "" || page.Runs[i].ClaimedAt == nil {
			continue
		}
		if len(grid.Runs) == n || read > maxCells {
			break
		}
		found, err := reader.of(ctx, page.Runs[i].ID)
		if common.CodeOf(err) == common.CodeNotFound { // it was deleted meanwhile
			continue
		}
		if err != nil {
			return grid, err
		}
		read += len(found.Nodes)
		grid.Partial = grid.Partial || found.Partial
		grid.add(&found, columns)
	}
	for i := range grid.Runs { // steps that only other flow runs have
		statuses := grid.Runs[i].Statuses
		grid.Runs[i].Statuses = append(statuses, make([]common.Status, len(grid.Steps)-len(statuses))...)
	}
	return grid, nil
}

func (g *Grid) add(found *Found, columns map[string]int) {
	r := &found.Run
	row := GridRun{ID: r.ID, PlannedAt: r.PlannedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt, Attempt: r.Attempt,
		Status: r.Status, Digest: r.Digest, Statuses: make([]common.Status, len(g.Steps))}
	for i := range found.Nodes {
		node := &found.Nodes[i]
		if node.Item != nil {
			continue
		}
		at, known := columns[node.Step]
		if !known {
			at = len(g.Steps)
			columns[node.Step] = at
			g.Steps = append(g.Steps, GridStep{Name: node.Step, Title: node.Title})
			row.Statuses = append(row.Statuses, "")
		}
		row.Statuses[at] = node.Status
		if node.Kept {
			row.Kept = append(row.Kept, at)
		}
	}
	g.Runs = append(g.Runs, row)
}
