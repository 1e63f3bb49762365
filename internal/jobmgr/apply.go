package jobmgr

import (
	"context"

	"carillon/internal/common"
)

// Apply does what Put does, and also returns the previous state. A dry run checks the job in the same way and
// writes nothing; the state that it returns has no version.
func (s *Store) Apply(ctx context.Context, actor common.Actor, job common.Job, pre common.Precondition,
	dry bool) (common.Saved, error) {
	job, faults, err := s.prepare(ctx, job)
	if err != nil {
		return common.Saved{}, err
	}
	if refusedFor(faults) {
		return common.Saved{}, refused(faults)
	}
	// A job that is probably new is created without a read: if it exists, its creation fails.
	likelyNew := !dry && len(faults) == 0 && pre.Version == 0 && (pre.Absent || !s.cfg.Catalog.Has(job.Name)) &&
		s.mayMove() == nil
	if likelyNew {
		saved, done, err := s.save(ctx, actor, job, values{}, false)
		if err != nil || done {
			return saved, err
		}
	}
	for try := range tries {
		was, err := s.read(ctx, job.Name)
		if err != nil {
			return common.Saved{}, err
		}
		if len(faults) > 0 && !was.hasTimetable(&job) {
			return common.Saved{}, refused(faults)
		}
		if err := was.check(job.Name, pre); err != nil {
			return common.Saved{}, err
		}
		saved, done, err := s.save(ctx, actor, job, was, dry)
		if err != nil || done {
			return saved, err
		}
		if err := again(ctx, try); err != nil {
			return common.Saved{}, err
		}
	}
	return common.Saved{}, busy(job.Name)
}

// save replaces the job as it was read, if it is unchanged.
func (s *Store) save(ctx context.Context, actor common.Actor, job common.Job, was values, dry bool) (common.Saved,
	bool, error) {
	if was.job == nil {
		saved := common.Saved{
			Effect: common.EffectCreated,
			State:  common.JobState{StoredJob: common.StoredJob{Job: job}},
		}
		if dry {
			return saved, true, nil
		}
		var done bool
		var err error
		saved.State, done, err = s.create(ctx, actor, job, nil)
		return saved, done, err
	}
	old, err := was.state()
	if err != nil {
		return common.Saved{}, false, err
	}
	saved := common.Saved{Effect: common.EffectChanged, Before: &old.Job, State: old}
	if same(&job, &old.Job) {
		saved.Effect = common.EffectUnchanged
		return saved, true, nil
	}
	if dry {
		saved.State = common.JobState{StoredJob: common.StoredJob{Job: job}}
		return saved, true, nil
	}
	if err := s.room(); err != nil {
		return common.Saved{}, false, err
	}
	if err := s.within(&job, &old.Job); err != nil {
		return common.Saved{}, false, err
	}
	var done bool
	saved.State, done, err = s.replace(ctx, actor, "replace", job, was)
	return saved, done, err
}

// Change replaces an existing job by the result of change, which is validated as a whole. change is called
// again after a conflict with another writer; if it returns an error, the job stays as it is.
func (s *Store) Change(ctx context.Context, actor common.Actor, verb, name string, pre common.Precondition,
	change func(common.Job) (common.Job, error)) (common.JobState, error) {
	for try := range tries {
		was, err := s.read(ctx, name)
		if err != nil {
			return common.JobState{}, err
		}
		if was.job == nil {
			return common.JobState{}, notFound(name)
		}
		if err := was.check(name, pre); err != nil {
			return common.JobState{}, err
		}
		old, err := was.state()
		if err != nil {
			return common.JobState{}, err
		}
		job, err := change(old.Job)
		if err != nil {
			return common.JobState{}, err
		}
		job, faults, err := s.prepare(ctx, job)
		if err != nil {
			return common.JobState{}, err
		}
		if job.Name != name {
			faults = append(faults, common.Fault{
				Location: "name",
				Code:     "mismatch",
				Message:  "must not change: a job cannot be renamed",
				Value:    common.Excerpt(job.Name),
			})
		}
		if refusedFor(faults) || len(faults) > 0 && timetableChanged(&old.Job, &job) {
			return common.JobState{}, refused(faults)
		}
		if err := s.room(); err != nil {
			return common.JobState{}, err
		}
		if err := s.within(&job, &old.Job); err != nil {
			return common.JobState{}, err
		}
		state, done, err := s.replace(ctx, actor, verb, job, was)
		if err != nil || done {
			return state, err
		}
		if err := again(ctx, try); err != nil {
			return common.JobState{}, err
		}
	}
	return common.JobState{}, busy(name)
}
