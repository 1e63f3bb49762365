package httpapi

import (
	"context"
	"maps"
	"strings"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Whoever is logged in sees that jobs and runs are there and how they fare. What a job is made
// of, and what its runs were given and printed, is for those who have a role in its group.

// jobGroups tells in which groups jobs are.
type jobGroups interface {
	Whose(name string) (uid, group string, known bool)
}

// mayRun tells whether the one who asks may do what needs a role with a run. It has the group
// that its job had then, and as long as that job is there, the group of the job counts as well.
func mayRun(ctx context.Context, jobs jobGroups, need auth.Role, run *common.Run) bool {
	return mayOf(ctx, jobs, need, run.Job, run.JobUID, run.Group)
}

func mayOf(ctx context.Context, jobs jobGroups, need auth.Role, job, jobUID, groupThen string) bool {
	who, ok := identity(ctx)
	switch {
	case !ok || !who.May(need, groupThen):
		return false
	case who.Role.Includes(need):
		return true
	}
	uid, group, known := jobs.Whose(job)
	return known && (uid != jobUID || who.May(need, group))
}

// allowRun refuses what mayRun does not allow. It looks at the job as it stands: where one thing is
// asked for, nobody is shown what became another's a moment ago.
func allowRun(ctx context.Context, jobs Jobs, need auth.Role, run *common.Run) error {
	if may(ctx, need, "") {
		return nil
	}
	if err := allow(ctx, need, run.Group); err != nil {
		return err
	}
	uid, group, err := standing(ctx, jobs, run.Job)
	if err != nil || uid != run.JobUID {
		return err
	}
	return allow(ctx, need, group)
}

// standing tells the uid and the group of a job as it stands; "" where there is none.
func standing(ctx context.Context, jobs Jobs, name string) (uid, group string, err error) {
	state, err := jobs.Get(ctx, name)
	switch {
	case err == nil:
		return state.UID, state.Group, nil
	case common.CodeOf(err) == common.CodeNotFound:
		return "", "", nil
	case common.CodeOf(err) == common.CodeInternal: // it cannot be read
		return "", "", errGroupUnknown()
	}
	return "", "", err
}

func errGroupUnknown() error {
	return &common.Error{Code: common.CodeUnavailable, Reason: "group_unknown", Message: "it is not known just now in which group the job is", Hint: "try again in a moment"}
}

// allowNow is allow for a group that is looked at when a change is decided.
func allowNow(ctx context.Context, need auth.Role) func(group string) error {
	return func(group string) error { return allow(ctx, need, group) }
}

// hide leaves out of a job what only those may see who have a role in its group.
func (j *Job) hide() {
	j.Command, j.Args, j.Stdin, j.Env, j.Params = "", nil, "", nil, nil
	j.WorkDir, j.User, j.Description, j.PauseNote = "", "", "", ""
	j.Meta.Hidden = true
}

// hideRun likewise.
func hideRun(r *common.Run) {
	r.Params, r.Note, r.Reason = nil, "", hiddenReason(r.Status, r.Reason)
	if r.Ending != nil {
		shown := *r.Ending
		shown.Note = ""
		r.Ending = &shown
	}
}

// shownText is the text by which those find a run who may see all of it, or not.
func shownText(r *common.Run, all bool) string {
	if all {
		return runlog.TextOf(r)
	}
	shown := *r
	hideRun(&shown)
	if shown.Reason != r.Reason {
		shown.Reason = nil // what is shown in its place was never searched
	}
	return runlog.TextOf(&shown)
}

// hiddenReason leaves of a worker's reason, or of one that somebody gave, what it is: the rest may hold words of the job,
// such as the path of a program, or a note, as of a pause.
func hiddenReason(status common.Status, r *common.Reason) *common.Reason {
	if r == nil {
		return nil
	}
	shown := &common.Reason{Code: r.Code, Text: strings.ReplaceAll(r.Code, "_", " ")}
	switch status {
	case common.StatusPlanned, common.StatusWaiting, common.StatusRunning, common.StatusSkipped, common.StatusMissed:
		if r.Data["note"] == "" {
			return r
		}
		shown.Data = maps.Clone(r.Data)
		delete(shown.Data, "note")
	}
	return shown
}
