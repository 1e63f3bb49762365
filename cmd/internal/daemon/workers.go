package daemon

import (
	"context"

	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/httpapi/jobs"
	"carillon/internal/scheduler/placement"
)

// workers provides the workers to the API.
type workers struct {
	settings *members.Settings
	members  *members.Members
}

// Workers reads the workers from etcd, so that a caller sees its own changes.
func (w workers) Workers(ctx context.Context) ([]common.Member, error) {
	return w.settings.Workers(ctx)
}

func (w workers) UpdateWorker(ctx context.Context, actor common.Actor, id string,
	change func(*common.WorkerSettings) error) (common.WorkerSettings, error) {
	return w.settings.Update(ctx, actor, id, change)
}

// Placement returns the workers that are eligible for a job now, by rank.
func (w workers) Placement(ctx context.Context, job *common.StoredJob) ([]jobs.Candidate, *common.Reason, error) {
	all, err := w.settings.Workers(ctx)
	if err != nil {
		return nil, nil, err
	}
	alive := all[:0]
	for i := range all {
		if all[i].Lease != 0 {
			alive = append(alive, all[i])
		}
	}
	wish, err := wishOf(job)
	if err != nil {
		return nil, nil, err
	}
	verdicts := placement.Explain(&wish, placement.Candidates(alive))
	items := make([]jobs.Candidate, len(verdicts))
	for i := range verdicts {
		v := &verdicts[i]
		items[i] = jobs.Candidate{Worker: v.ID, Name: v.Name, Eligible: v.Eligible, Reason: v.Reason}
		if v.Eligible {
			items[i].Rank = new(v.Rank)
		}
	}
	if len(items) > 0 && items[0].Eligible {
		return items, nil, nil
	}
	return items, new(placement.Unplaced(verdicts)), nil
}

// unplaced returns why no worker is eligible for a job, as far as is known here; nil if one is.
func (w workers) unplaced(job *common.StoredJob) *common.Reason {
	snapshot := w.members.Snapshot()
	if snapshot == nil || snapshot.Generation == 0 {
		return nil
	}
	wish, err := wishOf(job)
	if err != nil {
		return nil
	}
	reason := placement.Why(&wish, placement.Candidates(snapshot.Members))
	if reason.Code == common.ReasonStarting {
		return nil
	}
	return &reason
}

// wishOf returns the placement requirements of a job.
func wishOf(job *common.StoredJob) (placement.Wish, error) {
	terms := job.Terms()
	wish := placement.Wish{Job: job.Name, Slots: terms.Slots, Strategy: terms.Strategy, Needs: job.MustHave()}
	if job.Placement != nil {
		wish.Workers = job.Placement.Workers
	}
	selector, err := placement.ParseSelector(terms.Selector)
	wish.Selector = selector
	return wish, err
}
