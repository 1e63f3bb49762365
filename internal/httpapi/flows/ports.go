package flows

import (
	"context"

	"carillon/internal/common"
	"carillon/internal/flow/nodes"
	"carillon/internal/httpapi/view"
)

// The ports of this package. Errors are *common.Error.

// Jobs changes live flow runs.
type Jobs interface {
	view.Jobs
	view.Groups
	// PauseRun pauses or resumes a flow run.
	PauseRun(ctx context.Context, actor common.Actor, run string, paused bool, note string) error
	// Answer approves or rejects the step of a flow run that waits for it. may reports whether the caller is one of
	// those who may answer; it is called with nil if nothing waits.
	Answer(ctx context.Context, actor common.Actor, run string, answer common.Answer,
		may func(*common.FlowWait) error) error
	// Approvals returns the approvals that wait for an operator, the oldest first.
	Approvals(ctx context.Context) ([]common.FlowWait, error)
}

// Runs reads runs.
type Runs interface {
	Run(ctx context.Context, id string) (common.Run, error)
}

// Nodes reads the nodes of flow runs.
type Nodes interface {
	Of(ctx context.Context, run string) (nodes.Found, error)
	Grid(ctx context.Context, job, step string, n int) (nodes.Grid, error)
}
