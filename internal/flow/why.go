package flow

import "carillon/internal/common"

// Why explains the code of a reason why a node did not run.
func Why(code string) string {
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
