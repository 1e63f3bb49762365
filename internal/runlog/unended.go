package runlog

import (
	"context"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/rollup"
)

// Open reads the runs that have not ended.
type Open interface {
	OpenRuns(ctx context.Context) ([]common.Run, error)
}

// Unended returns statistics that do not count a fire before its last attempt has ended, as the ledger does: a
// failed attempt whose retry waits or runs is not the outcome of its fire. While open cannot be read, such a fire
// counts by its last attempt that ended. Rows of all jobs leave out nodes of flow runs, as the ledger of all jobs does.
// Rows of single workers are not changed: they count attempts.
func Unended(counted Statistics, open Open) Statistics { return unended{counted, open} }

type unended struct {
	counted Statistics
	open    Open
}

// retries returns the open runs that follow another attempt. It is called after the store was read: a run that ends in
// between is not counted twice.
func (u unended) retries(ctx context.Context, wanted func(r *common.Run, hour time.Time) bool) ([]common.Run, error) {
	runs, err := u.open.OpenRuns(ctx)
	if err != nil {
		return nil, ctx.Err()
	}
	return slices.DeleteFunc(runs, func(r common.Run) bool {
		return r.Follows() == "" || !wanted(&r, rollup.HourOf(r.PlannedAt))
	}), nil
}

// Rollups returns the rows of the store, and one for each open retry.
func (u unended) Rollups(ctx context.Context, q RollupQuery) ([]rollup.Row, error) {
	rows, err := u.counted.Rollups(ctx, q)
	if err != nil || q.Workers {
		return rows, err
	}
	for i := range rows {
		if q.Job == "" {
			rows[i].Cell = rows[i].Cell.WithoutNodes()
		}
	}
	bucket := func(r *common.Run) time.Time {
		if q.Days {
			return rollup.DayOf(r.PlannedAt)
		}
		return rollup.HourOf(r.PlannedAt)
	}
	retries, err := u.retries(ctx, func(r *common.Run, _ time.Time) bool {
		at := bucket(r)
		return (q.Job == "" && !common.OfNode(r.ID) || r.Job == q.Job) && !at.Before(q.From) && at.Before(q.To)
	})
	if err != nil || len(retries) == 0 {
		return rows, err
	}
	for i := range retries {
		row := rollup.Row{At: bucket(&retries[i]), Job: q.Job}
		row.Cell.AddOpen(&retries[i])
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b rollup.Row) int { return a.At.Compare(b.At) })
	return rows, nil
}

// Totals returns those of the store, with the open retries of the jobs.
func (u unended) Totals(ctx context.Context, jobs []string, from, to time.Time) (map[string]rollup.Cell, error) {
	totals, err := u.counted.Totals(ctx, jobs, from, to)
	if err != nil || len(totals) == 0 {
		return totals, err
	}
	retries, err := u.retries(ctx, func(r *common.Run, hour time.Time) bool {
		_, counted := totals[r.Job] // a job without any has no outcome that would not be one
		return counted && !hour.Before(from) && hour.Before(to)
	})
	for i := range retries {
		cell := totals[retries[i].Job]
		cell.AddOpen(&retries[i])
		totals[retries[i].Job] = cell
	}
	return totals, err
}
