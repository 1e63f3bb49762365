package httpapi

import (
	"context"
	"fmt"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

// Validation says what is wrong with a job.
type Validation struct {
	Valid     bool           `json:"valid"`
	Job       *Definition    `json:"job,omitempty" doc:"The job as it would be stored, where it is valid."`
	Faults    []common.Fault `json:"faults" nullable:"false" doc:"All that is wrong; locations are those of a body."`
	Warnings  []common.Fault `json:"warnings" nullable:"false" doc:"What may be saved, and is likely not what is meant; likewise."`
	Placement *Ranking       `json:"placement,omitempty" doc:"Who would run the job now, where that was asked for and the job is valid."`
}

type validateInput struct {
	Placement bool `query:"placement" doc:"Also tell who would run the job now, and warn where nobody would."`
	Body      JobInput
}

type validationOutput struct{ Body Validation }

func (s *jobsResource) validate(ctx context.Context, in *validateInput) (*validationOutput, error) {
	// Where there is such a job, it is to be replaced.
	if err := allow(ctx, auth.Editor, in.Body.Group); err != nil {
		return nil, err
	}
	if !may(ctx, auth.Editor, "") && common.ValidName(in.Body.Name) {
		uid, group, err := standing(ctx, s.jobs, in.Body.Name)
		if err == nil && uid != "" {
			err = allow(ctx, auth.Editor, group)
		}
		if err != nil {
			return nil, err
		}
	}
	job, faults, err := s.jobs.Validate(ctx, common.Job(in.Body.Definition))
	if err != nil {
		return nil, err
	}
	out := &validationOutput{Body: Validation{Valid: len(faults) == 0, Faults: placed(faults)}}
	warnings, err := s.warnings(ctx, &job)
	if err != nil {
		return nil, err
	}
	if out.Body.Valid {
		out.Body.Job = new(Definition(job))
	}
	if in.Placement && out.Body.Valid {
		if out.Body.Placement, err = s.ranking(ctx, &common.StoredJob{Job: job}); err != nil {
			return nil, err
		}
		if nobody := out.Body.Placement.Reason; nobody != nil {
			warnings = append(warnings, common.Fault{Location: "placement", Code: "unplaced", Message: "nobody would run it now: " + nobody.Text})
		}
	}
	out.Body.Warnings = placed(warnings)
	return out, nil
}

// placed gives faults of a job their place in the body.
func placed(faults []common.Fault) []common.Fault {
	all := make([]common.Fault, len(faults))
	for i, f := range faults {
		f.Location = inBody(f.Location)
		all[i] = f
	}
	return all
}

// warnings are about what may be saved, and is likely not what is meant.
func (s *jobsResource) warnings(ctx context.Context, job *common.Job) (all []common.Fault, err error) {
	if spec, err := schedule.SpecOf(job); err == nil && spec.Expr != "" {
		for _, n := range schedule.Warnings(spec) {
			all = append(all, common.Fault{Location: "cronExpr", Code: n.Code, Message: n.Text, Value: common.Excerpt(spec.Expr), Data: n.Data})
		}
	}
	if job.Notify == nil || len(job.Notify.To) == 0 {
		return all, nil
	}
	channels, err := s.channels.Channels(ctx)
	if err != nil {
		return nil, err
	}
	for i, name := range job.Notify.To {
		w := common.Fault{Location: fmt.Sprintf("notify.to[%d]", i), Code: "unknown_channel", Message: "there is no such channel",
			Hint: "until there is, nobody is told", Value: common.Excerpt(name)}
		for _, c := range channels {
			if c.Name == name {
				w.Code, w.Message, w.Hint = "", "", ""
				if c.Disabled {
					w.Code, w.Message, w.Hint = "disabled_channel", "the channel is disabled", "nobody is told on it until it is enabled"
				}
			}
		}
		if w.Code != "" {
			all = append(all, w)
		}
	}
	return all, nil
}
