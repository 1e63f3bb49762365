package flow

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
)

// fact is a value that expressions and texts read: a count, or a text.
type fact struct {
	text  string
	count int
}

func countOf(n int) fact { return fact{text: strconv.Itoa(n), count: n} }

// missingValue is the fault of a value that does not exist.
type missingValue struct {
	ref reference
	why string
}

func (e *missingValue) Error() string {
	return "the value " + e.ref.String() + " does not exist: " + e.why
}

// look returns the value of a reference. One that does not exist is an error, never an empty text.
func (s *State) look(ref reference) (fact, error) {
	switch ref.from {
	case fromParams:
		return fact{text: s.given[ref.field]}, nil
	case fromRun:
		return s.lookRun(ref)
	}
	i, known := s.graph.index[ref.step]
	if !known {
		return fact{}, &missingValue{ref, "there is no such step"}
	}
	f := s.facts(i)
	switch ref.field {
	case fieldStatus:
		return fact{text: f.Status}, nil
	case fieldItems:
		return countOf(f.Items), nil
	case fieldFailed:
		return countOf(f.Failed), nil
	case fieldAttempt:
		return countOf(f.Attempt), nil
	case fieldExitCode:
		return countOf(f.ExitCode), nil
	}
	if value, found := f.Outputs[ref.key]; found {
		return fact{text: value}, nil
	}
	if byDefault := s.graph.steps[i].def.Outputs[ref.key].Default; byDefault != nil && !s.graph.steps[i].isMap() {
		return fact{text: *byDefault}, nil
	}
	how := "ended " + strings.ReplaceAll(f.Status, "_", " ") + " without it"
	switch common.Status(f.Status) {
	case common.StatusSucceeded:
		how = "has succeeded without it"
	case common.StatusSkipped:
		how = "was skipped"
	}
	return fact{}, &missingValue{ref, "step " + ref.step + " " + how}
}

func (s *State) lookRun(ref reference) (fact, error) {
	h, at := &s.head, time.Time{}
	switch ref.field {
	case fieldID:
		return fact{text: h.Run}, nil
	case fieldJob:
		return fact{text: h.Job}, nil
	case fieldCause:
		return fact{text: string(h.Began())}, nil
	case fieldAttempt:
		return countOf(h.Attempt), nil
	case fieldPlannedAt, fieldPlannedDate:
		at = h.PlannedAt
	case fieldIntervalStart, fieldIntervalStartDate:
		if h.Interval != nil {
			at = h.Interval.Start
		}
	default:
		if h.Interval != nil {
			at = h.Interval.End
		}
	}
	if at.IsZero() {
		return fact{}, &missingValue{ref, "only fires of the schedule have an interval, and the first one has no start"}
	}
	if !strings.HasSuffix(ref.field, "Date") {
		return fact{text: at.UTC().Format(time.RFC3339)}, nil
	}
	zone, err := zoneinfo.Load(cmp.Or(s.graph.job.Timezone, "UTC"))
	if err != nil { // checked when the flow was saved
		return fact{}, &missingValue{ref, err.Error()}
	}
	return fact{text: at.In(zone).Format(time.DateOnly)}, nil
}

// stepFacts is what later steps can read about a step that is decided.
type stepFacts struct {
	Status   string
	ExitCode int // -1 without one
	Attempt  int
	Items    int
	Failed   int
	Outputs  map[string]string
}

// facts returns what later steps can read about a step that is decided.
func (s *State) facts(i int32) stepFacts {
	n, name := &s.nodes[i], s.graph.steps[i].def.Name
	if n.phase == phaseKept {
		kept := s.head.Base.Steps[name]
		f := stepFacts{Status: string(n.status), ExitCode: -1, Attempt: kept.Attempt, Items: kept.Items,
			Failed: kept.Failed, Outputs: kept.Outputs}
		if kept.ExitCode != nil {
			f.ExitCode = *kept.ExitCode
		}
		return f
	}
	f := stepFacts{Status: string(n.status), ExitCode: -1, Outputs: s.outputs[i]}
	if n.phase == phaseEnded {
		f.ExitCode, f.Attempt = int(n.mark.exit), int(n.mark.attempt)
	}
	if m := s.maps[i]; m != nil {
		f.Items, f.Failed = len(m.list), m.failed
	}
	return f
}

// keptStatus returns the status of a kept step. Only steps whose values are read have one in the base.
func keptStatus(base *common.Base, name string, class common.Class) common.Status {
	if kept, found := base.Steps[name]; found && kept.Status != "" {
		return kept.Status
	}
	switch {
	case class == common.ClassFailure, common.AcceptanceOf(base.Accepted, name) != nil:
		return common.StatusFailed
	case class == common.ClassSkipped:
		return common.StatusSkipped
	default:
		return common.StatusSucceeded
	}
}

// exitCode returns the exit code of a step; -1 without one.
func (s *State) exitCode(i int32) int { return s.facts(i).ExitCode }

// text returns the text of a value, which must exist: -1 is no exit code in a text.
func (s *State) text(ref reference) (string, error) {
	f, err := s.look(ref)
	if err == nil && ref.field == fieldExitCode && ref.from == fromStep && f.count < 0 {
		err = &missingValue{ref, "the step has no exit code"}
	}
	return f.text, err
}

// line is text, on one line and without characters that show a text as another one: a person reads it.
func (s *State) line(ref reference) (string, error) {
	value, err := s.text(ref)
	return strings.Map(func(r rune) rune {
		if common.Misleads(r) {
			return ' '
		}
		return r
	}, value), err
}

// question is the parameter of an approval that holds its text.
const question = "text"

// Question returns the text of an approval from the parameters of its start.
func Question(params map[string]string) string { return params[question] }

// params returns the parameters of the trigger of a node: those of the flow and the computed ones for an inline step,
// those of the step for a job, the text of an approval. The values are data: they are checked for size only. It fails
// for a value that does not exist.
func (s *State) params(i int32, item int) (map[string]string, error) {
	st := &s.graph.steps[i]
	values := map[string]string{}
	set := func(t *text) (err error) {
		values[t.name], err = t.render(func(ref reference) (string, error) {
			if ref.from == fromItem {
				return s.itemValue(i, item, ref)
			}
			return s.text(ref)
		})
		return err
	}
	switch st.def.Kind() {
	case common.JoinStep:
		return nil, nil
	case common.WaitStep:
		return nil, s.hasInterval(st.def.Wait)
	case common.ApprovalStep:
		values[question] = st.def.Approval.Text
		if len(st.texts) > 0 {
			var err error
			if values[question], err = st.texts[0].render(s.line); err != nil {
				return nil, err
			}
		}
		return values, checkValues(values)
	case common.InlineStep:
		for name, value := range s.head.Params {
			if _, own := st.def.Env[name]; !own {
				values[name] = value
			}
		}
		for _, t := range s.graph.env {
			if _, own := st.def.Env[t.name]; !own {
				if err := set(&t); err != nil {
					return nil, err
				}
			}
		}
	default:
		maps.Copy(values, st.def.Params)
	}
	for t := range st.texts {
		if err := set(&st.texts[t]); err != nil {
			return nil, err
		}
	}
	if item >= 0 && !st.def.ForEach.IsOfWorkers() && !st.namesItem() {
		values[st.def.ForEach.Variable()] = s.maps[i].list[item]
	}
	return values, checkValues(values)
}

// hasInterval fails if a step waits for the fires of an interval that the flow run does not have.
func (s *State) hasInterval(w *common.Wait) error {
	if w.Selection() != common.WaitInterval {
		return nil
	}
	_, err := s.text(reference{from: fromRun, field: fieldIntervalStart})
	return err
}

// itemValue returns the item of a map, or its index. It fails without one: the list of a map that cannot be read.
func (s *State) itemValue(i int32, item int, ref reference) (string, error) {
	switch {
	case item < 0 || s.maps[i] == nil:
		return "", &missingValue{ref, "the step has no items"}
	case ref.field == fieldIndex:
		return strconv.Itoa(item), nil
	}
	return s.maps[i].list[item], nil
}

// namesItem reports whether a map over a job puts its items into parameters by itself: the job then has no parameter of
// the usual name for it.
func (st *step) namesItem() bool {
	if st.def.Kind() != common.JobStep || st.def.ForEach.As != "" {
		return false
	}
	return slices.ContainsFunc(st.texts, func(t text) bool {
		return slices.ContainsFunc(t.refs, func(ref reference) bool { return ref.from == fromItem })
	})
}

// checkValues applies the bounds of parameters.
func checkValues(values map[string]string) error {
	total := 0
	for name, value := range values {
		total += len(name) + len(value)
		if len(value) > common.MaxParam {
			return fmt.Errorf("the value of %s is larger than %d KiB", common.Excerpt(name), common.MaxParam>>10)
		}
		if strings.ContainsRune(value, 0) || strings.ToValidUTF8(value, "") != value {
			return fmt.Errorf("the value of %s is not text", common.Excerpt(name))
		}
	}
	if total > common.MaxParamsGiven {
		return fmt.Errorf("the values are larger than %d KiB together", common.MaxParamsGiven>>10)
	}
	return nil
}

// refusal is why a node that was to start ends refused.
type refusal struct {
	code string
	text string
	data map[string]string
}

// refused returns the refusal for an error; code is that of errors other than a value that does not exist.
func refused(err error, code string) *refusal {
	missing, ok := errors.AsType[*missingValue](err)
	if !ok {
		return &refusal{code: code, text: err.Error()}
	}
	data := map[string]string{"value": missing.ref.String()}
	if missing.ref.from == fromStep {
		data["step"] = missing.ref.step
	}
	if missing.ref.field == fieldOutputs {
		data["output"] = missing.ref.key
	}
	return &refusal{code: common.ReasonValueMissing, text: err.Error(), data: data}
}

// invalidWhen returns the refusal for a condition that cannot be evaluated.
func invalidWhen(err error, when string) *refusal {
	r := refused(err, common.ReasonWhenInvalid)
	if r.code != common.ReasonWhenInvalid {
		return r
	}
	r.data = map[string]string{"expression": when, "fault": r.text}
	if not, ok := errors.AsType[*notNumber](err); ok {
		r.data["value"], r.data["read"] = common.Excerpt(not.value), not.ref.String()
	}
	r.text = fmt.Sprintf("the condition %s cannot be evaluated: %s", when, r.text)
	return r
}
