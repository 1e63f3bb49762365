package common

import "time"

// Approval makes a step wait until an operator approves or rejects it.
type Approval struct {
	Text       string     `json:"text" maxLength:"500" doc:"The question. It may contain ${{ steps.NAME.outputs.KEY }}."`
	Timeout    Duration   `json:"timeout,omitempty" doc:"The step times out after this time. Default: 24h." example:"8h"`
	OnTimeout  OnTimeout  `json:"onTimeout,omitempty" enum:"fail,skip" doc:"What becomes of the step then: it fails as timed_out, or is skipped. Default: fail."`
	Approvers  *Approvers `json:"approvers,omitempty"`
	NotStarter bool       `json:"notStarter,omitempty" doc:"Who started the flow run, or one that it is nested in, may not approve the step; rejecting it is allowed."`
	Params     Params     `json:"params,omitempty" doc:"Values that the person who approves fills in, by name: outputs of the step."`
}

// DefaultApprovalTimeout is the timeout of approvals that have none.
const DefaultApprovalTimeout = 24 * time.Hour

// OnTimeout is what becomes of an approval that is not answered in time.
type OnTimeout string

// Values of OnTimeout.
const (
	TimeoutFails OnTimeout = "fail"
	TimeoutSkips OnTimeout = "skip"
)

// OnTimeouts lists them.
var OnTimeouts = [...]OnTimeout{TimeoutFails, TimeoutSkips}

// Approvers are those who may answer an approval: who has the role in the group.
type Approvers struct {
	Role  string `json:"role,omitempty" enum:"operator,editor,admin" doc:"The least role. Default: operator."`
	Group string `json:"group,omitempty" pattern:"^([a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?)?$" doc:"Members of this group only: users who were granted the role in it. A role everywhere is none. Default: who has the role in the group of the flow, or everywhere." example:"finance"`
}

// ApproverRoles lists the roles that Approvers can name.
var ApproverRoles = [...]string{"operator", "editor", "admin"}

// LeastRole returns the least role of who may answer.
func (a *Approvers) LeastRole() string {
	if a == nil {
		return ApproverRoles[0]
	}
	return or(a.Role, ApproverRoles[0])
}

// Limit returns how long the approval waits for an answer.
func (a *Approval) Limit() time.Duration { return a.Timeout.Or(DefaultApprovalTimeout) }

// Plain reports whether the approval is one that every worker with flows keeps as it is defined: those of earlier
// versions know its text and a timeout only.
func (a *Approval) Plain() bool {
	return a.Timeout != "" && a.OnTimeout == "" && a.Approvers == nil && !a.NotStarter && len(a.Params) == 0
}

// Outputs returns what later steps may read of the approval: the values that who approves fills in.
func (a *Approval) Outputs() map[string]Output {
	outputs := make(map[string]Output, len(a.Params))
	for name := range a.Params {
		outputs[name] = Output{}
	}
	return outputs
}

// Given returns the values of the parameters for an answer, or what is wrong with those that were given. One whose
// default does not match its pattern has to be given.
func (p Params) Given(given map[string]string) (values map[string]string, faults Faults) {
	job := &Job{Params: p}
	faults = job.ParamFaults(given)
	for _, name := range p.Names() {
		if _, found := given[name]; !found && p[name].Asked() {
			faults.Add("params."+Excerpt(name), "required", nil, "is required")
		}
	}
	return job.ParamValues(given), faults
}

// Asked reports whether the default is no valid value: in an approval, such a parameter has to be filled in.
func (p Param) Asked() bool {
	pattern, err := (&p).pattern()
	if err != nil || pattern == nil {
		return err != nil
	}
	at := pattern.FindStringIndex(p.Default)
	return at == nil || at[0] != 0 || at[1] != len(p.Default)
}
