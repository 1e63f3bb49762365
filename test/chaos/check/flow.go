package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Flow is a flow that the harness sent.
type Flow struct {
	Name  string `json:"name"`
	Steps []Step `json:"steps"` // parents before children, clean-up steps last

	Timeout bool `json:"timeout,omitempty"` // its flow runs have one
}

// Step is a step of a flow.
type Step struct {
	Name     string   `json:"name"`
	After    []string `json:"after,omitempty"`
	Rule     string   `json:"rule,omitempty"`     // all_success where it is empty
	Items    int      `json:"items,omitempty"`    // of a map
	Allow    bool     `json:"allow,omitempty"`    // any end counts as success
	Skipped  bool     `json:"skipped,omitempty"`  // its condition is false
	RetryMax int      `json:"retryMax,omitempty"` // further attempts of a command that failed
	Job      string   `json:"job,omitempty"`      // the job or flow that it runs; empty if it runs a command
	Approval bool     `json:"approval,omitempty"` // it waits for an operator, and has a timeout
	Skips    bool     `json:"skips,omitempty"`    // an approval that is skipped without an answer
	Param    string   `json:"param,omitempty"`    // the parameter of an approval
	Finally  bool     `json:"finally,omitempty"`  // a clean-up step
}

// NodeRef is the field flow of a run.
type NodeRef struct {
	Run  string `json:"run"`
	Node string `json:"node"`
}

// Rules of steps, as the API names them.
const (
	NoneFailed = "none_failed"
	AllDone    = "all_done"
	OneFailed  = "one_failed"
)

// class is how the end of a step counts for the steps after it.
type class int

const (
	good class = iota
	bad
	passed // skipped without a failure
)

// flowRun is a flow run with the runs of its nodes.
type flowRun struct {
	*Run
	flow  *Flow
	nodes map[string][]*Run // by node; sorted by attempt

	judged  bool
	classes map[string]class // of its steps, once it is judged; nil if it did not begin
}

// flows compares the runs of nodes with the lines of their commands, and the end of each step with what follows from
// its definition and from the ends of the steps before it.
func (j *judge) flows() {
	byRun, seen := map[string]*flowRun{}, map[string]bool{}
	all := slices.Concat(j.Runs, j.Nodes)
	for i := range all {
		r := &all[i]
		if flow := j.flow(r.Job); flow != nil && r.Attempt > 0 && r.Gap == nil {
			byRun[r.ID] = &flowRun{Run: r, flow: flow, nodes: map[string][]*Run{}}
		}
	}
	for i := range j.Nodes {
		r := &j.Nodes[i]
		of := byRun[r.Flow.Run]
		switch {
		case of == nil:
			j.broken(Flows, r.Job, r.ID, "is of the flow run %s, which is not listed", r.Flow.Run)
			continue
		case seen[r.ID]:
			j.broken(Listing, r.Job, r.ID, "is listed twice")
		}
		seen[r.ID] = true
		of.nodes[r.Flow.Node] = append(of.nodes[r.Flow.Node], r)
	}
	for id, c := range j.nodes {
		if c.starts > 1 {
			j.broken(Doubled, c.Job, id, "started %d times", c.starts)
		}
		if !seen[id] {
			j.broken(Silent, c.Job, id, "its command was started, and it is not in the list")
		}
	}
	for _, r := range byRun {
		j.report.FlowRuns++
		j.flowRun(r, byRun)
	}
}

// flow returns a flow by its name; nil for a job that is none.
func (j *judge) flow(name string) *Flow {
	for i := range j.Flows {
		if j.Flows[i].Name == name {
			return &j.Flows[i]
		}
	}
	return nil
}

// flowRun checks one flow run, after the one that it goes on from.
func (j *judge) flowRun(r *flowRun, byRun map[string]*flowRun) {
	if r.judged {
		return
	}
	r.judged = true
	before := r.before(byRun)
	if before != nil {
		j.flowRun(before, byRun)
	}
	if open(r.Status) {
		j.broken(Open, r.Job, r.ID, "still %s", r.Status)
		return
	}
	if !j.mayEnd(r) {
		return
	}
	classes, started, left := map[string]class{}, map[string]bool{}, len(r.nodes)
	r.classes = classes
	kept := j.keptOf(r, before)
	want := "succeeded"
	for i := range r.flow.Steps {
		s := &r.flow.Steps[i]
		if was, isKept := kept[s.Name]; isKept {
			if classes[s.Name] = was; was == bad {
				want = "failed"
			}
			if r.nodes[s.Name] != nil {
				j.broken(Flows, r.Job, r.ID+"/"+s.Name, "has an entry, and was kept from %s", before.ID)
				left--
			}
			continue
		}
		reason := s.expected(classes)
		if s.Finally {
			reason = s.cleans(started)
		}
		names := []string{s.Name}
		if s.Items > 0 && r.nodes[s.Name] == nil {
			names = nil
			for item := range s.Items {
				names = append(names, fmt.Sprintf("%s@%05d", s.Name, item))
			}
		}
		failures := 0
		for _, name := range names {
			if r.nodes[name] != nil {
				left--
			}
			if r.stopped(s, name) {
				reason = flowStopped
			}
			if !j.node(r, s, name, reason) {
				failures++
			}
			started[s.Name] = started[s.Name] || reason == ""
		}
		if j.isAccepted(r, s.Name) {
			failures = 0
		}
		switch {
		case s.Skips && reason == "" && r.last(s.Name).Status == "skipped":
			classes[s.Name] = passed
		case reason == "upstream_failed", reason == flowStopped, reason == "" && failures > 0 && !s.Allow:
			classes[s.Name], want = bad, "failed"
		case reason != "":
			classes[s.Name] = passed
		}
	}
	if left != 0 {
		j.broken(Flows, r.Job, r.ID, "has %d nodes that its definition does not have", left)
	}
	if !r.early() && r.Status != want {
		j.broken(Flows, r.Job, r.ID, "%s, and its steps make it %s", r.Status, want)
	}
}

// flowStopped is the reason of nodes that did not start before their flow run was ended.
const flowStopped = "flow_stopped"

// early reports whether the flow run was ended before its steps had ended.
func (r *flowRun) early() bool { return r.Status == "killed" || r.Status == "timed_out" }

// mayEnd compares the status of a flow run with the requests for it, and reports whether its steps can be checked.
func (j *judge) mayEnd(r *flowRun) bool {
	asked := slices.ContainsFunc(j.Journal, func(e Event) bool { return e.Kind == RunKilled && e.Run == r.ID })
	switch r.Status {
	case "succeeded", "failed":
		if j.accepted(RunKilled, r.ID) {
			j.broken(Flows, r.Job, r.ID, "%s, and a kill request for it was accepted", r.Status)
		}
	case "killed":
		if !asked && (r.Flow == nil || !j.endedEarly(r.Flow.Run)) {
			j.broken(Flows, r.Job, r.ID, "killed, without a request for it or the flow run above it")
		}
	case "timed_out":
		if !r.flow.Timeout {
			j.broken(Flows, r.Job, r.ID, "timed out, and has no timeout")
		}
	default: // it never began, or a restore ended it
		return false
	}
	return true
}

// accepted reports whether a request for a run was accepted.
func (j *judge) accepted(kind Kind, run string) bool {
	return slices.ContainsFunc(j.Journal, func(e Event) bool {
		return e.Kind == Accepted && e.Run == run && e.Text == string(kind)
	})
}

// endedEarly reports whether a flow run was killed, or timed out.
func (j *judge) endedEarly(id string) bool {
	return slices.ContainsFunc(slices.Concat(j.Runs, j.Nodes), func(r Run) bool {
		return r.ID == id && (r.Status == "killed" || r.Status == "timed_out")
	})
}

// stopped reports whether a node of the main part did not start because its flow run was ended. Nothing but that may
// be the reason where the rules would let it start; where they would not, they may have decided before.
func (r *flowRun) stopped(s *Step, name string) bool {
	if runs := r.nodes[name]; r.early() && !s.Finally && len(runs) == 1 {
		return runs[0].Attempt == 0 && code(runs[0].Reason) == flowStopped
	}
	return false
}

// cleans returns the reason for which a clean-up step is not started; empty if it is, since one of the steps before it
// was.
func (s *Step) cleans(started map[string]bool) string {
	if slices.ContainsFunc(s.After, func(parent string) bool { return started[parent] }) {
		return ""
	}
	return "rule_unmet"
}

// expected returns the reason for which a step is not started; empty if it is.
func (s *Step) expected(classes map[string]class) string {
	counts := [3]int{}
	for _, parent := range s.After {
		counts[classes[parent]]++
	}
	switch {
	case s.Rule == OneFailed && counts[bad] == 0:
		return "rule_unmet"
	case (s.Rule == "" || s.Rule == NoneFailed) && counts[bad] > 0:
		return "upstream_failed"
	case s.Rule == "" && counts[passed] > 0:
		return "upstream_skipped"
	case s.Skipped:
		return "when_false"
	}
	return ""
}

// node checks the runs of a node, and reports whether it succeeded.
func (j *judge) node(r *flowRun, s *Step, name, reason string) bool {
	runs := r.nodes[name]
	what := r.ID + "/" + name
	if len(runs) == 0 {
		j.broken(Flows, r.Job, what, "has no entry, want one (reason %q)", reason)
		return true
	}
	j.report.FlowNodes++
	slices.SortFunc(runs, func(a, b *Run) int { return cmp.Compare(a.Attempt, b.Attempt) })
	last := runs[len(runs)-1]
	if skipped := last.Attempt == 0; skipped != (reason != "") || skipped && code(last.Reason) != reason {
		j.broken(Flows, r.Job, what, "%s (%s), want the reason %q", last.Status, code(last.Reason), reason)
		return true
	}
	if reason != "" {
		return false
	}
	began := Boot(0)
	for i, run := range runs {
		if run.Attempt != i+1 || len(runs) > max(3, 1+s.RetryMax) || i < len(runs)-1 && run.Status == "succeeded" {
			j.broken(Attempts, r.Job, what, "entry %d of %d is attempt %d, %s", i+1, len(runs), run.Attempt, run.Status)
		}
		if c := j.nodes[run.ID]; c != nil && (began == 0 || c.At < began) {
			began = c.At
		}
		j.nodeOutcome(r, s, run)
	}
	if s.Finally {
		j.afterMainPart(r, what, began)
	}
	j.afterParents(r, s, what, began)
	return last.Status == "succeeded"
}

// nodeOutcome compares the status of an attempt with the lines of its command, or with the answers of the operator.
func (j *judge) nodeOutcome(r *flowRun, s *Step, run *Run) {
	c := j.nodes[run.ID]
	ended := c != nil && c.end != nil
	switch {
	case open(run.Status):
		j.broken(Open, run.Job, run.ID, "still %s", run.Status)
	case run.Status == "killed" && (s.Finally || !r.early()):
		j.broken(Outcome, run.Job, run.ID, "killed, and nothing ended it before its time")
	case s.Approval:
		j.answered(r, s, run)
	case j.flow(s.Job) != nil: // which is checked by itself
	case run.Status == "succeeded" && (!ended || c.end.A != 0), run.Status == "failed" && ended && c.end.A == 0:
		j.broken(Outcome, run.Job, run.ID, "%s, and the lines of its command differ", run.Status)
	case run.Status == "lost" && len(j.troubles) == 0:
		j.broken(Outcome, run.Job, run.ID, "lost, and nothing happened to any worker")
	}
}

// answered compares the end of an approval with what the operator answered.
func (j *judge) answered(r *flowRun, s *Step, run *Run) {
	asked := func(kind Kind) bool { return j.asked(kind, r.ID) != nil }
	if e := j.asked(Approved, r.ID); s.Param != "" && run.Status == "succeeded" && e != nil &&
		run.Outputs[s.Param] != e.Text {
		j.broken(Outcome, run.Job, run.ID, "has the parameter %q, and the operator gave %q", run.Outputs[s.Param],
			e.Text)
	}
	if late := run.Status == "timed_out" || run.Status == "skipped"; late && s.Skips != (run.Status == "skipped") {
		j.broken(Outcome, run.Job, run.ID, "%s without an answer, and is to be skipped: %t", run.Status, s.Skips)
	}
	switch approved, rejected := j.accepted(Approved, r.ID), j.accepted(Rejected, r.ID); {
	case run.Status == "succeeded" && !asked(Approved), run.Status == "failed" && !asked(Rejected):
		j.broken(Outcome, run.Job, run.ID, "%s, and the operator did not answer so", run.Status)
	case approved && run.Status != "succeeded", rejected && run.Status != "failed":
		j.broken(Outcome, run.Job, run.ID, "%s, and the operator approved: %t, rejected: %t", run.Status, approved,
			rejected)
	}
}

// afterMainPart checks that the command of a clean-up step began when those of all other steps had ended, those that
// were killed too.
func (j *judge) afterMainPart(r *flowRun, what string, began Boot) {
	for node, runs := range r.nodes {
		step, _, _ := strings.Cut(node, "@")
		if at := slices.IndexFunc(r.flow.Steps, func(s Step) bool { return s.Name == step }); at < 0 || began == 0 ||
			r.flow.Steps[at].Finally {
			continue
		}
		for _, run := range runs {
			if c := j.nodes[run.ID]; c != nil && c.last > began && run.Status != "lost" {
				j.broken(Flows, r.Job, what, "began %v before the end of %s, which is %s", c.last.Sub(began), run.ID,
					run.Status)
			}
		}
	}
}

// afterParents checks that the command of a step began after those of the steps before it had ended.
func (j *judge) afterParents(r *flowRun, s *Step, what string, began Boot) {
	for node, runs := range r.nodes {
		step, _, _ := strings.Cut(node, "@")
		if began == 0 || !slices.Contains(s.After, step) || s.Rule == OneFailed {
			continue
		}
		for _, run := range runs {
			c := j.nodes[run.ID]
			if c != nil && c.end != nil && c.end.At > began && (run.Status == "succeeded" || run.Status == "failed") {
				j.broken(Flows, r.Job, what, "began %v before the end of %s", c.end.At.Sub(began), run.ID)
			}
		}
	}
}

// ofNode reports whether a run is that of a node of a flow run.
func ofNode(run string) bool {
	_, fire, _ := strings.Cut(run, ".")
	return strings.HasPrefix(fire, "n")
}
