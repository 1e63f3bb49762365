package common

import (
	"slices"
	"time"
)

// FlowFaults returns all faults of the job's own fields, where it is a flow and has steps in place of a command.
// Locations are the names of the JSON fields.
func (j *Job) FlowFaults() Faults {
	c := &checker{}
	j.nameFaults(c)
	none := func(location string, given bool) {
		if given {
			c.add(location, "exclusive", nil, "has no meaning for a flow: it belongs to a step").With("beside", "steps")
		}
	}
	none("type", j.Type != "")
	none("with", j.With != nil)
	none("command", j.Command != "")
	none("args", len(j.Args) > 0)
	none("stdin", j.Stdin != "")
	none("successExitCodes", len(j.SuccessExitCodes) > 0)
	none("retry.exitCodes", j.Retry != nil && len(j.Retry.ExitCodes) > 0)
	none("retry.elsewhere", j.Retry != nil && j.Retry.Elsewhere != nil)
	none("slots", j.Slots != 0)
	none("pool", j.Pool != "")
	none("poolSlots", j.PoolSlots != 0)
	none("runOn", j.RunOn != nil)
	none("daemon", j.Daemon != nil)
	j.environmentFaults(c)
	j.paramFaults(c)
	c.flowOutputs(j.Outputs)
	j.policyFaults(c)
	own := *j // steps have bounds of their own
	own.Steps = nil
	own.sizeFaults(c)
	return c.faults
}

// flowFieldFaults returns the faults of fields that only a flow has, in a job without steps.
func (j *Job) flowFieldFaults(c *checker) {
	none := func(location string, given bool) {
		if given {
			c.add(location, "exclusive", nil, "has no meaning without steps").With("without", "steps")
		}
	}
	none("concurrency", j.Concurrency != 0)
	none("failFast", j.FailFast)
}

// StepFaults returns all faults of the fields that an inline step shares with a job. Locations are the names of the
// JSON fields.
func (j *Job) StepFaults() Faults {
	c := &checker{}
	c.line("title", j.Title, MaxTitle)
	j.commandFaults(c)
	j.environmentFaults(c)
	c.outputs(j.Outputs, j.TypeName())
	j.policyFaults(c)
	return c.faults
}

// RetryFaults returns the faults of the retry of a step that runs a job.
func (s *Step) RetryFaults() Faults {
	c := &checker{}
	if s.Retry != nil {
		s.Retry.faults(c)
	}
	return c.faults
}

// ApprovalFaults returns the faults of an approval.
func (a *Approval) ApprovalFaults() Faults {
	c := &checker{}
	if a.Text == "" {
		c.add("approval.text", "required", nil, "is required")
	}
	c.line("approval.text", a.Text, MaxPauseNote)
	c.duration("approval.timeout", a.Timeout, time.Second, MaxTimeout)
	if a.OnTimeout != "" && !slices.Contains(OnTimeouts[:], a.OnTimeout) {
		c.add("approval.onTimeout", "enum", string(a.OnTimeout), "must be one of fail, skip").
			With("allowed", "fail, skip")
	}
	if by := a.Approvers; by != nil {
		if by.Role != "" && !slices.Contains(ApproverRoles[:], by.Role) {
			c.add("approval.approvers.role", "enum", by.Role, "must be one of operator, editor, admin").
				With("allowed", "operator, editor, admin")
		}
		c.group("approval.approvers.group", by.Group)
		if *by == (Approvers{}) {
			c.add("approval.approvers", "required", nil, "must have a role or a group")
		}
	}
	a.paramFaults(c)
	return c.faults
}

// WaitFaults returns the faults of a step of a flow that waits for fires of a job.
func (w *Wait) WaitFaults(flow string) Faults {
	c := &checker{}
	switch {
	case !ValidName(w.Job):
		c.add("wait.job", "name", w.Job, "%s", NameRule)
	case w.Job == flow && w.Selection() != WaitLatest:
		c.add("wait.job", "itself", w.Job, "must not be the flow itself, whose fire would wait for itself").
			Hint = "fires: latest waits for the fire of the flow before this one"
	}
	if w.Fires != "" && !slices.Contains(WaitSelections[:], w.Fires) {
		c.add("wait.fires", "enum", string(w.Fires), "must be one of interval, same, latest").
			With("allowed", "interval, same, latest")
	}
	if w.OnFailure != "" && !slices.Contains(WaitFailurePolicies[:], w.OnFailure) {
		c.add("wait.onFailure", "enum", string(w.OnFailure), "must be one of wait, fail").With("allowed", "wait, fail")
	}
	c.duration("wait.timeout", w.Timeout, time.Second, MaxTimeout)
	return c.faults
}

// paramFaults checks the parameters, which are outputs of the step as well.
func (a *Approval) paramFaults(c *checker) {
	declared := &Job{Params: make(Params, len(a.Params))}
	for name, p := range a.Params {
		if p.Default == "" && p.Asked() { // it has to be filled in
			if _, err := p.pattern(); err == nil {
				p.Pattern = ""
			}
		}
		declared.Params[name] = p
		if envPattern.MatchString(name) && !ValidOutput(name) {
			c.add("approval.params", "env_name", name, "names must have at most 63 characters")
		}
	}
	own := &checker{}
	declared.paramFaults(own)
	for _, f := range own.faults {
		f.Location = "approval." + f.Location
		c.faults = append(c.faults, f)
	}
}
