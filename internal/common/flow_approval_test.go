package common

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestApprovalFaults(t *testing.T) {
	for name, c := range map[string]struct {
		approval Approval
		want     string
	}{
		"all fields": {Approval{Text: "?", Timeout: "1h", OnTimeout: TimeoutSkips,
			Approvers: &Approvers{Role: "editor", Group: "finance"}, NotStarter: true,
			Params: Params{"A": {Default: "x", Pattern: "[a-z]"}, "B": {Pattern: `\d+`}, "C": {}}}, ""},
		"no text":     {Approval{}, "approval.text required"},
		"another end": {Approval{Text: "?", OnTimeout: "retry"}, "approval.onTimeout enum"},
		"a role that may not": {Approval{Text: "?", Approvers: &Approvers{Role: "viewer"}},
			"approval.approvers.role enum"},
		"a group of odd name": {Approval{Text: "?", Approvers: &Approvers{Group: "../x"}},
			"approval.approvers.group name"},
		"approvers of nothing": {Approval{Text: "?", Approvers: &Approvers{}}, "approval.approvers required"},
		"an invalid default": {Approval{Text: "?", Params: Params{"A": {Default: "x", Pattern: `\d+`}}},
			"approval.params.A.default pattern"},
		"an invalid pattern": {Approval{Text: "?", Params: Params{"A": {Pattern: "("}}},
			"approval.params.A.pattern pattern"},
		"a name of a variable":  {Approval{Text: "?", Params: Params{"PATH": {}}}, "approval.params.PATH env_reserved"},
		"a name that is no one": {Approval{Text: "?", Params: Params{"a-b": {}}}, "approval.params env_name"},
		"a name that is too long for an output": {Approval{Text: "?", Params: Params{strings.Repeat("A", 64): {}}},
			"approval.params env_name"},
	} {
		var got []string
		for _, f := range c.approval.ApprovalFaults() {
			got = append(got, f.Location+" "+f.Code)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// Workers of earlier versions keep an approval with a text and a timeout as it is defined.
func TestApproval_Plain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Approval)
		plain  bool
	}{
		"text and timeout":     {func(*Approval) {}, true},
		"the default timeout":  {func(a *Approval) { a.Timeout = "" }, false},
		"skipped on a timeout": {func(a *Approval) { a.OnTimeout = TimeoutSkips }, false},
		"approvers":            {func(a *Approval) { a.Approvers = &Approvers{Role: "admin"} }, false},
		"not the starter":      {func(a *Approval) { a.NotStarter = true }, false},
		"parameters":           {func(a *Approval) { a.Params = Params{"A": {}} }, false},
	} {
		a := Approval{Text: "?", Timeout: "1h"}
		if c.change(&a); a.Plain() != c.plain {
			t.Errorf("%s: plain is %v", name, a.Plain())
		}
	}
}

func TestParams_Given(t *testing.T) {
	params := Params{"A": {Default: "x", Pattern: "[a-z]"}, "B": {Pattern: `\d+`}, "C": {}}
	for name, c := range map[string]struct {
		given  map[string]string
		values map[string]string
		faults string
	}{
		"the least": {map[string]string{"B": "7"}, map[string]string{"A": "x", "B": "7", "C": ""}, ""},
		"all": {map[string]string{"A": "y", "B": "7", "C": "z"},
			map[string]string{"A": "y", "B": "7", "C": "z"}, ""},
		"a missing one":  {nil, nil, "params.B required"},
		"an invalid one": {map[string]string{"B": "x"}, nil, "params.B pattern"},
		"an unknown one": {map[string]string{"B": "7", "D": "x"}, nil, "params.D unknown"},
		"one with a NUL": {map[string]string{"B": "7", "C": "\x00"}, nil, "params.C nul"},
		"one that is large": {map[string]string{"B": "7", "C": strings.Repeat("x", MaxParam+1)}, nil,
			"params.C too_long"},
	} {
		values, faults := params.Given(c.given)
		var got []string
		for _, f := range faults {
			got = append(got, f.Location+" "+f.Code)
		}
		if text := strings.Join(got, ", "); text != c.faults || c.values != nil && !maps.Equal(values, c.values) {
			t.Errorf("%s: %q, %q", name, values, text)
		}
	}
	if values, faults := (Params)(nil).Given(nil); len(values)+len(faults) > 0 {
		t.Errorf("without parameters: %q, %v", values, faults)
	}
}

func TestFlowWait_BarsWhoStartedTheFlowRun(t *testing.T) {
	ada := Actor{Name: "ada", User: "ada"}
	adasToken := Actor{Name: "ada", User: "ada", Token: "t1"}
	robot := Actor{Name: "robot", Token: "t2"}
	other := Actor{Name: "robot", Token: "t3"} // another token of the same name
	starters := func(by ...Actor) (all []string) {
		for i := range by {
			all = by[i].Starters(all)
		}
		return all
	}
	for name, c := range map[string]struct {
		wait FlowWait
		by   Actor
		want bool
	}{
		"the starter":               {FlowWait{NotStarter: true, Starters: starters(ada)}, ada, true},
		"a token of the starter":    {FlowWait{NotStarter: true, Starters: starters(ada)}, adasToken, true},
		"started by a token":        {FlowWait{NotStarter: true, Starters: starters(adasToken)}, ada, true},
		"of the outermost flow run": {FlowWait{NotStarter: true, Starters: starters(ada, robot)}, ada, true},
		"a token without a user":    {FlowWait{NotStarter: true, Starters: starters(robot)}, robot, true},
		"another token":             {FlowWait{NotStarter: true, Starters: starters(robot)}, other, false},
		"another person":            {FlowWait{NotStarter: true, Starters: starters(robot)}, ada, false},
		"anyone may":                {FlowWait{Starters: starters(ada)}, ada, false},
		"a fire of the plan":        {FlowWait{NotStarter: true}, ada, false},
		"begun by an older worker":  {FlowWait{NotStarter: true, StartedBy: "ada"}, ada, true},
		"by another, and older":     {FlowWait{NotStarter: true, StartedBy: "eve"}, ada, false},
	} {
		if got := c.wait.Bars(c.by); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if twice := starters(ada, adasToken, robot); !slices.Equal(twice, []string{"ada", "token/t2"}) {
		t.Errorf("starters: %q", twice)
	}
}

// What an earlier version has stored keeps its meaning: an approval without a deadline waits without a limit, and
// everyone with the role may answer.
func TestFlowWait_OfAnEarlierVersion(t *testing.T) {
	wait, err := Decode[FlowWait]([]byte(`{"flow":{"job":"f","run":"u.1","node":"ok"},"fire":"u.n1","text":"?"}`))
	if err != nil || wait.Deadline != nil || wait.Bars(Actor{Name: "ada"}) || wait.Approvers.LeastRole() != "operator" {
		t.Errorf("%+v, %v", wait, err)
	}
	if end := wait.Expired(time.Unix(0, 0)); end.Status != StatusTimedOut || end.Reason.Code != ReasonTimeout {
		t.Errorf("%+v", end)
	}
}

func TestNewFlowWait_WaitsForADayByDefault(t *testing.T) {
	now := time.Unix(1e9, 0)
	of := &FlowNode{Node: "ok"}
	for limit, want := range map[Duration]time.Duration{"": 24 * time.Hour, "2h": 2 * time.Hour} {
		wait := NewFlowWait(&FlowRun{}, of, &Approval{Text: "${{ params.A }}?", Timeout: limit}, "x?", now)
		if wait.Text != "x?" || !wait.Deadline.Equal(now.Add(want)) {
			t.Errorf("%q: %+v", limit, wait)
		}
	}
}

// The parameters of an approval keep their order, in which they are asked for.
func TestFlowWait_ParamsKeepTheirOrder(t *testing.T) {
	var a Approval
	if err := json.Unmarshal([]byte(`{"text":"?","params":{"Z":{},"A":{}}}`), &a); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(NewFlowWait(&FlowRun{}, &FlowNode{}, &a, "?", time.Now()))
	if wait, _ := Decode[FlowWait](data); err != nil || !slices.Equal(wait.Params.Names(), []string{"Z", "A"}) {
		t.Errorf("%s, %v", data, err)
	}
}
