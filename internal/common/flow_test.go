package common

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEdge_JSON_IsShortWithoutACondition(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{`"a"`, `"a"`},
		{`{"step":"a"}`, `"a"`},
		{`{"step":"a","on":"done"}`, `{"step":"a","on":"done"}`},
		{`{"step":"a","exitCodes":[7,28]}`, `{"step":"a","exitCodes":[7,28]}`},
		{`{"step":"a","when":"x"}`, ""},
		{`{"step":1}`, ""},
		{`7`, ""},
		{`["a"]`, ""},
	} {
		var e Edge
		err := json.Unmarshal([]byte(c.in), &e)
		if (err != nil) != (c.out == "") {
			t.Errorf("%s: %v", c.in, err)
		}
		if c.out == "" || err != nil {
			continue
		}
		if out, err := json.Marshal([]Edge{e}); err != nil || string(out) != "["+c.out+"]" {
			t.Errorf("%s becomes %s, %v, want %s", c.in, out, err, c.out)
		}
	}
}

func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		status Status
		reason string
		want   Class
	}{
		{StatusSucceeded, "", ClassSuccess},
		{StatusSucceeded, ReasonNoItems, ClassSuccess},
		{StatusFailed, "", ClassFailure},
		{StatusTimedOut, "", ClassFailure},
		{StatusKilled, "", ClassFailure},
		{StatusLost, ReasonVanished, ClassFailure},
		{StatusRefused, "", ClassFailure},
		{StatusMissed, "", ClassFailure},
		{StatusSkipped, ReasonUpstreamFailed, ClassFailure},
		{StatusSkipped, ReasonFlowStopped, ClassFailure},
		{StatusSkipped, ReasonDeleted, ClassFailure},
		{StatusSkipped, ReasonWhenFalse, ClassSkipped},
		{StatusSkipped, ReasonUpstreamSkipped, ClassSkipped},
		{StatusSkipped, ReasonRuleUnmet, ClassSkipped},
	} {
		if got := ClassOf(c.status, c.reason); got != c.want {
			t.Errorf("%s %s is %s, want %s", c.status, c.reason, got, c.want)
		}
	}
}

func TestEndOf_IsTheMarkOfTheRun(t *testing.T) {
	code := 3
	run := &Run{Job: "f:a", Fire: "u.n1", Attempt: 2, Status: StatusFailed, ExitCode: &code,
		Reason: &Reason{Code: ReasonOutOfMemory}, Outputs: map[string]string{"k": "v"}}
	end, err := json.Marshal(EndOf(FlowNode{Round: 4}, run))
	const want = `{"state":"ended","round":4,"job":"f:a","fire":"u.n1","attempt":2,"status":"failed","class":"failure",` +
		`"reason":"out_of_memory","exitCode":3,"outputs":{"k":"v"}}`
	if err != nil || string(end) != want {
		t.Errorf("the mark is %s, %v, want %s", end, err, want)
	}
}

func TestSplitNode(t *testing.T) {
	for _, c := range []struct {
		node, step string
		item       int
	}{
		{"load", "load", -1}, {ItemNode("load", 7), "load", 7}, {ItemNode("a-b_c", 9999), "a-b_c", 9999},
		{"", "", 0}, {"@00001", "", 0}, {"load@", "", 0}, {"load@1", "", 0}, {"load@-0001", "", 0},
		{"load@00001@00001", "", 0}, {"a/b", "", 0}, {"Load", "", 0}, {"a.b", "", 0}, {"f:a", "", 0},
	} {
		step, item, err := SplitNode(c.node)
		if step != c.step || item != c.item || (err != nil) != (c.step == "") {
			t.Errorf("%q: %q, %d, %v", c.node, step, item, err)
		}
	}
}

// Keepers that start the same node must name the same run, and no other node or flow run may share it.
func TestNodeFire_DependsOnFlowRunAndNode(t *testing.T) {
	seen := map[string]bool{}
	for _, fire := range []string{NodeFire("u", "r.1", "a"), NodeFire("u", "r.2", "a"), NodeFire("u", "r.1", "b"),
		NodeFire("v", "r.1", "a"), NodeFire("u", "r.1", ItemNode("a", 0))} {
		if seen[fire] || len(fire) != len("u.n")+16 {
			t.Errorf("%s is not a new id of 16 characters", fire)
		}
		seen[fire] = true
	}
	if NodeFire("u", "r.1", "a") != NodeFire("u", "r.1", "a") {
		t.Error("the id differs between calls")
	}
}

func TestBits(t *testing.T) {
	var b Bits
	for _, n := range []int{0, 7, 8, 9999} {
		b = b.With(n)
	}
	data, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var again Bits
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]bool{-1: false, 0: true, 1: false, 7: true, 8: true, 9998: false, 9999: true,
		1 << 20: false} {
		if again.Has(n) != want {
			t.Errorf("has %d: %v", n, !want)
		}
	}
}

func TestFlowFaults_FieldsOfACommand_AreRejected(t *testing.T) {
	flow := &Job{Name: "f", Shell: "/bin/bash", Env: map[string]string{"A": "b"}, Overlap: OverlapQueue,
		User: "ada", KillGrace: "5s", LostAfter: "1m", CronExpr: "* * * * *", Timeout: "4h",
		Retry: &Retry{Max: 2, Backoff: "1m"}}
	if faults := flow.FlowFaults(); len(faults) > 0 {
		t.Errorf("a flow has %v", faults)
	}
	flow = &Job{Name: "F", Command: "true", Args: []string{"a"}, Stdin: "x", SuccessExitCodes: []int{0},
		Retry: &Retry{ExitCodes: []int{3}, Elsewhere: new(true)}, Slots: 2,
		Env: map[string]string{"CARILLON_X": ""}, Priority: 10}
	var places []string
	for _, f := range flow.FlowFaults() {
		places = append(places, f.Location)
	}
	const want = "name command args stdin successExitCodes retry.exitCodes retry.elsewhere slots env.CARILLON_X " +
		"priority"
	if got := strings.Join(places, " "); got != want {
		t.Errorf("faults at %s, want %s", got, want)
	}
}

func TestRankKey(t *testing.T) {
	for _, c := range []struct {
		of   *FlowNode
		want string
	}{
		{nil, ""},
		{&FlowNode{Node: "load"}, ""},
		{&FlowNode{Node: "load@00017"}, "@00017"},
	} {
		if got := RankKey(c.of); got != c.want {
			t.Errorf("%+v: %q, want %q", c.of, got, c.want)
		}
	}
}

// What a step says of the runs of its job applies to a job, to its runs on several workers, and to no command.
func TestHead_RetryOf(t *testing.T) {
	own, ofParent := &Retry{Max: 1}, &Retry{Max: 2}
	flow := Head{Kind: KindFlow, Retry: ofParent}
	spread := Head{Kind: KindSpread, Retry: ofParent}
	command := Step{Command: "true", Retry: own}
	for name, c := range map[string]struct {
		got, want *Retry
	}{
		"a job":                    {flow.RetryOf(&Step{Job: "j", Retry: own}), own},
		"a job without":            {flow.RetryOf(&Step{Job: "j"}), nil},
		"a command":                {flow.RetryOf(&command), nil},
		"a job on several workers": {spread.RetryOf(&command), ofParent},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
}
