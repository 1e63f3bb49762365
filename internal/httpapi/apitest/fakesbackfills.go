package apitest

import (
	"context"
	"time"

	"carillon/internal/common"
)

func (f *Fakes) PlanBackfill(ctx context.Context, job string, _ common.BackfillRequest,
	_ func(context.Context, *common.JobState, time.Time, time.Time) (common.BackfillPast, error),
) (plan common.BackfillPlan, err error) {
	_, err = f.Get(ctx, job)
	return plan, err
}

func (f *Fakes) Backfill(ctx context.Context, _ common.Actor, job string, _ common.BackfillRequest,
	_ common.Precondition,
	_ func(context.Context, *common.JobState, time.Time, time.Time) (common.BackfillPast, error),
) (plan common.BackfillPlan, head common.Head, err error) {
	_, err = f.Get(ctx, job)
	return plan, head, err
}

func (f *Fakes) Backfills(context.Context, string) ([]common.Backfill, error) { return nil, nil }

func (f *Fakes) LiveBackfill(context.Context, string) (*common.Backfill, error) { return nil, nil }

func (f *Fakes) ActOnBackfill(context.Context, common.Actor, string, common.BackfillAction, string) error {
	return nil
}
