package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/flow/nodes"
)

// flowing is what the fake server knows of flow runs.
type flowing struct {
	waits   []common.FlowWait
	nodes   []nodes.Node
	paused  map[string]bool
	answers []string
	looks   int
	plan    flow.Plan // of each re-run
	replans []string  // scope, steps and digest
	restart bool      // of the last plan
	retries []common.NodeRetry
	refuse  error                 // of each request for nodes
	onLook  func(f *fakes, n int) // called before nodes are returned
}

func (f *fakes) PauseRun(_ context.Context, _ common.Actor, run string, paused bool, note string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flows.paused[run] = paused
	f.notes = append(f.notes, note)
	return nil
}

func (f *fakes) Answer(_ context.Context, _ common.Actor, run string, a common.Answer,
	_ func(*common.FlowWait) error) error {
	verdict := "rejected"
	if a.Approve {
		verdict = "approved"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flows.answers = append(f.flows.answers, strings.Join([]string{run, a.Step, verdict, a.Note}, " "))
	for name, value := range a.Params {
		f.flows.answers = append(f.flows.answers, name+" is "+value)
	}
	return nil
}

func (f *fakes) RetryNode(_ context.Context, _ common.Actor, r common.NodeRetry) (common.Trigger, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flows.retries = append(f.flows.retries, r)
	return common.Trigger{Fire: "u.nload", Attempt: 2}, nil
}

func (f *fakes) Approvals(context.Context) ([]common.FlowWait, error) { return f.flows.waits, nil }

// fakeNodes are the nodes that the fake server shows.
type fakeNodes struct{ *fakes }

func (f fakeNodes) Of(ctx context.Context, run string) (nodes.Found, error) {
	r, err := f.Run(ctx, run)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flows.looks++; f.flows.onLook != nil {
		f.flows.onLook(f.fakes, f.flows.looks)
	}
	if err == nil {
		err = f.flows.refuse
	}
	return nodes.Found{Run: r, Nodes: append([]nodes.Node(nil), f.flows.nodes...)}, err
}

func (f fakeNodes) Grid(context.Context, string, string, int) (nodes.Grid, error) {
	return nodes.Grid{}, nil
}

func (f fakeNodes) Replan(_ context.Context, run *common.Run, scope flow.Scope, digest string,
	restart bool) (*flow.Plan, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flows.restart = restart
	f.flows.replans = append(f.flows.replans, fmt.Sprint(scope.Kind, " ", scope.Steps, " ", digest))
	plan := f.flows.plan
	plan.Base = &common.Base{Run: run.ID}
	return &plan, nil
}

func (fakeNodes) Continue(context.Context, string) (*common.Nested, error) { return nil, nil }

const flowRunID = "u.t1.1"

// withFlowRun is a stage with a flow run of which one step has failed.
func withFlowRun(t *testing.T) *stage {
	s := newStage(t)
	s.runs[flowRunID] = &common.Run{ID: flowRunID, Job: "etl", JobUID: "u", Digest: "d", Attempt: 1,
		Status: common.StatusRunning}
	s.flows.paused = map[string]bool{}
	s.flows.nodes = []nodes.Node{
		{Node: "extract", Step: "extract", Status: common.StatusFailed, Attempt: 2, Run: "u.n1.2", Worker: "north",
			ExitCode: new(3), Duration: "1.5s", Reason: &common.Reason{Code: "exit_code", Text: "exit code 3"}},
		{Node: "load", Step: "load", Status: nodes.StatusPending, Reason: &common.Reason{Text: "it waits for extract"}},
		{Node: "each", Step: "each", Status: common.StatusRunning,
			Items: &nodes.ItemCounts{Total: 3, Succeeded: 1, Failed: 1, Running: 1}},
	}
	return s
}

func TestNodes(t *testing.T) {
	s := withFlowRun(t)
	out := s.run("nodes", flowRunID).want(t, 0).out
	for _, line := range []string{"extract failed 2 1.5s 3 north exit code 3",
		"load pending - - - - it waits for extract",
		"each running - - - - 2 of 3 items ended, 1 failed"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
	if out := s.run("nodes", flowRunID, "--status", "pending").want(t, 0).out; strings.Contains(out, "extract failed") {
		t.Errorf("filtered:\n%s", out)
	}
}

func TestLogs_OfAFlowRun_NamesItsSteps(t *testing.T) {
	s := withFlowRun(t)
	s.run("logs", flowRunID).want(t, exitOK, "a flow run has no output", "cronctl nodes "+flowRunID)
}

func TestApprovals(t *testing.T) {
	s := withFlowRun(t)
	s.flows.waits = []common.FlowWait{{Flow: common.FlowNode{Job: "etl", Run: flowRunID, Node: "publish"}, Fire: "u.n2",
		Text: "Publish?", Since: time.Now()}}
	s.run("get", "approvals").want(t, 0, "publish", "Publish?", "yes")
	wait := &s.flows.waits[0]
	wait.NotStarter, wait.StartedBy, wait.Params = true, "tester", common.Params{"TO": {}}
	wait.Starters = []string{"token/operator"}
	wait.Approvers = &common.Approvers{Role: "operator"}
	s.run("get", "approvals", "-o", "wide").want(t, 0, "ANSWER", "role operator, not the starter", "TO")
	wait.Approvers = &common.Approvers{Group: "finance"}
	s.run("get", "approvals", "-o", "wide").want(t, 0, "no ", "group finance, not the starter")
	*wait = common.FlowWait{Flow: wait.Flow, Fire: wait.Fire}
	s.run("approve", flowRunID, "publish", "--note", "checked").want(t, 0)
	s.run("reject", flowRunID, "publish").want(t, 0)
	if got := strings.Join(s.flows.answers, "; "); got != flowRunID+" publish approved checked; "+flowRunID+
		" publish rejected " {
		t.Error(got)
	}
	s.flows.answers = nil
	s.run("approve", flowRunID, "publish", "--param", "TO=a b=c").want(t, 0)
	if got := strings.Join(s.flows.answers, "; "); got != flowRunID+" publish approved ; TO is a b=c" {
		t.Error(got)
	}
	s.run("approve", flowRunID, "publish", "--param", "TO").want(t, exitUsage, "NAME=VALUE")
	s.run("reject", flowRunID, "publish", "--param", "TO=x").want(t, exitUsage)
}

func TestNodes_ShowWhoAnsweredAnApproval(t *testing.T) {
	s := withFlowRun(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.flows.nodes = []nodes.Node{{Node: "publish", Step: "publish", Kind: "approval", Status: common.StatusSucceeded,
		Class: common.ClassSuccess, EndedAt: &at, Reason: &common.Reason{Code: common.ReasonApproved,
			Data: map[string]string{"by": "ann", "note": "checked"}, Text: "it was approved by ann"}}}
	s.run("nodes", flowRunID).want(t, 0, "it was approved by ann at 2026-03-01", ": checked")
}

func TestPause_OfAFlowRun(t *testing.T) {
	s := withFlowRun(t)
	if out := s.run("pause", "run/"+flowRunID, "--note", "the disk is full").want(t,
		0).out; out != "paused run/"+flowRunID+"\n" ||
		!s.flows.paused[flowRunID] || s.notes[len(s.notes)-1] != "the disk is full" {
		t.Errorf("%q, %v", out, s.flows.paused)
	}
	if out := s.run("resume", "run/"+flowRunID).want(t, 0).out; out != "resumed run/"+flowRunID+"\n" ||
		s.flows.paused[flowRunID] {
		t.Errorf("%q, %v", out, s.flows.paused)
	}
}

// following is withFlowRun whose flow run has begun with one step, of the job etl.
func following(t *testing.T) *stage {
	s := withFlowRun(t)
	s.jobs["etl"] = common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "etl",
		Steps: []common.Step{{Name: "extract", Command: "true"}}}, UID: "u"}, Version: 1}
	s.flows.nodes = []nodes.Node{
		{Node: "extract", Step: "extract", Status: common.StatusRunning, Worker: "north"},
		{Node: "load", Step: "load", Status: nodes.StatusPending},
	}
	return s
}

// change changes what the server knows.
func (s *stage) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func TestNodesFollow_PrintsNodesAsTheyChange(t *testing.T) {
	t.Parallel()
	s := following(t)
	s.flows.nodes[1].Status, s.flows.nodes[1].Reason = common.StatusWaiting, common.Starting() // which is no news
	events := make(chan string)
	next, wait, _ := s.followed(events, "nodes", flowRunID, "--follow")
	next("extract  running, on north")
	events <- "ready"
	s.change(func() {
		s.flows.nodes[0].Status, s.flows.nodes[0].Duration = common.StatusSucceeded, "2s"
	})
	events <- `flowrun {"run":"` + flowRunID + `","job":"etl","node":"extract","state":"ended"}`
	next("extract  succeeded, after 2s, on north")
	s.change(func() { s.flows.nodes[1].Status, s.flows.nodes[1].Worker = common.StatusRunning, "south" })
	events <- `run {"id":"u.nload.1","job":"etl:load","flowRun":"` + flowRunID + `","node":"load"}`
	next("load  running, on south")
	s.change(func() {
		s.flows.nodes[1].Status = common.StatusFailed
		s.runs[flowRunID].Status = common.StatusFailed
	})
	events <- `run {"id":"` + flowRunID + `","job":"etl","status":"failed"}`
	next("load  failed, on south")
	if code := wait(); code != exitJobFailed {
		t.Errorf("exit code %d", code)
	}
}

// The attempts of a flow run have one planned time, and the ids of the runs of a step do not show their order.
func TestRunsOfAStep_AreOrderedByTheirStarts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	planned := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, id := range []string{"u.nb.1", "u.nc.1", "u.na.1"} { // in the order of their starts
		started := planned.Add(time.Duration(i) * time.Minute)
		s.runs[id] = &common.Run{ID: id, Fire: id[:4], Job: "etl:load", Attempt: 1, Status: common.StatusFailed,
			PlannedAt: planned, ClaimedAt: &started, StartedAt: &started, EndedAt: &started}
		s.output[id] = id + "\n"
	}
	for _, c := range []struct{ order, want string }{{"newest", "u.na.1 u.nc.1 u.nb.1"},
		{"oldest", "u.nb.1 u.nc.1 u.na.1"}} {
		var listed struct{ Items []common.Run }
		out := s.run("get", "runs", "--job", "etl:load", "--order", c.order, "-o", "json").want(t, exitOK).out
		if err := json.Unmarshal([]byte(out), &listed); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, run := range listed.Items {
			got = append(got, run.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s first: %q, want %s", c.order, got, c.want)
		}
	}
	s.run("logs", "--job", "etl:load").want(t, exitOK, "run u.na.1, planned ", "u.na.1\n")
}

// In a re-run, the nodes that are kept are no news, and have not run: they are printed once, as kept.
func TestNodesFollow_KeptNodes_ArePrintedOnceAsKept(t *testing.T) {
	t.Parallel()
	s := following(t)
	s.change(func() {
		s.flows.nodes[0].Status, s.flows.nodes[0].Kept, s.flows.nodes[0].Attempt = common.StatusSucceeded, true, 2
		s.flows.nodes[0].Duration = "2s"
	})
	events := make(chan string)
	next, wait, _ := s.followed(events, "nodes", flowRunID, "--follow")
	next("extract  succeeded, kept from an earlier flow run")
	events <- "ready"
	s.change(func() { s.flows.nodes[1].Status, s.flows.nodes[1].Worker = common.StatusRunning, "south" })
	events <- `run {"id":"u.nload.1","job":"etl:load","flowRun":"` + flowRunID + `","node":"load"}`
	next("load  running, on south")
	s.change(func() {
		s.flows.nodes[1].Status = common.StatusSucceeded
		s.runs[flowRunID].Status = common.StatusSucceeded
	})
	events <- `run {"id":"` + flowRunID + `","job":"etl","status":"succeeded"}`
	next("load  succeeded, on south")
	if code := wait(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// A flow run of thousands of nodes is read once for all events that arrive together, and not for those of others.
func TestNodesFollow_ReadsOncePerBurst(t *testing.T) {
	t.Parallel()
	s := following(t)
	events := make(chan string)
	next, stop := s.watching(events, "nodes", flowRunID, "-f")
	next("extract")
	for i := range 200 {
		events <- fmt.Sprintf(`flowrun {"run":"%s","node":"load@%05d"}`, flowRunID, i)
		events <- fmt.Sprintf(`flowrun {"run":"another","node":"load@%05d"}`, i)
	}
	s.change(func() { s.flows.nodes[1].Status = common.StatusRunning })
	events <- `flowrun {"run":"` + flowRunID + `","node":"load"}`
	next("load  running")
	stop()
	if s.flows.looks > 20 {
		t.Errorf("the nodes were read %d times", s.flows.looks)
	}
}

func TestNodesFollow_OfOtherRuns(t *testing.T) {
	s := following(t)
	s.jobs["plain"] = common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "plain", Command: "true"}}}
	s.runs["p.1.1"] = &common.Run{ID: "p.1.1", Job: "plain", Status: common.StatusRunning}
	s.run("nodes", "p.1.1", "--follow").want(t, exitConflict, "has no steps", "cronctl logs -f p.1.1")
	s.runs[flowRunID].Status = common.StatusSucceeded
	s.flows.nodes[0].Status = common.StatusSucceeded
	s.run("nodes", flowRunID, "--follow").want(t, exitOK, "extract  succeeded", "succeeded\n")
	s.run("nodes", flowRunID, "--follow", "--step", "load").want(t, exitUsage)
}

func TestNodesFollow_AsJSON(t *testing.T) {
	s := following(t)
	s.runs[flowRunID].Status = common.StatusSucceeded
	s.run("nodes", flowRunID, "--follow", "-o", "json").want(t, exitOK, `{"node":"extract",`)
}

func TestRunFollow_OfAFlow_PrintsItsNodesAsTheyChange(t *testing.T) {
	t.Parallel()
	s := following(t)
	events := make(chan string)
	next, wait, _ := s.followed(events, "run", "etl", "--follow")
	events <- "ready"
	id := ""
	s.change(func() {
		for other, r := range s.runs {
			if other != flowRunID {
				id, r.Status, r.Digest = other, common.StatusRunning, "d"
			}
		}
	})
	events <- `flowrun {"run":"` + id + `","job":"etl"}`
	next("extract  running, on north")
	s.change(func() {
		node := &s.flows.nodes[0]
		node.Status, node.Duration = common.StatusFailed, "2s"
		node.Reason = &common.Reason{Code: "exit_code", Text: "exit code 3"}
		s.runs[id].Status = common.StatusFailed
	})
	events <- `run {"id":"` + id + `","job":"etl","status":"failed"}`
	next("extract  failed, after 2s, on north: exit code 3")
	if code := wait(); code != exitJobFailed {
		t.Errorf("exit code %d", code)
	}
}

func TestRunFollow_OfAFlow_Interrupted_NamesTheCommandToReturn(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--follow", "--wait"} {
		s := following(t)
		ctx, cancel := context.WithCancel(t.Context())
		s.onAsk = func(*fakes, string) { cancel() }
		var out, errors strings.Builder
		code := run(ctx, []string{"run", "etl", flag}, strings.NewReader(""), &out, &errors,
			[]string{"CARILLON_SERVER=" + s.server.URL, "CARILLON_TOKEN=" + goodToken})
		if code != exitInterrupted || !strings.Contains(errors.String(), "cronctl nodes ") ||
			!strings.Contains(errors.String(), " --follow\n") {
			t.Errorf("%s: exit code %d, %s", flag, code, errors.String())
		}
	}
}

func TestRerunFlow(t *testing.T) {
	s := newStage(t)
	s.jobs["etl"] = common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "etl"}, UID: "u",
		Flow: &common.FlowRef{Digest: "d"}}}
	s.runs[flowRunID] = &common.Run{ID: flowRunID, Fire: "u.t1", Job: "etl", JobUID: "u", Attempt: 1, Digest: "d",
		Status: common.StatusFailed}
	s.flows.plan = flow.Plan{Run: []string{"load", "report", "tidy"}, Kept: []string{"extract"},
		CleanUps: []string{"tidy"}, Skipped: []string{"unlock"}, New: []string{"report"},
		Nested: []flow.Continuation{{Node: "load", Run: "v.n1.1", RunTotal: 2, KeptTotal: 7}}}
	s.run("rerun", flowRunID, "--from", "load", "--dry-run").want(t, exitOK, "would request u.t1.2",
		"runs  3 nodes: load, report, tidy (clean-up)\n", "keeps 1 node: extract\n", "new:  1 node: report\n",
		"skips 1 node: unlock (clean-up)\n", "goes on with load from flow run v.n1.1: runs 2, keeps 7\n")
	if len(s.asked) > 0 || s.flows.replans[0] != "from [load] d" || s.flows.restart {
		t.Errorf("%+v, %q", s.asked, s.flows.replans)
	}
	s.run("rerun", flowRunID, "--nested", "restart", "--dry-run").want(t, exitOK, "would request u.t1.2")
	if !s.flows.restart {
		t.Error("the flow runs of failed steps would go on")
	}
	s.run("rerun", flowRunID, "--all", "--note", "again").want(t, exitOK, "requested u.t1.2")
	if len(s.asked) != 1 || s.asked[0].Again.Flow.Scope != "all" || s.asked[0].Note != "again" || s.asked[0].NoAfter {
		t.Errorf("%+v", s.asked)
	}
	s.run("rerun", flowRunID, "--all", "--no-after").want(t, exitOK)
	s.runs[flowRunID].NoAfter = true
	s.runs[flowRunID].Parents = []common.ParentRun{{Job: "import", Run: "p.t1.1", PlannedAt: time.Now()}}
	s.run("describe", "run", flowRunID).want(t, exitOK, "After import:   run p.t1.1, planned for ",
		"its success starts no other jobs")
	if len(s.asked) != 2 || s.asked[1].Again.Flow.Scope != "all" || !s.asked[1].NoAfter {
		t.Errorf("%+v", s.asked)
	}
}

func TestRerunFlow_Accept(t *testing.T) {
	s := newStage(t)
	s.jobs["etl"] = common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "etl"}, UID: "u",
		Flow: &common.FlowRef{Digest: "d"}}}
	s.runs[flowRunID] = &common.Run{ID: flowRunID, Fire: "u.t1", Job: "etl", JobUID: "u", Attempt: 1, Digest: "d",
		Status: common.StatusFailed, Params: map[string]string{"DAY": "1", "MODE": "full"}}
	s.flows.plan = flow.Plan{Run: []string{"report"}, Kept: []string{"load"}, Warnings: []common.Reason{
		{Code: flow.WarnRunsAgain, Text: "report succeeded before, and runs again"}}}
	s.run("rerun", flowRunID, "--accept", "load", "--dry-run").want(t, exitOK, "would request u.t1.2",
		"accepts 1 node: load\n", "note: report succeeded before, and runs again\n")
	s.run("rerun", flowRunID, "--accept", "load,extract", "--failed", "--note", "by hand").want(t, exitOK,
		"requested u.t1.2")
	delete(s.runs, "u.t1.2")
	s.run("rerun", flowRunID, "--all", "--param", "DAY=2").want(t, exitOK, "requested u.t1.2")
	s.run("rerun", flowRunID, "--param", "DAY=2").want(t, exitUsage, "scope all or from")
	s.run("rerun", flowRunID, "--all", "--param", "DAY").want(t, exitUsage, "NAME=VALUE")
	if f := s.asked[0].Again.Flow; f.Scope != "failed" || strings.Join(f.Accept, " ") != "load extract" ||
		s.asked[0].Note != "by hand" {
		t.Errorf("%+v", f)
	}
	if p := s.asked[1].Params; p["DAY"] != "2" || p["MODE"] != "full" {
		t.Errorf("%v", p)
	}
}

// The exit code is that of the new run.
func TestRerun_Wait(t *testing.T) {
	for status, code := range map[common.Status]int{
		common.StatusSucceeded: exitOK,
		common.StatusFailed:    exitJobFailed,
	} {
		s := newStage(t)
		s.jobs["etl"] = common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "etl"}, UID: "u",
			Flow: &common.FlowRef{Digest: "d"}}}
		s.runs[flowRunID] = &common.Run{ID: flowRunID, Fire: "u.t1", Job: "etl", JobUID: "u", Attempt: 1, Digest: "d",
			Status: common.StatusFailed}
		s.flows.plan = flow.Plan{Run: []string{"report"}}
		s.onAsk = func(f *fakes, id string) {
			if run := f.runs["u.t1.2"]; id == "u.t1.2" && run != nil {
				run.Status = status
			}
		}
		s.run("rerun", flowRunID, "--failed", "--wait").want(t, code, "run u.t1.2", string(status))
	}
}

func TestNodes_ShowWhoAcceptedAFailure(t *testing.T) {
	s := withFlowRun(t)
	s.flows.nodes = []nodes.Node{{Node: "load", Step: "load", Status: common.StatusFailed, Kept: true,
		Accepted: &nodes.NodeAcceptance{By: "ann", Note: "by hand", At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}}
	s.run("nodes", flowRunID, "-o", "wide").want(t, exitOK, "accepted by ann at 2026-03-01", ": by hand")
}

func TestGraph_OfAFlowRunThatHasNotStarted_SaysSo(t *testing.T) {
	s := following(t)
	s.runs[flowRunID].Digest, s.runs[flowRunID].Status = "", common.StatusWaiting
	s.flows.refuse = common.Errorf(common.CodeConflict, "flow run %q has not started", flowRunID)
	for _, args := range [][]string{{"graph", flowRunID}, {"nodes", flowRunID}} {
		s.run(args...).want(t, exitConflict, "has not started")
	}
}

func TestRun_ShowsWhoForcedTheEndOfTheCleanUp(t *testing.T) {
	s := withFlowRun(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.runs[flowRunID].Forced = &common.Forced{By: "eve", Note: "stuck", At: at}
	s.run("describe", "run", flowRunID).want(t, exitOK, "Clean-up", "ended by force by eve at 2026-03-01", ": stuck")
	s.run("get", "run", flowRunID, "-o", "wide").want(t, exitOK, "clean-up ended by force by eve")
	s.run("get", "run", flowRunID, "-o", "json").want(t, exitOK, `"by": "eve"`)
}
