package nodes

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Grid shows the last flow runs of a job, step by step, or one of its maps, item by item.
type Grid struct {
	Steps   []GridStep `json:"steps" nullable:"false" doc:"In the order of the newest definition; then those that only earlier flow runs had. With step: the items of that map."`
	Runs    []GridRun  `json:"runs" nullable:"false" doc:"The newest first. Fewer than requested if they have more than 50,000 nodes in total."`
	Partial bool       `json:"partial,omitempty" doc:"The log store is away: only live flow runs are listed."`
}

// GridStep is a step of a flow, or an item of a map.
type GridStep struct {
	Name  string `json:"name" doc:"Name of the step; of an item that of its node, such as load@00003."`
	Title string `json:"title,omitempty"`
}

// GridRun is a flow run in a grid. Its cells are in lists of numbers, since there may be 50,000 of them: an object for
// each would be several times as long.
type GridRun struct {
	ID        string             `json:"id"`
	PlannedAt time.Time          `json:"plannedAt"`
	StartedAt *time.Time         `json:"startedAt,omitempty"`
	EndedAt   *time.Time         `json:"endedAt,omitempty"`
	Attempt   int                `json:"attempt"`
	Status    common.Status      `json:"status" enum:"waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed"`
	Digest    string             `json:"digest" doc:"Identifies the definition of its steps."`
	Statuses  []common.Status    `json:"statuses" nullable:"false" enum:",pending,waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed" doc:"Of each step of the grid, in its order; empty if the flow run has no such step."`
	Began     []int64            `json:"began,omitempty" nullable:"false" doc:"When each step started, in milliseconds after startedAt; -1: it has not, or was kept. Steps beyond the end of the list have not."`
	Took      []int64            `json:"took,omitempty" nullable:"false" doc:"How long each step took, in milliseconds; -1: it has not started or not ended, or was kept. Steps beyond the end of the list have not ended."`
	Attempts  map[int]int        `json:"attempts,omitempty" doc:"By the index of the step: the number of its last attempt, if that is not the first."`
	Items     map[int]ItemCounts `json:"items,omitempty" doc:"By the index of the step: the numbers of the items of a map."`
	Kept      []int              `json:"kept,omitempty" nullable:"false" doc:"Indexes of the steps that were kept from an earlier flow run: their status is that of then."`
}

// maxCells bounds the nodes that are read for a grid.
const maxCells = 50_000

// Grid returns the n last flow runs of a job: their steps or, with the name of a map, its items.
func (v *View) Grid(ctx context.Context, job, step string, n int) (Grid, error) {
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
		grid.add(&found, step, columns)
	}
	for i := range grid.Runs { // steps that only other flow runs have
		statuses := grid.Runs[i].Statuses
		grid.Runs[i].Statuses = append(statuses, make([]common.Status, len(grid.Steps)-len(statuses))...)
	}
	return grid, nil
}

func (g *Grid) add(found *Found, step string, columns map[string]int) {
	r := &found.Run
	row := GridRun{ID: r.ID, PlannedAt: r.PlannedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt, Attempt: r.Attempt,
		Status: r.Status, Digest: r.Digest, Statuses: make([]common.Status, len(g.Steps))}
	for i := range found.Nodes {
		node := &found.Nodes[i]
		if (node.Item != nil) != (step != "") || step != "" && node.Step != step {
			continue
		}
		at, known := columns[node.Node]
		if !known {
			at = len(g.Steps)
			columns[node.Node] = at
			g.Steps = append(g.Steps, GridStep{Name: node.Node, Title: node.Title})
			row.Statuses = append(row.Statuses, "")
		}
		row.set(at, node)
	}
	g.Runs = append(g.Runs, row)
}

// set fills a cell. What a kept node did belongs to the flow run in which it ran.
func (r *GridRun) set(at int, node *Node) {
	r.Statuses[at] = node.Status
	if node.Kept {
		r.Kept = append(r.Kept, at)
		return
	}
	if node.Attempt > 1 {
		put(&r.Attempts, at, node.Attempt)
	}
	if node.Items != nil {
		put(&r.Items, at, *node.Items)
	}
	if node.StartedAt == nil || r.StartedAt == nil {
		return
	}
	r.Began = fill(r.Began, at, node.StartedAt.Sub(*r.StartedAt))
	if node.EndedAt != nil {
		r.Took = fill(r.Took, at, node.EndedAt.Sub(*node.StartedAt))
	}
}

func put[V any](all *map[int]V, at int, value V) {
	if *all == nil {
		*all = map[int]V{}
	}
	(*all)[at] = value
}

// fill sets a number of a list, which it extends with -1. Clocks of workers may differ.
func fill(all []int64, at int, d time.Duration) []int64 {
	for len(all) <= at {
		all = append(all, -1)
	}
	all[at] = max(0, d.Milliseconds())
	return all
}
