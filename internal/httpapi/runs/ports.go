package runs

import (
	"context"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog"
	"carillon/internal/runlog/tail"
)

// The ports of this package. Errors are *common.Error.

// Jobs reads jobs, and triggers and kills their runs.
type Jobs interface {
	view.Triggers
	view.Groups
	// Kill creates a kill request for a run: CodeNotFound if there is none, CodeConflict if it has
	// ended.
	Kill(ctx context.Context, actor common.Actor, run string, r common.KillRequest) error
	// RetryNode starts a node of class failure of a live flow run again.
	RetryNode(ctx context.Context, actor common.Actor, r common.NodeRetry) (common.Trigger, error)
	// Acknowledge records that a failed fire needs no further attention, or with undo that it does again.
	Acknowledge(ctx context.Context, actor common.Actor, fire string, state runlog.AckState, undo bool) error
}

// Store reads runs, including pending and current ones.
type Store interface {
	Run(ctx context.Context, id string) (common.Run, error)
	Runs(ctx context.Context, q runlog.Query) (runlog.RunPage, error)
	// Fires lists the ledger, and planned fires after q.Now.
	Fires(ctx context.Context, q runlog.FireQuery) (runlog.FirePage, error)
	Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error)
}

// Nodes reads the nodes of flow runs.
type Nodes interface {
	// Replan plans the re-run of a flow run that has ended, with the definition that has the digest. Failed steps that
	// ran flow runs go on from these, unless restart is set.
	Replan(ctx context.Context, run *common.Run, scope flow.Scope, digest string, restart bool) (*flow.Plan, error)
	// Continue returns how a flow run of a step that has ended goes on from its failures; nil if it starts from the
	// beginning.
	Continue(ctx context.Context, run string) (*common.Nested, error)
}

// Following follows the output of runs and waits for their ends; client identifies the caller.
type Following interface {
	Follow(ctx context.Context, run string, from tail.Place, client string) (*tail.Follower, error)
	Reserve(client string) (*tail.Wait, error)
}

// Workers reads workers.
type Workers interface {
	// Workers lists live workers, and those with settings only, whose Lease is zero.
	Workers(ctx context.Context) ([]common.Member, error)
}
