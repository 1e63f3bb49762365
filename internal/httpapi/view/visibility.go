package view

import (
	"context"
	"maps"
	"strings"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/runlog"
)

// All authenticated callers see that jobs and runs exist, and their status. Definitions, parameters
// and output are visible to callers with a role in the job's group.

// Groups returns the groups of jobs.
type Groups interface {
	// UIDAndGroup returns the uid and group of a job from this process's memory; "" if there is no such
	// job. known is false if it is unknown.
	UIDAndGroup(name string) (uid, group string, known bool)
	// Title returns the current title of a job from the same memory; "" without a title or a job.
	Title(name string) string
}

// Jobs reads a job from etcd.
type Jobs interface {
	Get(ctx context.Context, name string) (common.JobState, error)
}

// MayRun reports whether the caller has a role for a run. A run has the group that its job had
// then; while that job exists, its current group counts as well.
func MayRun(ctx context.Context, jobs Groups, need access.Role, run *common.Run) bool {
	return MayOf(ctx, jobs, need, run.Job, run.JobUID, run.Group)
}

// MayOf is MayRun for a run or fire of a job.
func MayOf(ctx context.Context, jobs Groups, need access.Role, job, jobUID, groupThen string) bool {
	who, ok := core.Identity(ctx)
	switch {
	case !ok || !who.May(need, groupThen):
		return false
	case who.Role.Includes(need):
		return true
	}
	uid, group, known := jobs.UIDAndGroup(common.JobOf(job))
	return known && (uid != jobUID || who.May(need, group))
}

// AllowRun returns an error if MayRun is false. It reads the job from etcd: for single objects, a
// change of the group takes effect at once.
func AllowRun(ctx context.Context, jobs Jobs, need access.Role, run *common.Run) error {
	if core.May(ctx, need, "") {
		return nil
	}
	if err := core.Allow(ctx, need, run.Group); err != nil {
		return err
	}
	uid, group, err := Standing(ctx, jobs, common.JobOf(run.Job))
	if err != nil || uid != run.JobUID {
		return err
	}
	return core.Allow(ctx, need, group)
}

// Standing returns the uid and group of a job from etcd; "" if there is none.
func Standing(ctx context.Context, jobs Jobs, name string) (uid, group string, err error) {
	state, err := jobs.Get(ctx, name)
	switch {
	case err == nil:
		return state.UID, state.Group, nil
	case common.CodeOf(err) == common.CodeNotFound:
		return "", "", nil
	case common.CodeOf(err) == common.CodeInternal: // unreadable
		return "", "", errGroupUnknown()
	}
	return "", "", err
}

func errGroupUnknown() error {
	return common.Errorf(common.CodeUnavailable, "the job's group is currently unknown").WithReason("group_unknown").
		WithHint("retry in a few seconds")
}

// HideRun removes from a run what requires a role in its group.
func HideRun(r *common.Run) {
	r.Params, r.Outputs, r.Note, r.Reason = nil, nil, "", HiddenReason(r.Status, r.Reason)
	if r.Forced != nil {
		shown := *r.Forced
		shown.Note = ""
		r.Forced = &shown
	}
	if r.Ending != nil {
		shown := *r.Ending
		shown.Note = ""
		r.Ending = &shown
	}
}

// WithoutRecords removes what a run keeps for the program alone, up to 90 KiB: what a re-run keeps and accepts, which
// its nodes show, and the fires of a backfill, which that shows.
func WithoutRecords(r *common.Run) {
	r.Base, r.Accepted, r.Backfill = nil, nil, nil
}

// ShownText returns the text by which callers find a run, with or without access to all of it.
func ShownText(r *common.Run, all bool) string {
	if all {
		return runlog.TextOf(r)
	}
	shown := *r
	HideRun(&shown)
	if shown.Reason != r.Reason {
		shown.Reason = nil // the shown replacement is not searched
	}
	return runlog.TextOf(&shown)
}

// HiddenReason returns only the code of a reason from a worker or user: its text may contain parts
// of the job, such as the path of a program, the question of an approval, or a note.
func HiddenReason(status common.Status, r *common.Reason) *common.Reason {
	if r == nil {
		return nil
	}
	shown := &common.Reason{Code: r.Code, Text: strings.ReplaceAll(r.Code, "_", " ")}
	switch status {
	case common.StatusPlanned, common.StatusWaiting, common.StatusRunning, common.StatusSkipped, common.StatusMissed:
		if r.Data["note"] == "" && r.Data["text"] == "" {
			return r
		}
		shown.Data = maps.Clone(r.Data)
		delete(shown.Data, "note")
		delete(shown.Data, "text")
	}
	return shown
}
