package check

import (
	"slices"
	"strings"
	"testing"
)

// flowWorld is a flow run whose step a has failed, then b runs on failure, c does not run, and d is a map after all.
func flowWorld() *History {
	h := &History{
		Flows: []Flow{{Name: "f", Steps: []Step{
			{Name: "a", RetryMax: 1},
			{Name: "b", After: []string{"a"}, Rule: OneFailed},
			{Name: "c", After: []string{"a"}},
			{Name: "d", After: []string{"b", "c"}, Rule: AllDone, Items: 2},
		}}},
		Jobs: []Job{{Name: "f", UID: "u", Overlap: Allow, OnLost: Rerun, Silent: true}},
		Runs: []Run{{ID: "u.t1.1", Job: "f", JobUID: "u", Fire: "u.t1", Attempt: 1, Status: "failed"}},
	}
	h.ran("a", "na", 1, 1, 1)
	h.ran("a", "na", 2, 2, 1)
	h.ran("b", "nb", 1, 3, 0)
	h.ran("d@00000", "nd0", 1, 4, 0)
	h.ran("d@00001", "nd1", 1, 4, 0)
	h.Nodes = append(h.Nodes, Run{ID: "u.nc.0", Job: "f:c", Fire: "u.nc", Status: "skipped",
		Reason: &Reason{Code: "upstream_failed"}, Flow: &NodeRef{"u.t1.1", "c"}})
	return h
}

// ran adds an attempt of a node, which began at a second and took half of one.
func (h *History) ran(node, fire string, attempt int, at float64, exit int64) {
	run := Run{ID: "u." + fire + "." + itoa(attempt), Job: "f:" + node, Fire: "u." + fire, Attempt: attempt,
		Status: "succeeded", Flow: &NodeRef{"u.t1.1", node}}
	if exit != 0 {
		run.Status = "failed"
	}
	h.Nodes = append(h.Nodes, run)
	line := Line{What: Start, At: boot(at), Job: run.Job, Run: run.ID, Attempt: attempt, Worker: "w1"}
	end := line
	end.What, end.At, end.A = End, boot(at+0.5), exit
	h.Lines = append(h.Lines, line, end)
}

// node returns the last attempt of a node.
func (h *History) node(name string) *Run {
	for i := range slices.Backward(h.Nodes) {
		if h.Nodes[i].Flow.Node == name {
			return &h.Nodes[i]
		}
	}
	return nil
}

func (h *History) without(node string) {
	h.Nodes = slices.DeleteFunc(h.Nodes, func(r Run) bool { return r.Flow.Node == node })
}

func TestFlows_BrokenPromises_AreReported(t *testing.T) {
	if r := Check(*flowWorld()); len(r.Violations) > 0 || r.FlowRuns != 1 || r.FlowNodes != 5 {
		t.Fatalf("the report of a correct flow run: %s", &r)
	}
	for name, c := range map[string]struct {
		change func(*History)
		want   Rule
		text   string
	}{
		"a node was started twice": {func(h *History) {
			h.Lines = append(h.Lines, h.Lines[4])
		}, Doubled, "2 times"},
		"a node without an entry":         {func(h *History) { h.without("d@00001") }, Silent, "not in the list"},
		"a skipped node without an entry": {func(h *History) { h.without("c") }, Flows, "no entry"},
		"a node ran against its rule": {func(h *History) {
			h.without("c")
			h.ran("c", "nc", 1, 3, 0)
		}, Flows, `want the reason "upstream_failed"`},
		"a node was skipped against its rule": {func(h *History) {
			h.without("b")
			h.Lines = append(h.Lines[:4:4], h.Lines[6:]...)
			h.Nodes = append(h.Nodes, Run{ID: "u.nb.0", Job: "f:b", Fire: "u.nb", Status: "skipped",
				Reason: &Reason{Code: "rule_unmet"}, Flow: &NodeRef{"u.t1.1", "b"}})
		}, Flows, `want the reason ""`},
		"another reason": {func(h *History) { h.node("c").Reason.Code = "rule_unmet" }, Flows, "rule_unmet"},
		"a node began before its parent had ended": {func(h *History) {
			h.Lines[6].At = boot(3.2)
		}, Flows, "before the end"},
		"a lost failure":      {func(h *History) { h.node("a").Status = "succeeded" }, Outcome, "lines"},
		"an invented failure": {func(h *History) { h.node("b").Status = "failed" }, Outcome, "lines"},
		"a loss without a cause": {func(h *History) {
			h.node("b").Status = "lost"
		}, Outcome, "nothing happened"},
		"a node that has not ended":     {func(h *History) { h.node("b").Status = "running" }, Open, "running"},
		"a flow run that has not ended": {func(h *History) { h.Runs[0].Status = "running" }, Open, "running"},
		"a wrong status of the flow run": {func(h *History) {
			h.Runs[0].Status = "succeeded"
		}, Flows, "make it failed"},
		"an entry twice": {func(h *History) {
			h.Nodes = append(h.Nodes, *h.node("b"))
		}, Listing, "twice"},
		"an attempt too many": {func(h *History) {
			h.ran("b", "nb", 2, 3.6, 0)
			h.ran("b", "nb", 3, 3.7, 0)
			h.ran("b", "nb", 4, 3.8, 0)
		}, Attempts, "of 4"},
		"a step that is not defined":    {func(h *History) { h.ran("x", "nx", 1, 1, 0) }, Flows, "does not have"},
		"a flow run that is not listed": {func(h *History) { h.Runs = nil }, Flows, "not listed"},
	} {
		h := flowWorld()
		c.change(h)
		r := Check(*h)
		if !slices.ContainsFunc(r.Violations, func(v Violation) bool {
			return v.Rule == c.want && strings.Contains(v.Detail, c.text)
		}) {
			t.Errorf("%s: %s", name, &r)
		}
	}
}

// cleanWorld is a flow run that was killed while b ran, after an approval; the clean-up step z ran after that.
func cleanWorld() *History {
	h := &History{
		Flows: []Flow{{Name: "f", Steps: []Step{
			{Name: "a"},
			{Name: "ask", After: []string{"a"}, Approval: true},
			{Name: "b", After: []string{"ask"}},
			{Name: "c", After: []string{"b"}},
			{Name: "z", After: []string{"a", "b"}, Finally: true},
			{Name: "y", After: []string{"c"}, Finally: true},
		}}},
		Jobs: []Job{{Name: "f", UID: "u", Overlap: Allow, OnLost: Rerun, Silent: true}},
		Runs: []Run{{ID: "u.t1.1", Job: "f", JobUID: "u", Fire: "u.t1", Attempt: 1, Status: "killed"}},
		Journal: []Event{
			{Kind: Approved, Run: "u.t1.1", At: boot(2)}, {Kind: Accepted, Run: "u.t1.1", Text: string(Approved)},
			{Kind: RunKilled, Run: "u.t1.1", At: boot(4)}, {Kind: Accepted, Run: "u.t1.1", Text: string(RunKilled)},
		},
	}
	h.ran("a", "na", 1, 1, 0)
	h.Nodes = append(h.Nodes, Run{ID: "u.nask.1", Job: "f:ask", Fire: "u.nask", Attempt: 1, Status: "succeeded",
		Flow: &NodeRef{"u.t1.1", "ask"}})
	h.ran("b", "nb", 1, 3, 0)
	h.Lines[len(h.Lines)-1].What = Term
	h.node("b").Status = "killed"
	h.ran("z", "nz", 1, 5, 0)
	for step, reason := range map[string]string{"c": flowStopped, "y": "rule_unmet"} {
		h.Nodes = append(h.Nodes, Run{ID: "u.n" + step + ".0", Job: "f:" + step, Fire: "u.n" + step, Status: "skipped",
			Reason: &Reason{Code: reason}, Flow: &NodeRef{"u.t1.1", step}})
	}
	return h
}

func TestFlows_EndedEarly_BrokenPromisesAreReported(t *testing.T) {
	if r := Check(*cleanWorld()); len(r.Violations) > 0 || r.FlowRuns != 1 || r.FlowNodes != 6 {
		t.Fatalf("the report of a correct flow run: %s", &r)
	}
	for name, c := range map[string]struct {
		change func(*History)
		want   Rule
		text   string
	}{
		"it was killed, and no request for it": {func(h *History) { h.Journal = h.Journal[:2] }, Flows,
			"without a request"},
		"a kill request had no effect": {func(h *History) { h.Runs[0].Status = "failed" }, Flows,
			"a kill request for it was accepted"},
		"it timed out, without a timeout": {func(h *History) { h.Runs[0].Status = "timed_out" }, Flows, "no timeout"},
		"the clean-up step was left out": {func(h *History) {
			h.without("z")
			h.Lines = h.Lines[:4]
			h.Nodes = append(h.Nodes, Run{ID: "u.nz.0", Job: "f:z", Fire: "u.nz", Status: "skipped",
				Reason: &Reason{Code: flowStopped}, Flow: &NodeRef{"u.t1.1", "z"}})
		}, Flows, `want the reason ""`},
		"the clean-up step was ended too": {func(h *History) { h.node("z").Status = "killed" }, Outcome,
			"nothing ended it"},
		"the clean-up began before the end of a step that was killed": {func(h *History) {
			h.Lines[3].At = boot(5.2)
		}, Flows, "before the end"},
		"there was nothing to clean up": {func(h *History) {
			h.without("y")
			h.ran("y", "ny", 1, 5, 0)
		}, Flows, `want the reason "rule_unmet"`},
		"a step was stopped that by the rules was over before": {func(h *History) {
			h.node("c").Reason.Code = "rule_unmet"
		}, Flows, `want the reason "upstream_failed"`},
		"a step was killed in a flow run that was not": {func(h *History) {
			h.Runs[0].Status, h.Journal = "failed", h.Journal[:2]
		}, Outcome, "nothing ended it"},
		"an approval that was not given": {func(h *History) { h.Journal = h.Journal[2:] }, Outcome,
			"did not answer so"},
		"an approval without effect": {func(h *History) { h.node("ask").Status = "timed_out" }, Outcome,
			"approved: true"},
	} {
		h := cleanWorld()
		c.change(h)
		r := Check(*h)
		if !slices.ContainsFunc(r.Violations, func(v Violation) bool {
			return v.Rule == c.want && strings.Contains(v.Detail, c.text)
		}) {
			t.Errorf("%s: %s", name, &r)
		}
	}
}

// againWorld is a flow run whose steps a, c and d succeeded and whose step b failed, and its re-run, in which b
// succeeded; c depends on b. With an acceptance c ran, and b did not.
func againWorld(accept bool) *History {
	h := &History{
		Flows: []Flow{{Name: "f", Steps: []Step{{Name: "a"}, {Name: "b", After: []string{"a"}},
			{Name: "c", After: []string{"b"}}}}},
		Jobs: []Job{{Name: "f", UID: "u", Overlap: Allow, OnLost: Rerun, Silent: true}},
		Runs: []Run{{ID: "u.t1.1", Job: "f", JobUID: "u", Fire: "u.t1", Attempt: 1, Status: "failed"},
			{ID: "u.t1.2", Job: "f", JobUID: "u", Fire: "u.t1", Attempt: 2, Status: "succeeded", Cause: "rerun"}},
		Journal: []Event{{Kind: RunAgain, Run: "u.t1.1"}, {Kind: Accepted, Run: "u.t1.1", Text: string(RunAgain)}},
	}
	if accept {
		h.Journal = []Event{{Kind: FailAccepted, Run: "u.t1.1", Text: "b"},
			{Kind: Accepted, Run: "u.t1.1", Text: string(FailAccepted)}}
	}
	h.ran("a", "na", 1, 1, 0)
	h.ran("b", "nb", 1, 2, 1)
	h.Nodes = append(h.Nodes, Run{ID: "u.nc.0", Job: "f:c", Fire: "u.nc", Status: "skipped",
		Reason: &Reason{Code: "upstream_failed"}, Flow: &NodeRef{"u.t1.1", "c"}})
	if !accept {
		h.ran("b", "nb2", 1, 4, 0)
		h.again()
	}
	h.ran("c", "nc2", 1, 5, 0)
	h.again()
	return h
}

// again makes the last node one of the re-run.
func (h *History) again() {
	h.Nodes[len(h.Nodes)-1].Flow = &NodeRef{"u.t1.2", h.Nodes[len(h.Nodes)-1].Flow.Node}
}

func TestFlows_RunAgain_BrokenPromisesAreReported(t *testing.T) {
	for _, accept := range []bool{false, true} {
		if r := Check(*againWorld(accept)); len(r.Violations) > 0 || r.FlowRuns != 2 {
			t.Fatalf("the report of a correct re-run, with an acceptance: %t: %s", accept, &r)
		}
	}
	for name, c := range map[string]struct {
		accept bool
		change func(*History)
		want   Rule
		text   string
	}{
		"what has succeeded ran again": {false, func(h *History) {
			h.ran("a", "na2", 1, 3, 0)
			h.again()
		}, Flows, "was kept"},
		"what was accepted ran again": {true, func(h *History) {
			h.ran("b", "nb2", 1, 4, 0)
			h.again()
		}, Flows, "was kept"},
		"an acceptance had no effect": {true, func(h *History) {
			h.Runs[1].Status = "failed"
		}, Flows, "make it succeeded"},
		"what failed did not run again": {false, func(h *History) { h.without("b"); h.ran("b", "nb", 1, 2, 1) }, Flows,
			"has no entry"},
		"a re-run that was accepted": {false, func(h *History) {
			h.Runs, h.Nodes = h.Runs[:1], h.Nodes[:3]
		}, Follow, "nothing shows it"},
		"a re-run that was not requested": {false, func(h *History) { h.Journal = nil }, Follow, "followed by a rerun"},
		"an acceptance that was not requested": {false, func(h *History) {
			h.Runs[0].Accepted = []string{"b"}
		}, Flows, "did not accept it"},
	} {
		h := againWorld(c.accept)
		c.change(h)
		r := Check(*h)
		if !slices.ContainsFunc(r.Violations, func(v Violation) bool {
			return v.Rule == c.want && strings.Contains(v.Detail, c.text)
		}) {
			t.Errorf("%s: %s", name, &r)
		}
	}
}

func TestFlows_ApprovalWithAParameter_BrokenPromisesAreReported(t *testing.T) {
	for name, c := range map[string]struct {
		status, given string
		skips         bool
		text          string // empty: nothing is broken
	}{
		"approved":                        {"succeeded", "7", true, ""},
		"approved with another value":     {"succeeded", "8", true, "the operator gave"},
		"skipped":                         {"skipped", "", true, ""},
		"timed out, and is to be skipped": {"timed_out", "", true, "to be skipped: true"},
		"skipped, and is to fail":         {"skipped", "", false, "to be skipped: false"},
	} {
		h := &History{
			Flows: []Flow{{Name: "f", Steps: []Step{{Name: "ask", Approval: true, Skips: c.skips, Param: "N"}}}},
			Jobs:  []Job{{Name: "f", UID: "u", Overlap: Allow, OnLost: Rerun, Silent: true}},
			Runs:  []Run{{ID: "u.t1.1", Job: "f", JobUID: "u", Fire: "u.t1", Attempt: 1, Status: "succeeded"}},
			Nodes: []Run{{ID: "u.nask.1", Job: "f:ask", Fire: "u.nask", Attempt: 1, Status: c.status,
				Outputs: map[string]string{"N": c.given}, Flow: &NodeRef{"u.t1.1", "ask"}}},
		}
		if c.status == "succeeded" {
			h.Journal = []Event{{Kind: Approved, Run: "u.t1.1", Text: "7"},
				{Kind: Accepted, Run: "u.t1.1", Text: string(Approved)}}
		}
		r := Check(*h)
		found := slices.ContainsFunc(r.Violations, func(v Violation) bool {
			return v.Rule == Outcome && strings.Contains(v.Detail, c.text)
		})
		if c.text == "" && len(r.Violations) > 0 || c.text != "" && !found {
			t.Errorf("%s: %s", name, &r)
		}
	}
}
