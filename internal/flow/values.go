package flow

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"carillon/internal/common"
)

// scope returns the values that an expression reads.
func (s *State) scope(refs []reference) *scope {
	values := &scope{Params: s.given, Run: s.about()}
	for _, ref := range refs {
		if ref.from != fromStep {
			continue
		}
		if values.Steps == nil {
			values.Steps = map[string]stepScope{}
		}
		values.Steps[ref.step] = s.facts(s.graph.index[ref.step])
	}
	return values
}

func (s *State) about() runScope {
	h := &s.head
	return runScope{ID: h.Run, Job: h.Job, Cause: string(h.Cause), PlannedAt: h.PlannedAt.UTC().Format(time.RFC3339),
		Attempt: h.Attempt}
}

// facts returns what later steps can read about a step that is decided.
func (s *State) facts(i int32) stepScope {
	n, name := &s.nodes[i], s.graph.steps[i].def.Name
	if n.phase == phaseKept {
		kept := s.head.Base.Steps[name]
		f := stepScope{Status: string(n.status), ExitCode: -1, Attempt: kept.Attempt, Items: kept.Items,
			Failed: kept.Failed, Outputs: kept.Outputs}
		if kept.ExitCode != nil {
			f.ExitCode = *kept.ExitCode
		}
		return f
	}
	f := stepScope{Status: string(n.status), ExitCode: -1, Outputs: s.outputs[i]}
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
	switch class {
	case common.ClassFailure:
		return common.StatusFailed
	case common.ClassSkipped:
		return common.StatusSkipped
	default:
		return common.StatusSucceeded
	}
}

// exitCode returns the exit code of a step; -1 without one.
func (s *State) exitCode(i int32) int { return s.facts(i).ExitCode }

// value returns what a reference names, as text. A value that does not exist is empty.
func (s *State) value(ref reference) string {
	switch ref.from {
	case fromParams:
		return s.given[ref.field]
	case fromRun:
		run := s.about()
		switch ref.field {
		case fieldID:
			return run.ID
		case fieldJob:
			return run.Job
		case fieldCause:
			return run.Cause
		case fieldPlannedAt:
			return run.PlannedAt
		default:
			return strconv.Itoa(run.Attempt)
		}
	}
	i, known := s.graph.index[ref.step]
	if !known {
		return ""
	}
	f := s.facts(i)
	switch ref.field {
	case fieldStatus:
		return f.Status
	case fieldOutputs:
		return f.Outputs[ref.key]
	case fieldItems:
		return strconv.Itoa(f.Items)
	case fieldFailed:
		return strconv.Itoa(f.Failed)
	case fieldAttempt:
		return strconv.Itoa(f.Attempt)
	default:
		if f.ExitCode < 0 {
			return ""
		}
		return strconv.Itoa(f.ExitCode)
	}
}

// params returns the parameters of the trigger of a node: those of the flow and the computed ones for an inline step,
// those of the step for a job. The values are data: they are checked for size only.
func (s *State) params(i int32, item int) (map[string]string, error) {
	st := &s.graph.steps[i]
	values := map[string]string{}
	switch st.def.Kind() {
	case common.ApprovalStep:
		return nil, nil
	case common.InlineStep:
		for name, value := range s.head.Params {
			if _, own := st.def.Env[name]; !own {
				values[name] = value
			}
		}
		for _, t := range s.graph.env {
			if _, own := st.def.Env[t.name]; !own {
				values[t.name] = t.render(s.value)
			}
		}
	default:
		maps.Copy(values, st.def.Params)
	}
	for t := range st.texts {
		values[st.texts[t].name] = st.texts[t].render(s.value)
	}
	if item >= 0 && !st.def.ForEach.IsOfWorkers() {
		values[st.def.ForEach.Variable()] = s.maps[i].list[item]
	}
	return values, checkValues(values)
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
