package jobs

import (
	"context"
	"fmt"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/common/redirection"
	"carillon/internal/common/schedule"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// Validation is the result of validating a job.
type Validation struct {
	Valid     bool                 `json:"valid"`
	Job       *view.Definition     `json:"job,omitempty" doc:"The job as it would be stored, if it is valid."`
	Inherited []common.Inheritance `json:"inherited,omitempty" nullable:"false" doc:"What it would inherit; see the job's meta."`
	Faults    []common.Fault       `json:"faults" nullable:"false" doc:"All faults; locations are those of a request body."`
	Warnings  []common.Fault       `json:"warnings" nullable:"false" doc:"Values that are accepted but probably not intended; locations are those of a request body."`
	Placement *Ranking             `json:"placement,omitempty" doc:"Workers that would run the job now, if requested and if the job is valid."`
}

type validateInput struct {
	Placement bool `query:"placement" doc:"Also return the workers that would run the job now, and warn if there are none."`
	Body      JobInput
}

func (s *Resource) validate(ctx context.Context, in *validateInput) (*core.Body[Validation], error) {
	// An existing job of this name would be replaced.
	if err := core.Allow(ctx, access.Editor, in.Body.Group); err != nil {
		return nil, err
	}
	if !core.May(ctx, access.Editor, "") && common.ValidName(in.Body.Name) {
		uid, group, err := view.Standing(ctx, s.Jobs, in.Body.Name)
		if err == nil && uid != "" {
			err = core.Allow(ctx, access.Editor, group)
		}
		if err != nil {
			return nil, err
		}
	}
	stored, faults, err := s.Jobs.Validate(ctx, common.Job(in.Body.Definition))
	if err != nil {
		return nil, err
	}
	job := stored.Job
	more, err := s.jobFaults(ctx, &job, nil, nil)
	if err != nil {
		return nil, err
	}
	faults = append(faults, more...)
	out := &core.Body[Validation]{Body: Validation{Valid: len(faults) == 0, Faults: placed(faults)}}
	warnings, err := s.warnings(ctx, &job)
	if err != nil {
		return nil, err
	}
	if out.Body.Valid {
		own, inherited := stored.Own()
		out.Body.Job, out.Body.Inherited = new(view.Definition(own)), inherited
	}
	if in.Placement && out.Body.Valid {
		if out.Body.Placement, err = s.ranking(ctx, &common.StoredJob{Job: job}); err != nil {
			return nil, err
		}
		if none := out.Body.Placement.Reason; none != nil {
			warnings.Add("placement", "unplaced", nil, "no worker is eligible now: %s", none.Text)
		}
	}
	out.Body.Warnings = placed(warnings)
	return out, nil
}

// placed adds the body to the locations of a job's faults.
func placed(faults common.Faults) []common.Fault {
	all := make([]common.Fault, len(faults))
	for i, f := range faults {
		f.Location = core.InBody(f.Location)
		all[i] = f
	}
	return all
}

// doubts returns remarks on values that are accepted but probably not intended, of the definition alone.
func doubts(job *common.Job) (all common.Faults) {
	job.EachSchedule(func(at string, _ int, s *common.JobSchedule) {
		if spec, err := schedule.SpecOf(job.Name, s); err == nil && spec.Expr != "" {
			for _, n := range schedule.Warnings(spec) {
				all.Add(at+"cronExpr", n.Code, spec.Expr, "%s", n.Text).Data = n.Data
			}
		}
	})
	if redirect, found := redirection.OfAll(job.Command); found {
		f := all.Add("command", "redirected", nil, "redirects all output, so none is kept with the runs")
		f.Hint = "remove the redirection at the end"
		f.With("redirect", redirect)
	}
	for _, name := range job.MayDecideWhatRuns() {
		all.Add("params."+name, "param_decides", name, "programs may take a command or options from a variable of "+
			"this name, and every operator of the group can set it").Hint = "choose another name, and give a pattern"
	}
	if job.IsFlow() && job.Timeout.Or(0) == 0 {
		all.Add("timeout", "no_timeout", nil, "is not set: a flow run whose step waits for a worker or for "+
			"another job waits without a limit").Hint = "set the timeout of the whole flow run, such as 1d"
	}
	return all
}

// doubtsOf returns remarks on values that are accepted but probably not intended, of the definition and of the jobs
// that it names.
func (s *Resource) doubtsOf(ctx context.Context, job *common.Job, named *named) common.Faults {
	all := doubts(job)
	oneByOne(ctx, job, named, &all)
	s.awaitedKept(ctx, job, named, &all)
	return all
}

// oneByOne points out maps over a job whose runs may not overlap: their items run one after another.
func oneByOne(ctx context.Context, job *common.Job, named *named, all *common.Faults) {
	for i := range job.Steps {
		name, f := job.Steps[i].Job, job.Steps[i].ForEach
		if name == "" || f == nil || f.Concurrency == 1 || f.List == "" && len(f.Items) < 2 {
			continue
		}
		if target := named.of(ctx, job, name); target != nil && target.Overlap.Forbids() {
			all.Add(fmt.Sprintf("steps[%d].job", i), "one_by_one", name, "does not allow overlapping runs, so that "+
				"the items run one after another").Hint = "set overlap: allow in that job, or concurrency: 1 in forEach"
		}
	}
}

// warnings returns remarks on values that are accepted but probably not intended.
func (s *Resource) warnings(ctx context.Context, job *common.Job) (all common.Faults, err error) {
	all = s.doubtsOf(ctx, job, s.newNamed())
	remarks, err := s.Types.Warnings(ctx, job)
	if err != nil {
		return nil, err
	}
	all = append(all, remarks...)
	if job.Notify == nil || len(job.Notify.To) == 0 {
		return all, nil
	}
	channels, err := s.Channels.Channels(ctx)
	if err != nil {
		return nil, err
	}
	return append(all, view.ChannelWarnings(job.Notify, channels)...), nil
}
