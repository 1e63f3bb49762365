package flow

import (
	"fmt"

	"carillon/internal/common"
)

// Why explains the code of a reason why a node did not run. source and root, which may be empty, are those of
// State.Because.
func Why(code, source, root string) *common.Reason {
	r := &common.Reason{Code: code, Text: why(code)}
	if source == "" {
		return r
	}
	r.Data = map[string]string{"step": source, "root": root}
	how := map[string]string{
		common.ReasonUpstreamFailed:  "step %s had to succeed, and failed",
		common.ReasonUpstreamSkipped: "step %s had to succeed, and was skipped",
		common.ReasonRuleUnmet:       "its rule can no longer be met after step %s",
	}
	if source == root {
		r.Text = fmt.Sprintf(how[code], source)
		return r
	}
	how[common.ReasonUpstreamFailed] = "step %s had to succeed, and did not run"
	r.Text = fmt.Sprintf(how[code]+", because of step %s", source, root)
	return r
}

func why(code string) string {
	switch code {
	case common.ReasonUpstreamFailed:
		return "a step that had to succeed has failed"
	case common.ReasonUpstreamSkipped:
		return "a step that had to succeed was skipped"
	case common.ReasonRuleUnmet:
		return "the rule of the step can no longer be met"
	case common.ReasonWhenFalse:
		return "the condition of the step is false"
	case common.ReasonMapStopped:
		return "too many items of the step have failed"
	case common.ReasonNoItems:
		return "the list of the step is empty"
	case common.ReasonFlowStopped:
		return "the flow run was ended before"
	default:
		return "it did not run"
	}
}

// why returns why a node does not run.
func (s *State) why(i int32, item int, code string) *common.Reason {
	if item >= 0 {
		return Why(code, "", "")
	}
	def := s.graph.steps[i].def
	if def.Finally {
		return WhyNoCleanUp(code)
	}
	source, root := s.Because(def.Name)
	_, fruitless := s.decidedBy(i)
	return whyOf(code, source, root, fruitless)
}

// Why explains why the node of a step did not run.
func (v *View) Why(def *common.Step) *common.Reason {
	if def.Finally {
		return WhyNoCleanUp(v.Reason)
	}
	return whyOf(v.Reason, v.Source, v.Root, v.Fruitless)
}

func whyOf(code, source, root string, fruitless bool) *common.Reason {
	r := Why(code, source, root)
	if fruitless && source != "" {
		r.Text = fmt.Sprintf("none of the steps before it succeeded; the first of them is step %s", source)
		r.Data["none"] = "true"
	}
	return r
}

// WhyNoCleanUp explains the code of a reason why a clean-up step did not run.
func WhyNoCleanUp(code string) *common.Reason {
	r := Why(code, "", "")
	if code == common.ReasonRuleUnmet {
		r.Text = "none of the steps that it cleans up after was started"
	}
	return r
}
