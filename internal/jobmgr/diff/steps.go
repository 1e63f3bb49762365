package diff

import (
	"bytes"
	"encoding/json"
	"slices"

	"carillon/internal/common"
)

const (
	stepsField = "steps"
	// maxSteps is the number of steps that are named as different.
	maxSteps = 20
)

// stepsOf returns the steps in which two flows differ, by name; the field as a whole if they are many, or if only their
// order differs.
func stepsOf(from, to *common.Job) []string {
	before, after := encoded(from), encoded(to)
	var names []string
	for name, step := range before {
		if !bytes.Equal(step, after[name]) {
			names = append(names, stepsField+"."+name)
		}
	}
	for name := range after {
		if _, known := before[name]; !known {
			names = append(names, stepsField+"."+name)
		}
	}
	if len(from.Steps) == 0 || len(to.Steps) == 0 || len(names) == 0 || len(names) > maxSteps {
		return []string{stepsField}
	}
	slices.Sort(names)
	return names
}

// encoded returns the steps of a flow as JSON, by name.
func encoded(job *common.Job) map[string]json.RawMessage {
	steps := make(map[string]json.RawMessage, len(job.Steps))
	for i := range job.Steps {
		if data, err := json.Marshal(&job.Steps[i]); err == nil { // a step can always be encoded
			steps[job.Steps[i].Name] = data
		}
	}
	return steps
}
