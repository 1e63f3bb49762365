package view

import (
	"context"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// maxReads bounds how often a job is read again that changes at the same time.
const maxReads = 10

// Authorized calls commit if the caller has a role for a job, or if there is no such job. For a caller with the role in
// some groups only, the group is that of the job as it is stored, and commit gets its version as precondition: if the
// job changes in between, it is read and checked again. The precondition of the caller holds as well.
func Authorized[T any](ctx context.Context, jobs Jobs, need access.Role, name string, pre common.Precondition,
	commit func(common.Precondition) (T, error)) (done T, err error) {
	if pre.Absent || core.May(ctx, need, "") {
		return commit(pre)
	}
	for range maxReads {
		state, err := jobs.Get(ctx, name)
		checked := common.Precondition{Version: state.Version}
		switch {
		case common.CodeOf(err) == common.CodeNotFound:
			checked.Absent = true
		case err != nil && state.Version == 0: // a damaged job has a version, and a group if that can be read
			return done, err
		default:
			if err := core.Allow(ctx, need, state.Group); err != nil {
				return done, err
			}
		}
		if err := pre.Check(name, state.Version); err != nil {
			return done, err
		}
		if done, err = commit(checked); common.CodeOf(err) != common.CodeStale {
			return done, err
		}
	}
	return done, common.Errorf(common.CodeConflict, "job %q changes too fast; try again", name).WithReason("busy")
}

// Triggers requests runs of jobs.
type Triggers interface {
	Jobs
	// Trigger requests a run; a repeated call with the same key returns the same result.
	Trigger(ctx context.Context, actor common.Actor, r common.TriggerRequest) (common.Trigger, error)
}

// Trigger requests a run of a job that the caller may run. With the key of an earlier request it returns that run, if
// the caller has the role in the group that the job had then as well.
func Trigger(ctx context.Context, jobs Triggers, r common.TriggerRequest) (common.Trigger, error) {
	trigger, err := Authorized(ctx, jobs, access.Operator, r.Job, common.Precondition{},
		func(pre common.Precondition) (common.Trigger, error) {
			r.Pre = pre
			return jobs.Trigger(ctx, core.Actor(ctx), r)
		})
	if err == nil {
		err = core.Allow(ctx, access.Operator, trigger.Group)
	}
	return trigger, err
}
