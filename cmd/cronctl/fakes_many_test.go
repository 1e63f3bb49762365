package main

import (
	"context"
	"encoding/json"
	"reflect"

	"carillon/internal/common"
)

// What is done with many jobs at once, and with parts of one.

func (f *fakes) Apply(ctx context.Context, a common.Actor, job common.Job, pre common.Precondition,
	dry bool) (common.Saved, error) {
	checked, faults, _ := f.Validate(ctx, job)
	stored := checked.Job
	if len(faults) > 0 {
		return common.Saved{}, common.Invalid("the job is not valid", faults...)
	}
	saved := common.Saved{
		Effect: common.EffectCreated,
		State:  common.JobState{StoredJob: common.StoredJob{Job: stored}},
	}
	if old, err := f.Get(ctx, job.Name); err == nil {
		saved.Effect, saved.Before = common.EffectChanged, &old.Job
		before, _ := json.Marshal(old.Job)
		if after, _ := json.Marshal(stored); string(before) == string(after) {
			saved.Effect, saved.State = common.EffectUnchanged, old
			return saved, nil
		}
	}
	if dry {
		return saved, nil
	}
	var err error
	saved.State, _, err = f.Put(ctx, a, job, pre)
	return saved, err
}

func (f *fakes) CreateOnce(ctx context.Context, a common.Actor, job common.Job, _ string) (common.JobState, error) {
	return f.Create(ctx, a, job)
}

func (f *fakes) Change(ctx context.Context, a common.Actor, _, name string, pre common.Precondition,
	change func(common.Job) (common.Job, error)) (common.JobState, error) {
	old, err := f.Get(ctx, name)
	if err != nil {
		return common.JobState{}, err
	}
	job, err := change(old.Job)
	if err != nil {
		return common.JobState{}, err
	}
	if reflect.DeepEqual(job, old.Job) { // a job without differences keeps its version
		return old, nil
	}
	state, _, err := f.Put(ctx, a, job, pre)
	return state, err
}

func (f *fakes) Preview(ctx context.Context, name string, _ common.Precondition,
	change func(common.Job) (common.Job, error)) (common.Saved, error) {
	old, err := f.Get(ctx, name)
	if err != nil {
		return common.Saved{}, err
	}
	job, err := change(old.Job)
	if err != nil {
		return common.Saved{}, err
	}
	if faults := job.Faults(); len(faults) > 0 {
		return common.Saved{}, common.Invalid("the job cannot be saved", faults...)
	}
	saved := common.Saved{Effect: common.EffectUnchanged, Before: &old.Job, State: old}
	if !common.Same(&job, &old.Job) {
		saved.Effect, saved.State.Job = common.EffectChanged, job
	}
	return saved, nil
}

func (f *fakes) Once(context.Context, common.Actor, string, string) error { return nil }

func (f *fakes) OpenRuns(context.Context) (open []common.Run, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, run := range f.runs {
		if !run.Status.Terminal() {
			open = append(open, *run)
		}
	}
	return open, nil
}

func (f *fakes) Replicas(_ context.Context, job, uid string) (found []common.Run, move *common.Move, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, run := range f.runs {
		if run.Job == job && run.JobUID == uid && run.Replica() != "" && !run.Status.Terminal() {
			found = append(found, *run)
		}
	}
	return found, f.moving, nil
}

func (f *fakes) Title(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs[name].Title
}
