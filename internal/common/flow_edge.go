package common

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Rule sets how a step combines its edges, and the condition of each edge without its own.
type Rule string

// Rules. A rule that begins with all_ or none_ needs all edges, the others need one.
const (
	RuleAllSuccess Rule = "all_success"
	RuleNoneFailed Rule = "none_failed"
	// RuleNoneFailedOneSuccess is RuleNoneFailed, and at least one source must have succeeded.
	RuleNoneFailedOneSuccess Rule = "none_failed_one_success"

	RuleAllDone    Rule = "all_done"
	RuleAllFailed  Rule = "all_failed"
	RuleOneSuccess Rule = "one_success"
	RuleOneFailed  Rule = "one_failed"
	RuleOneDone    Rule = "one_done"
)

// Rules lists all rules.
var Rules = [...]Rule{RuleAllSuccess, RuleNoneFailed, RuleNoneFailedOneSuccess, RuleAllDone, RuleAllFailed,
	RuleOneSuccess, RuleOneFailed, RuleOneDone}

// On is the condition of an edge: how its source must have ended.
type On string

// Conditions of edges.
const (
	OnSuccess   On = "success"
	OnFailure   On = "failure"
	OnSkipped   On = "skipped"
	OnNotFailed On = "not_failed"
	OnDone      On = "done"
)

// Conditions lists all conditions.
var Conditions = [...]On{OnSuccess, OnFailure, OnSkipped, OnNotFailed, OnDone}

// Any reports whether one edge is enough.
func (r Rule) Any() bool { return r == RuleOneSuccess || r == RuleOneFailed || r == RuleOneDone }

// On returns the condition of an edge that has none of its own.
func (r Rule) On() On {
	switch r {
	case RuleNoneFailed, RuleNoneFailedOneSuccess:
		return OnNotFailed
	case RuleAllDone, RuleOneDone:
		return OnDone
	case RuleAllFailed, RuleOneFailed:
		return OnFailure
	default:
		return OnSuccess
	}
}

// Edge is a dependency on a step. On or ExitCodes replaces the condition of the rule. Its JSON is the name of the
// step, or an object where it has a condition.
type Edge struct {
	Step      string `json:"step" doc:"Name of the step."`
	On        On     `json:"on,omitempty" enum:"success,failure,skipped,not_failed,done" doc:"How the step must have ended. Default: as the rule says."`
	ExitCodes []int  `json:"exitCodes,omitempty" nullable:"false" doc:"The step must have ended with one of these exit codes."`
}

// plainEdge has the fields of an edge, and no methods.
type plainEdge Edge

// UnmarshalJSON decodes a name or an object. Unknown fields are rejected: a condition that is ignored would start a
// step that must not start.
func (e *Edge) UnmarshalJSON(data []byte) error {
	return decodeShort(data, &e.Step, (*plainEdge)(e))
}

// MarshalJSON encodes the edge as the name of its step where it has no condition of its own.
func (e Edge) MarshalJSON() ([]byte, error) {
	if e.On == "" && len(e.ExitCodes) == 0 {
		return encodePlain(e.Step)
	}
	return encodePlain(plainEdge(e))
}

// decodeShort decodes a text into the short form, or an object into the long one.
func decodeShort[T any](data []byte, short *string, long *T) error {
	var none T
	*long = none
	if isText(data) {
		return json.Unmarshal(data, short)
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(long); err != nil {
		return fmt.Errorf("must be a text or an object: %w", err)
	}
	return nil
}

// isText reports whether a JSON value is a text.
func isText(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte(`"`)) }

// encodePlain encodes a value without escapes for HTML, so that a definition keeps its text.
func encodePlain(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
