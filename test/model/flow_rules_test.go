package model

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The rules of flows as the checker understands them: from the definition and the ends of the nodes that ran it
// computes which nodes may start, and how all others end. It shares nothing with the engine.

// rawEdge is a name, or an object with a condition.
type rawEdge struct{ Step, On string }

func (e *rawEdge) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &e.Step)
	}
	type plain rawEdge
	return json.Unmarshal(data, (*plain)(e))
}

type rawStep struct {
	Name         string
	After        []rawEdge
	Rule, When   string
	AllowFailure bool
	Finally      bool
	Outputs      map[string]struct{ Default *string }
	Job          string
	ForEach      *struct {
		Items                    []string
		List                     string
		MaxFailures, Concurrency int
		Stop                     bool
	}
	Approval *rawApproval
	Wait     *rawApproval
	Join     bool
}

// rawApproval is the definition of an approval, or of a wait, which has a timeout only.
type rawApproval struct {
	Timeout, OnTimeout string
	Params             map[string]struct{}
}

// rawFlow is a definition, its steps in topological order.
type rawFlow struct {
	Steps       []rawStep
	Concurrency int
	FailFast    bool
	Retry       *rawRetry
	names       []string // of the steps, in the order of the definition
}

// readBody reads a definition from its only part.
func readBody(part string) *rawFlow {
	in, err := gzip.NewReader(bytes.NewReader([]byte(part)))
	if err != nil {
		panic(err)
	}
	data, err := io.ReadAll(in)
	if err != nil {
		panic(err)
	}
	f := decode[struct{ Job rawFlow }](string(data)).Job
	for i := range f.Steps {
		f.names = append(f.names, f.Steps[i].Name)
	}
	var sorted []rawStep
	placed := map[string]bool{}
	for len(sorted) < len(f.Steps) {
		before := len(sorted)
		for _, s := range f.Steps {
			if !placed[s.Name] && !slices.ContainsFunc(s.After, func(e rawEdge) bool { return !placed[e.Step] }) {
				placed[s.Name] = true
				sorted = append(sorted, s)
			}
		}
		if len(sorted) == before {
			panic("a cycle in " + string(data))
		}
	}
	slices.SortStableFunc(sorted, func(a, b rawStep) int { // no other step follows a clean-up step
		return cmp.Compare(fmt.Sprint(a.Finally), fmt.Sprint(b.Finally))
	})
	f.Steps = sorted
	return &f
}

// onWorkers returns the definition of a flow run whose only step has so many workers as items.
func (f *rawFlow) onWorkers(nodes int) *rawFlow {
	own := *f
	own.Steps = slices.Clone(f.Steps)
	each := *own.Steps[0].ForEach
	each.Items = make([]string, nodes)
	own.Steps[0].ForEach = &each
	return &own
}

type rawMark struct {
	State, Job, Fire      string
	Round, Attempt        int
	Status, Class, Reason string
	Outputs               map[string]string
}

func (m rawMark) text() string {
	if m.Reason == "" {
		return m.Status
	}
	return m.Status + ": " + m.Reason
}

// failed reports whether a node has failed, and was executed.
func (m rawMark) failed() bool { return m.Class == "failure" && m.Attempt > 0 }

// ruling is what the rules say of a step, or of an item of a map.
type ruling struct {
	ready   bool // it may start
	kept    bool // it ended in an earlier flow run
	started bool
	decided bool
	class   string
	status  string // of one that does not run
	reason  string
	items   []ruling // of a map whose join holds
}

// judged are the fates of all steps.
type judged map[string]*ruling

// node returns the fate of a node; nil if the rules know none.
func (j judged) node(name string) *ruling {
	step, digits, isItem := strings.Cut(name, "@")
	f := j[step]
	if !isItem || f == nil {
		return f
	}
	item, err := strconv.Atoi(digits)
	if err != nil || item >= len(f.items) {
		return nil
	}
	return &f.items[item]
}

// stopped is the reason of a node that did not run because its flow run was ended: it decides nothing.
const stopped = "flow_stopped"

func classOfMark(m rawMark, allowFailure bool) string {
	skipped := m.Status == "skipped"
	switch {
	case m.Status == "succeeded", m.Class == "success": // it was accepted
		return "success"
	case skipped && slices.Contains([]string{"when_false", "upstream_skipped", "rule_unmet", "map_stopped",
		"not_answered"}, m.Reason):
		return "skipped"
	case allowFailure && !skipped && m.Status != "refused" && m.Status != "missed":
		return "success"
	}
	return "failure"
}

func (f *rawFlow) step(name string) *rawStep {
	return &f.Steps[slices.IndexFunc(f.Steps, func(s rawStep) bool { return s.Name == name })]
}

// judge applies the rules to the marks.
func (f *rawFlow) judge(marks map[string]rawMark, kept keeps) judged {
	all := judged{}
	for i := range f.Steps {
		s := &f.Steps[i]
		own := &ruling{}
		all[s.Name] = own
		if was := kept.steps[s.Name]; was != nil {
			own.kept, own.decided, own.class, own.status = true, true, was.class, was.status
			continue
		}
		if m, marked := marks[s.Name]; marked {
			own.started = m.State == "started"
			own.decided = !own.started && m.Reason != stopped
			own.class, own.status, own.reason = classOfMark(m, s.AllowFailure), m.Status, m.Reason
			continue
		}
		holds, reason := s.join(all)
		if s.Finally {
			holds, reason = f.cleansUp(s, all, marks, kept)
		}
		switch {
		case reason != "":
			own.skip(reason)
		case !holds || !s.Finally && !s.readable(all):
		case !s.when(all):
			own.skip("when_false")
		case s.ForEach != nil:
			s.expand(f, own, marks, kept)
		default:
			own.ready = true
		}
	}
	return all
}

// of returns the step of a node.
func (f *rawFlow) of(node string) *rawStep {
	name, _, _ := strings.Cut(node, "@")
	return f.step(name)
}

// cleansUp reports whether a clean-up step runs, or why not: once the main part and the clean-up steps before it have
// ended, if one of its sources was started.
func (f *rawFlow) cleansUp(s *rawStep, all judged, marks map[string]rawMark, kept keeps) (holds bool, reason string) {
	left := kept.again[s.Name]
	for i := range f.Steps {
		other := &f.Steps[i]
		ended := func(own *ruling, name string) bool {
			return own.decided || !other.Finally && marks[name].Reason == stopped
		}
		before := slices.ContainsFunc(s.After, func(e rawEdge) bool { return e.Step == other.Name })
		own := all[other.Name]
		if other.Finally && !before {
			continue
		}
		if len(own.items) == 0 && !ended(own, other.Name) {
			return false, ""
		}
		for item := range own.items {
			if !ended(&own.items[item], fmt.Sprintf("%s@%05d", other.Name, item)) {
				return false, ""
			}
		}
		if !before && len(s.After) > 0 {
			continue
		}
		for name, m := range marks {
			if step, _, _ := strings.Cut(name, "@"); step == other.Name && m.Attempt > 0 {
				left = true
			}
		}
	}
	if !left {
		return false, "rule_unmet"
	}
	return true, ""
}

func (f *ruling) skip(reason string) {
	f.decided, f.status, f.reason = true, "skipped", reason
	f.class = classOfMark(rawMark{Status: "skipped", Reason: reason}, false)
}

// join reports whether the join of a step holds, or why it can no longer.
func (s *rawStep) join(all judged) (holds bool, reason string) {
	conditions := map[string]string{"": "success", "all_success": "success", "none_failed": "not_failed",
		"none_failed_one_success": "not_failed",
		"all_done":                "done", "all_failed": "failure", "one_success": "success", "one_failed": "failure",
		"one_done": "done"}
	open, held, broken, failed, skipped := 0, 0, 0, false, false
	good, passed := false, false
	for _, e := range s.After {
		on, source := e.On, all[e.Step]
		if on == "" {
			on = conditions[s.Rule]
		}
		good = good || source.decided && source.class == "success"
		passed = passed || source.decided && source.class == "skipped"
		switch {
		case !source.decided:
			open++
		case on == "done" || on == source.class || on == "not_failed" && source.class != "failure",
			on == "failure" && source.status != "succeeded" && source.status != "skipped":
			held++
		default:
			broken++
			failed = failed || source.class == "failure" && (on == "success" || on == "not_failed")
			skipped = skipped || source.class == "skipped" && on == "success"
		}
	}
	reason = "rule_unmet"
	if failed {
		reason = "upstream_failed"
	} else if skipped {
		reason = "upstream_skipped"
	}
	if strings.HasPrefix(s.Rule, "one_") {
		switch {
		case held > 0:
			return true, ""
		case open > 0:
			return false, ""
		}
		return false, reason
	}
	switch {
	case open > 0:
		return false, ""
	case broken > 0:
		return false, reason
	case s.Rule != "none_failed_one_success" || good:
	case passed:
		return false, "upstream_skipped"
	default:
		return false, "rule_unmet"
	}
	return true, ""
}

// The play has conditions of two forms: false, and steps.S.status == 'T'.
func (s *rawStep) reads() (step, status string) {
	rest, found := strings.CutPrefix(s.When, "steps.")
	if !found {
		return "", ""
	}
	step, rest, _ = strings.Cut(rest, ".")
	return step, strings.Trim(strings.TrimPrefix(rest, "status == "), "'")
}

// readable reports whether what the step reads is decided.
func (s *rawStep) readable(all judged) bool {
	step, _ := s.reads()
	if step != "" && !all[step].decided {
		return false
	}
	if s.ForEach != nil && s.ForEach.List != "" {
		return all[strings.Split(s.ForEach.List, ".")[1]].decided
	}
	return true
}

func (s *rawStep) when(all judged) bool {
	if step, status := s.reads(); step != "" {
		return all[step].status == status
	}
	return s.When != "false"
}

// expand decides a map by its items. One whose list does not exist is started, and ends refused.
func (s *rawStep) expand(f *rawFlow, own *ruling, marks map[string]rawMark, kept keeps) {
	names := s.ForEach.Items
	if s.ForEach.List != "" {
		at := strings.Split(s.ForEach.List, ".")
		outputs := marks[at[1]].Outputs
		if was := kept.steps[at[1]]; was != nil {
			outputs = was.outputs
		}
		list, exists := outputs[at[3]]
		if from := f.step(at[1]); !exists && from.Outputs[at[3]].Default == nil {
			own.ready = true
			return
		}
		names = strings.Fields(list)
	}
	if len(names) == 0 {
		own.decided, own.class, own.status, own.reason = true, "success", "succeeded", "no_items"
		return
	}
	own.items = make([]ruling, len(names))
	ended, failed, halted := 0, 0, 0
	for i := range names {
		m, marked := marks[fmt.Sprintf("%s@%05d", s.Name, i)]
		item := &own.items[i]
		if kept.items[s.Name][i] {
			item.kept, item.decided, item.class, item.status = true, true, "success", "succeeded"
			ended++
			continue
		}
		if !marked {
			item.ready = true
			continue
		}
		item.started = m.State == "started"
		item.decided, item.status, item.reason = !item.started, m.Status, m.Reason
		item.class = classOfMark(m, false)
		if item.decided {
			ended++
			if m.Reason == stopped {
				halted++
			} else if item.class == "failure" {
				failed++
			}
		}
	}
	if s.ForEach.Stop && failed > s.ForEach.MaxFailures {
		for i := range own.items {
			if item := &own.items[i]; item.ready {
				item.ready, item.status, item.reason, item.class = false, "skipped", "map_stopped", "skipped"
				ended++
			}
		}
	}
	if ended < len(names) {
		return
	}
	own.decided, own.class, own.status = halted == 0, "success", "succeeded"
	if failed+halted > s.ForEach.MaxFailures {
		own.status = "failed"
		if !s.AllowFailure {
			own.class = "failure"
		}
	}
}

// nodes are the names of those that a flow run has and did not keep, once everything is decided.
func (f *rawFlow) nodes(all judged) (names []string) {
	for i := range f.Steps {
		s := &f.Steps[i]
		for item := range all[s.Name].items {
			if !all[s.Name].items[item].kept {
				names = append(names, fmt.Sprintf("%s@%05d", s.Name, item))
			}
		}
		if len(all[s.Name].items) == 0 && !all[s.Name].kept {
			names = append(names, s.Name)
		}
	}
	return names
}
