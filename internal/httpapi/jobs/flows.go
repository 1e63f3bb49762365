package jobs

import (
	"context"
	"encoding/json"
	"fmt"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// FlowSummary describes the steps of a flow where they are left out.
type FlowSummary struct {
	Steps  int    `json:"steps" doc:"Number of steps."`
	Digest string `json:"digest,omitempty" doc:"Identifies the definition of the steps."`
}

// summaryOf returns the summary of a flow; nil for other jobs.
func summaryOf(job *common.StoredJob) *FlowSummary {
	switch {
	case !job.IsFlow():
		return nil
	case job.Flow == nil:
		return &FlowSummary{Steps: len(job.Steps)}
	}
	return &FlowSummary{Steps: job.Flow.Steps, Digest: job.Flow.Digest}
}

// permitted returns an error if a step of the job runs a job that does not exist, or that the caller may not run. It
// has the other faults of the job as well. together are the jobs that the same request saves: they may not exist yet.
func (s *Resource) permitted(ctx context.Context, job *common.Job, together, named map[string]bool) error {
	faults, err := s.jobFaults(ctx, job, together, named)
	if err != nil || len(faults) == 0 {
		return err
	}
	_, others, err := s.Jobs.Validate(ctx, *job)
	if err != nil {
		return err
	}
	refusal := common.Invalid("the job cannot be saved", append(others, faults...)...)
	for i := range faults {
		if faults[i].Code == codeForeignJob && len(others) == 0 {
			refusal.Code, refusal.Reason = common.CodeForbidden, "role"
		}
	}
	return refusal
}

// Codes of faults of steps that run jobs.
const (
	codeUnknownJob = "unknown_job"
	codeForeignJob = "foreign_job"
)

// jobFaults returns the faults of steps that run jobs, or wait for their fires. Rights are checked when a flow is
// saved, not when it runs: its editor must be an operator of each job that it runs, and a viewer of each that it waits
// for. One that does not exist could be created in any group.
func (s *Resource) jobFaults(ctx context.Context, job *common.Job, together, named map[string]bool) (
	faults common.Faults, err error) {
	type use struct {
		job   string
		waits bool
	}
	checked := map[use]common.Fault{}
	for i := range job.Steps {
		of, field := use{job: job.Steps[i].Job}, "job"
		if w := job.Steps[i].Wait; w != nil {
			of, field = use{w.Job, true}, "wait.job"
		}
		if !common.ValidName(of.job) || of.job == job.Name || together[of.job] {
			continue // no job, or reported with the job's own faults
		}
		fault, done := checked[of]
		if !done {
			if fault, err = s.jobFault(ctx, of.job, of.waits); err != nil {
				return nil, err
			}
			if of.waits && named[of.job] && fault.Code == codeUnknownJob {
				fault = common.Fault{} // two flows may wait for each other, so that neither is saved first
			}
			checked[of] = fault
		}
		if fault.Code != "" {
			fault.Location = fmt.Sprintf("steps[%d].%s", i, field)
			faults = append(faults, fault)
		}
	}
	return faults, nil
}

// jobFault returns the fault of a step that runs a job, or waits for it; without a code if it has none.
func (s *Resource) jobFault(ctx context.Context, name string, waits bool) (fault common.Fault, err error) {
	uid, group, known := s.Jobs.UIDAndGroup(name)
	if !known || uid == "" { // a copy may lag behind
		if uid, group, err = view.Standing(ctx, s.Jobs, name); err != nil {
			return fault, err
		}
	}
	switch {
	case uid == "":
		return common.NewFault("", codeUnknownJob, name, "job not found").
			WithHint("create the job first, or in the same request"), nil
	case waits && !core.May(ctx, access.Viewer, group):
		return common.NewFault("", codeForeignJob, name, "you may not see this job").
			WithHint("a step that waits shows how the job ends: saving it needs the role viewer in its group"), nil
	case !waits && !core.May(ctx, access.Operator, group):
		return common.NewFault("", codeForeignJob, name, "you may not run this job").
			WithHint("a flow runs the jobs of its steps: saving it needs the role operator in their groups"), nil
	}
	return fault, nil
}

// inOrder returns the indexes of jobs in the order in which they can be saved: each flow after the jobs of its steps,
// and each job after its parents. Jobs of one round do not need each other.
func inOrder(jobs []*view.Definition) (rounds [][]int) {
	waiting := map[string]bool{} // jobs that are not in a round yet
	var rest []int
	first := make([]int, 0, len(jobs))
	for i, job := range jobs {
		switch {
		case job == nil:
		case len(job.Steps) == 0 && len(job.After) == 0:
			first = append(first, i)
		default:
			waiting[job.Name] = true
			rest = append(rest, i)
		}
	}
	rounds = append(rounds, first)
	for len(rest) > 0 {
		var round, later []int
		for _, i := range rest {
			needs := false
			for _, name := range flow.Needs((*common.Job)(jobs[i])) {
				needs = needs || waiting[name] && name != jobs[i].Name
			}
			if needs {
				later = append(later, i)
			} else {
				round = append(round, i)
			}
		}
		if len(round) == 0 { // they lead back to themselves, which is reported when they are saved
			round, later = rest, nil
		}
		for _, i := range round {
			delete(waiting, jobs[i].Name)
		}
		rounds, rest = append(rounds, round), later
	}
	return rounds
}

// complete adds the steps of a job whose definition is in an audit entry, where those of a large flow are left out.
func (s *Resource) complete(ctx context.Context, stored *common.StoredJob) error {
	if err := s.Jobs.Complete(ctx, stored); err != nil {
		return fmt.Errorf("read the steps of job %q: %w", stored.Name, err)
	}
	return nil
}

// storedIn returns the job of one side of a change; nil if there is none, or if it is unreadable.
func storedIn(side json.RawMessage) *common.StoredJob {
	var stored *common.StoredJob
	if len(side) == 0 || json.Unmarshal(side, &stored) != nil {
		return nil
	}
	return stored
}
