package jobmgr

import (
	"context"
	"errors"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// Apply does what Put does, and also returns the previous state. A dry run checks the job in the same way and
// writes nothing; the state that it returns has no version.
func (s *Store) Apply(ctx context.Context, actor common.Actor, job common.Job, pre common.Precondition,
	dry bool) (common.Saved, error) {
	p, faults, err := s.prepare(ctx, job)
	if err != nil {
		return common.Saved{}, err
	}
	if refusedFor(faults) {
		return common.Saved{}, refused(faults)
	}
	d, err := define(p)
	if err != nil {
		return common.Saved{}, err
	}
	// A job that is probably new is created without a read: if it exists, its creation fails.
	isNew := !dry && len(faults) == 0 && pre.Version == 0 && (pre.Absent || !s.cfg.Catalog.Has(job.Name))
	var saved common.Saved
	state, err := s.update(ctx, job.Name, func(t *etcdkit.Txn) (state common.JobState, err error) {
		if isNew {
			isNew = false
			// The catalog may lag behind: if the creation is refused, which adds no writes to t, the job may exist.
			if saved, err = s.save(ctx, t, actor, &d, values{}, dry); err == nil {
				return saved.State, nil
			}
		}
		was, err := s.read(ctx, job.Name)
		if err != nil {
			return state, err
		}
		if len(faults) > 0 && !was.hasTimetable(&p.job) {
			return state, refused(faults)
		}
		if err := was.check(job.Name, pre); err != nil {
			return state, err
		}
		saved, err = s.save(ctx, t, actor, &d, was, dry)
		return saved.State, err
	})
	if err != nil {
		return common.Saved{}, err
	}
	saved.State = state
	return saved, nil
}

// save adds the creation of a job, or its replacement as it was read.
func (s *Store) save(ctx context.Context, t *etcdkit.Txn, actor common.Actor, d *definition, was values,
	dry bool) (saved common.Saved, err error) {
	wanted := common.JobState{StoredJob: common.StoredJob{Job: d.whole(), Inherited: d.inherited}}
	if was.job == nil {
		saved = common.Saved{Effect: common.EffectCreated, State: wanted}
		if !dry {
			saved.State, err = s.create(ctx, t, actor, d, nil)
		}
		return saved, err
	}
	old, err := was.state()
	if err != nil {
		return saved, err
	}
	before := storedDefinition(&old.StoredJob)
	intact, err := s.intact(ctx, &old.StoredJob)
	if err != nil {
		return saved, err
	}
	saved = common.Saved{Effect: common.EffectChanged, Before: &old.Job, State: old}
	if intact && d.isSame(&before) {
		saved.Effect = common.EffectUnchanged
		return saved, nil
	}
	if dry {
		saved.State = wanted
		return saved, nil
	}
	if err := s.room(); err != nil {
		return saved, err
	}
	if err := s.within(d, &before); err != nil {
		return saved, err
	}
	saved.State, err = s.replace(ctx, t, actor, "replace", d.over(&before, intact), was)
	return saved, err
}

// intact adds the steps of a flow, and reports whether its body is stored as a whole.
func (s *Store) intact(ctx context.Context, old *common.StoredJob) (bool, error) {
	if old.Flow == nil && old.Job.IsFlow() {
		return false, nil
	}
	err := s.Complete(ctx, old)
	if errors.Is(err, flow.ErrDefinition) {
		return false, nil // it is saved again
	}
	if err != nil || !old.HasBody() {
		return err == nil, err
	}
	return s.cfg.Bodies.Has(ctx, old.UID, old.Flow.Digest, old.Flow.Parts)
}

// Change replaces an existing job by the result of change, which gets the job without what it inherits. The result is
// validated as a whole. change is called again after a conflict with another writer; if it returns an error, the job
// stays as it is.
func (s *Store) Change(ctx context.Context, actor common.Actor, verb, name string, pre common.Precondition,
	change func(common.Job) (common.Job, error)) (common.JobState, error) {
	return s.edit(ctx, actor, verb, name, pre, func(old *common.StoredJob) (definition, error) {
		return s.changed(ctx, old, verb, change)
	})
}

// changed returns the definition of a job after a change, which it checks; old gets the steps of a flow.
func (s *Store) changed(ctx context.Context, old *common.StoredJob, verb string,
	change func(common.Job) (common.Job, error)) (definition, error) {
	before, name := storedDefinition(old), old.Name
	if err := s.Complete(ctx, old); err != nil && verb != "rollback" {
		return definition{}, err
	}
	own, _ := old.Own()
	job, err := change(own)
	if err != nil {
		return definition{}, err
	}
	p, faults, err := s.prepare(ctx, job)
	if err != nil {
		return definition{}, err
	}
	if job.Name != name {
		faults.Add("name", "mismatch", job.Name, "must not change: a job cannot be renamed")
	}
	if refusedFor(faults) || len(faults) > 0 && timetableChanged(&old.Job, &p.job) {
		return definition{}, refused(faults)
	}
	if err := s.room(); err != nil {
		return definition{}, err
	}
	d, err := define(p)
	if err != nil {
		return d, err
	}
	return d, s.within(&d, &before)
}

// Preview returns what Change would do, and writes nothing. The state that it returns has the version of the job that
// would be changed.
func (s *Store) Preview(ctx context.Context, name string, pre common.Precondition,
	change func(common.Job) (common.Job, error)) (saved common.Saved, err error) {
	was, err := s.read(ctx, name)
	if err != nil {
		return saved, err
	}
	if was.job == nil {
		return saved, notFound(name)
	}
	if err := was.check(name, pre); err != nil {
		return saved, err
	}
	old, err := was.state()
	if err != nil {
		return saved, err
	}
	before := storedDefinition(&old.StoredJob)
	d, err := s.changed(ctx, &old.StoredJob, "patch", change)
	if err != nil {
		return saved, err
	}
	saved = common.Saved{Effect: common.EffectUnchanged, Before: &old.Job, State: old}
	if !d.isSame(&before) {
		saved.Effect, saved.State.Job, saved.State.Inherited = common.EffectChanged, d.whole(), d.inherited
	}
	return saved, nil
}

// edit replaces an existing job by the result of change, which gets it without the steps of a flow.
func (s *Store) edit(ctx context.Context, actor common.Actor, verb, name string, pre common.Precondition,
	change func(*common.StoredJob) (definition, error)) (common.JobState, error) {
	return s.update(ctx, name, func(t *etcdkit.Txn) (common.JobState, error) {
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
		before := storedDefinition(&old.StoredJob)
		d, err := change(&old.StoredJob)
		if err != nil {
			return common.JobState{}, err
		}
		intact := true
		if len(d.parts) > 0 {
			if intact, err = s.intact(ctx, &old.StoredJob); err != nil {
				return common.JobState{}, err
			}
		}
		if intact && d.isSame(&before) {
			return old, nil
		}
		return s.replace(ctx, t, actor, verb, d.over(&before, intact), was)
	})
}
