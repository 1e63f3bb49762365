package trial

import (
	"maps"
	"slices"

	"carillon/internal/common"
)

// outputOf returns the declaration of an output of a step. Those of a job are declared in its own definition, which a
// trial does not have: every name and every size that an output may have is accepted.
func outputOf(step *common.Step, name string) (declared common.Output, known bool) {
	switch {
	case step.Kind() == common.JobStep:
		return common.Output{List: true}, common.ValidOutput(name)
	case step.Kind() == common.ApprovalStep:
		declared, known = step.Approval.Outputs()[name]
		return declared, known
	}
	return step.Outputs[name], common.HasOutput(step.Outputs, step.Type, name)
}

// faultTexts explain the faults of outputs.
var faultTexts = map[string]string{
	"too_large":          "is larger than 4 KiB, or 128 KiB for a list",
	"not_text":           "is not UTF-8 text",
	"too_many_items":     "has more than 10,000 items",
	"too_large_together": "exceeds 16 KiB together with the other outputs",
}

// read returns the outputs of a run of a step, and the first one that is not valid, with its fault.
func read(step *common.Step, given map[string]string) (values map[string]string, name, fault string) {
	names := slices.Collect(maps.Keys(given))
	for declared, output := range step.Outputs {
		if _, found := given[declared]; !found && output.Required {
			names = append(names, declared)
		}
	}
	slices.Sort(names)
	total := 0
	for _, one := range names {
		text, found := given[one]
		declared, _ := outputOf(step, one)
		value, bad := declared.Parse([]byte(text))
		bad = faultTexts[bad]
		if !declared.List {
			if total += len(value); bad == "" && total > common.MaxOutputValues {
				bad = faultTexts["too_large_together"]
			}
		}
		if !found {
			bad = "is required, and no value of it is given"
		}
		if bad != "" {
			if fault == "" {
				name, fault = one, bad
			}
			continue
		}
		if values == nil {
			values = map[string]string{}
		}
		values[one] = value
	}
	return values, name, fault
}
