package inside

import (
	"maps"
	"slices"

	"carillon/internal/common"
	"carillon/internal/executor/redact"
)

// ReadOutputs returns the declared outputs of a run, each read with a limit of bytes. One that contains a secret is
// invalid: masked, it would be another value for those that use it. bad is the outcome of the first invalid one; nil if
// all are valid.
func ReadOutputs(outputs map[string]common.Output, masks *redact.Masker,
	read func(name string, limit int) (data []byte, missing bool, fault string)) (values map[string]string,
	bad *Outcome) {
	total := 0
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		declared := outputs[name]
		data, missing, fault := read(name, declared.Limit()+2)
		var value string
		switch {
		case missing && declared.Required:
			fault = "missing"
		case missing && declared.Default != nil:
			value = *declared.Default
		case missing:
			continue
		case fault == "":
			if value, fault = declared.Parse(data); fault == "" && masks.Text(value) != value {
				fault = "secret"
			}
		}
		if !declared.List {
			if total += len(value); fault == "" && total > common.MaxOutputValues {
				fault = "too_large_together"
			}
		}
		if fault != "" {
			if bad == nil {
				bad = invalidOutput(name, fault)
			}
			continue
		}
		if values == nil {
			values = map[string]string{}
		}
		values[name] = value
	}
	return values, bad
}

// invalidTexts are the faults of outputs.
var invalidTexts = map[string]string{
	"missing":            "is required, and was not written",
	"not_a_file":         "is not a regular file of the user of the run",
	"not_text":           "is not UTF-8 text",
	"secret":             "contains a secret; name the secret in the step that needs it",
	"too_large":          "is larger than 4 KiB, or 128 KiB for a list",
	"too_large_together": "exceeds 16 KiB together with the other outputs",
	"too_many_items":     "has more than 10,000 items",
}

func invalidOutput(name, fault string) *Outcome {
	return Failed("outputs_invalid", "the output %s %s", name, invalidTexts[fault]).With("output", name).
		With("fault", fault)
}
