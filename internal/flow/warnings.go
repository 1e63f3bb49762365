package flow

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/common"
)

// Warnings of a plan.
const (
	WarnRunsAgain  = "runs_again"   // steps that have succeeded run again, because of steps before them
	WarnKeptFailed = "kept_failed"  // steps that have failed are kept, and fail the flow run again
	WarnNoValue    = "no_value"     // a step reads an output that an accepted step did not report
	WarnOldParams  = "other_params" // kept steps had other parameters
)

// inherit sets the parameters: those of the request, and those of the earlier flow run that the definition declares.
func (p *planner) inherit() {
	was := p.before.head.Params
	p.earlier, p.dropped = p.now.job.WithoutRemoved(was, slices.Collect(maps.Keys(was)))
	p.params = p.earlier
	if p.scope.Params != nil {
		p.params = map[string]string{}
		maps.Copy(p.params, p.earlier)
		maps.Copy(p.params, p.scope.Params)
	}
}

// otherParams reports whether the request changes parameters.
func (p *planner) otherParams() bool {
	return p.scope.Params != nil && !maps.Equal(p.params, p.earlier)
}

// keepsApprovals rejects other parameters for steps after an approval that is kept: it was given for the earlier ones.
func (p *planner) keepsApprovals() {
	if !p.otherParams() {
		return
	}
	for i := range p.now.steps {
		def := p.now.steps[i].def
		was := p.outcome(def.Name)
		if def.Kind() != common.ApprovalStep || p.run[i] || was == nil || was.class != common.ClassSuccess {
			continue
		}
		after := make([]bool, len(p.run))
		after[i] = true
		p.now.descendants(after)
		for k := range after {
			if after[k] && p.run[k] {
				p.faults.Add("params", "approval_kept", def.Name,
					"cannot differ from those that %s was approved with: run that step again as well", def.Name).
					With("step", def.Name)
				break
			}
		}
	}
}

// mostWarned bounds the steps that a warning names.
const mostWarned = 5

// warn adds in words what may surprise about the plan.
func (p *planner) warn(plan *Plan) {
	if len(p.dropped) > 0 {
		plan.Warnings = append(plan.Warnings, common.ParamsDropped(p.dropped))
	}
	if p.scope.Kind == ScopeAll {
		return
	}
	var again, failed []string
	for i := range p.now.steps {
		name := p.now.steps[i].def.Name
		was := p.outcome(name)
		switch {
		case was == nil || p.now.steps[i].final:
		case p.run[i] && was.status == common.StatusSucceeded && !slices.Contains(p.scope.Steps, name):
			again = append(again, name)
		case !p.run[i] && was.class == common.ClassFailure && !p.accepted[i] && was.status != common.StatusSkipped:
			failed = append(failed, name)
		}
	}
	add := func(code string, names []string, one, more string) {
		if len(names) == 0 {
			return
		}
		list := strings.Join(names[:min(len(names), mostWarned)], ", ")
		if len(names) > mostWarned {
			list += ", …"
		}
		text := one
		if len(names) > 1 {
			text = more
		}
		plan.Warnings = append(plan.Warnings, common.Reason{Code: code, Text: list + " " + text,
			Data: map[string]string{"steps": list, "count": strconv.Itoa(len(names))}})
	}
	add(WarnRunsAgain, again, "succeeded before, and runs again", "succeeded before, and run again")
	add(WarnKeptFailed, failed, "failed and is kept: the flow run will fail",
		"failed and are kept: the flow run will fail")
	for i := range p.missing {
		ref := &p.missing[i]
		plan.Warnings = append(plan.Warnings, common.Reason{Code: WarnNoValue,
			Text: fmt.Sprintf("%s, which is accepted, did not report the output %s that is read", ref.step, ref.key),
			Data: map[string]string{"step": ref.step, "output": ref.key}})
	}
	if p.otherParams() && len(plan.Kept) > 0 {
		plan.Warnings = append(plan.Warnings, common.Reason{Code: WarnOldParams,
			Text: "the steps that are kept had the parameters of the earlier run"})
	}
}
