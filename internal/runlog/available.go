package runlog

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/rollup"
)

// Available is a log store for callers that need an error at once, rather than wait, while it is away.
type Available struct {
	Reader
	Statistics
	Chained
	Definitions Definitions
	Samples     Usages
	Away        func() bool
}

func ifThere[T any](a *Available, read func() (T, error)) (found T, err error) {
	if a.Away() {
		return found, &common.Error{
			Code:    common.CodeUnavailable,
			Message: "the log store does not respond",
			Hint:    "retry: its availability is checked every few seconds",
		}
	}
	return read()
}

// Run implements Reader, as do the following methods.
func (a *Available) Run(ctx context.Context, id string) (common.Run, error) {
	return ifThere(a, func() (common.Run, error) { return a.Reader.Run(ctx, id) })
}

func (a *Available) Runs(ctx context.Context, q Query) (Found, error) {
	return ifThere(a, func() (Found, error) { return a.Reader.Runs(ctx, q) })
}

func (a *Available) Last(ctx context.Context, jobs []string, n int) (map[string][]common.Run, error) {
	return ifThere(a, func() (map[string][]common.Run, error) { return a.Reader.Last(ctx, jobs, n) })
}

func (a *Available) Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error) {
	return ifThere(a, func() ([]common.Chunk, error) { return a.Reader.Output(ctx, run, offset, limit) })
}

func (a *Available) Changes(ctx context.Context, q ChangeQuery) ([]common.Change, error) {
	return ifThere(a, func() ([]common.Change, error) { return a.Reader.Changes(ctx, q) })
}

// Sealed implements Chained.
func (a *Available) Sealed(ctx context.Context, after int64, limit int) ([]common.Change, error) {
	return ifThere(a, func() ([]common.Change, error) { return a.Chained.Sealed(ctx, after, limit) })
}

// Rollups implements Statistics, as does Totals.
func (a *Available) Rollups(ctx context.Context, q RollupQuery) ([]rollup.Row, error) {
	return ifThere(a, func() ([]rollup.Row, error) { return a.Statistics.Rollups(ctx, q) })
}

func (a *Available) Totals(ctx context.Context, jobs []string, from, to time.Time) (map[string]rollup.Cell, error) {
	return ifThere(a, func() (map[string]rollup.Cell, error) { return a.Statistics.Totals(ctx, jobs, from, to) })
}

// Usage implements Usages.
func (a *Available) Usage(ctx context.Context, run string) (common.Usage, error) {
	return ifThere(a, func() (common.Usage, error) { return a.Samples.Usage(ctx, run) })
}
