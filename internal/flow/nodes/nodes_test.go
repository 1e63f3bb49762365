package nodes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/flow/nodes"
	"carillon/internal/runlog"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// cluster holds flow runs as etcd and the history do.
type cluster struct {
	runs    []common.Run
	heads   map[string]common.Head
	marks   map[string][]flow.Mark
	bodies  map[string]*flow.Graph
	jobs    map[string]common.JobState
	partial bool
	read    func(id string)              // called before a head is read
	fast    func(id string) []common.Run // the runs of the nodes of a flow run; nil: they are in runs
}

func (c *cluster) Run(_ context.Context, id string) (common.Run, error) {
	for _, r := range c.runs {
		if r.ID == id {
			return r, nil
		}
	}
	return common.Run{}, common.Errorf(common.CodeNotFound, "no run %s", id)
}

func (c *cluster) Runs(_ context.Context, q runlog.Query) (page runlog.RunPage, err error) {
	if c.fast != nil && q.FlowRun != "" {
		return runlog.RunPage{Runs: c.fast(q.FlowRun)}, nil
	}
	for i := range c.runs {
		if q.Matches(&c.runs[i]) && (q.Limit == 0 || len(page.Runs) < q.Limit) {
			page.Runs = append(page.Runs, c.runs[i])
		}
	}
	page.Partial = c.partial
	return page, nil
}

func (c *cluster) FlowRun(_ context.Context, id string) (common.Head, bool, error) {
	if c.read != nil {
		c.read(id)
	}
	head, found := c.heads[id]
	return head, found, nil
}

func (c *cluster) Marks(_ context.Context, id string) ([]flow.Mark, error) { return c.marks[id], nil }

func (c *cluster) Load(_ context.Context, _, digest string) (*flow.Definition, *flow.Graph, error) {
	if g := c.bodies[digest]; g != nil {
		return nil, g, nil
	}
	return nil, nil, fmt.Errorf("%w: %s", flow.ErrDefinition, digest)
}

func (c *cluster) Get(_ context.Context, name string) (common.JobState, error) {
	if job, found := c.jobs[name]; found {
		return job, nil
	}
	return common.JobState{}, common.Errorf(common.CodeNotFound, "no job %s", name)
}

func (c *cluster) view() *nodes.View {
	return nodes.New(c, c, c, c, func() time.Time { return noon.Add(time.Minute) })
}

// etl has a step of each kind.
func etl(t *testing.T) *flow.Graph {
	t.Helper()
	g, err := flow.Compile(&common.Job{Name: "etl", Steps: []common.Step{
		{Name: "extract", Title: "Extract", Command: "true"},
		{Name: "load", After: []common.Edge{{Step: "extract"}}, Command: "true",
			ForEach: &common.ForEach{Items: []string{"a", "b"}}},
		{Name: "report", After: []common.Edge{{Step: "load"}}, Job: "weekly"},
		{Name: "publish", After: []common.Edge{{Step: "report"}}, Approval: &common.Approval{Text: "Publish?"}},
		{Name: "probe", Command: "true"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

const id = "u.1.1"

func (c *cluster) begin(t *testing.T) {
	head := common.Head{Kind: common.KindFlow, Run: id, Fire: "u.1", Attempt: 1, Job: "etl", UID: "u", Digest: "d",
		PlannedAt: noon, ClaimedAt: noon}
	c.heads, c.marks = map[string]common.Head{id: head}, map[string][]flow.Mark{}
	c.bodies = map[string]*flow.Graph{"d": etl(t)}
	c.runs = append(c.runs, head.Live())
}

// ran adds the run of a node with the mark that it leaves.
func (c *cluster) ran(node string, attempt int, status common.Status) {
	of := common.FlowNode{Kind: common.KindFlow, Job: "etl", Run: id, Node: node, Round: 1, UID: "u", Digest: "d"}
	fire := common.NodeFire("u", id, node)
	step, _, _ := common.SplitNode(node)
	run := common.Run{ID: common.RunID(fire, attempt), Fire: fire, Job: common.StepJob("etl", step), JobUID: "u",
		PlannedAt: noon, Attempt: attempt, Cause: common.CauseFlow, Status: status, Flow: &of}
	mark := common.Node{State: common.NodeStarted, Round: 1, Job: run.Job, Fire: fire, Attempt: attempt}
	if status != common.StatusWaiting {
		run.StartedAt = new(noon.Add(time.Duration(attempt) * time.Second))
		run.WorkerName = "north"
	}
	if status.Terminal() {
		run.EndedAt = new(run.StartedAt.Add(time.Second))
		run.ExitCode, run.Outputs = new(0), map[string]string{"day": "monday", "list": strings.Repeat("x", 5000)}
		mark = common.EndOf(of, &run)
	}
	c.runs = append(c.runs, run)
	c.marks[id] = slices.DeleteFunc(c.marks[id], func(m flow.Mark) bool { return m.Node == node })
	c.marks[id] = append(c.marks[id], flow.Mark{Node: node, Value: mark, Revision: int64(len(c.runs))})
}

func (c *cluster) of(t *testing.T) nodes.Found {
	t.Helper()
	found, err := c.view().Of(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// lines shows each node as its name, status, class, and the code of its reason.
func lines(all []nodes.Node) (lines []string) {
	for _, n := range all {
		reason := ""
		if n.Reason != nil {
			reason = n.Reason.Code
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%s %s %s %s", n.Node, n.Status, n.Class, reason), " "))
	}
	return lines
}

func want(t *testing.T, found nodes.Found, want ...string) {
	t.Helper()
	if got := lines(found.Nodes); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestNodes_OfALiveFlowRun(t *testing.T) {
	c := &cluster{}
	c.begin(t)
	want(t, c.of(t), "extract pending  starting", "load pending  waits_for_steps", "report pending  waits_for_steps",
		"publish pending  waits_for_steps", "probe pending  starting")

	c.ran("extract", 1, common.StatusFailed)
	c.ran("extract", 2, common.StatusRunning)
	c.ran("probe", 1, common.StatusWaiting)
	found := c.of(t)
	want(t, found, "extract running", "load pending  waits_for_steps", "report pending  waits_for_steps",
		"publish pending  waits_for_steps", "probe waiting")
	n := found.Nodes[0]
	if n.Attempt != 2 || len(n.Attempts) != 2 || n.Run != n.Attempts[1] || n.Worker != "north" ||
		n.Title != "Extract" ||
		!n.StartedAt.Equal(noon.Add(time.Second)) || n.Duration != "59s" || n.Kind != "command" {
		t.Errorf("%+v", n)
	}
	if n := found.Nodes[1]; n.Reason.Data["steps"] != "extract" || n.Reason.Text != "it waits for extract" {
		t.Errorf("%+v", n.Reason)
	}

	c.ran("extract", 2, common.StatusSucceeded)
	c.ran("load@00000", 1, common.StatusSucceeded)
	found = c.of(t)
	want(t, found, "extract succeeded success", "load running", "load@00000 succeeded success",
		"load@00001 pending  starting", "report pending  waits_for_steps", "publish pending  waits_for_steps",
		"probe waiting")
	if got, want := *found.Nodes[1].Items, (nodes.ItemCounts{Total: 2, Succeeded: 1, Pending: 1}); got != want {
		t.Errorf("items: %+v", got)
	}
	if n := found.Nodes[0]; n.Outputs["day"] != "monday" || len(n.Outputs) != 1 || *n.ExitCode != 0 ||
		n.Duration != "2s" {
		t.Errorf("%+v", n)
	}
}

func TestNodes_ThatWait_SaySinceWhen(t *testing.T) {
	c := &cluster{}
	c.begin(t)
	of := common.FlowNode{Kind: common.KindFlow, Job: "etl", Run: id, Node: "publish", UID: "u", Digest: "d"}
	wait := common.NewFlowWait(&common.FlowRun{Head: c.heads[id]}, &of, &common.Approval{}, "Publish?",
		noon.Add(time.Second))
	c.runs = append(c.runs, wait.AsRun())
	n := c.of(t).Nodes[3]
	if n.Status != common.StatusWaiting || n.StartedAt != nil || n.Since == nil ||
		!n.Since.Equal(noon.Add(time.Second)) {
		t.Errorf("%+v", n)
	}
	at := &c.runs[len(c.runs)-1]
	if at.ReadyAt = new(noon.Add(time.Hour)); c.of(t).Nodes[3].Since != nil {
		t.Error("it waits since a time in the future")
	}
	*at = wait.Ended(common.StatusSucceeded, nil, noon.Add(time.Minute))
	if n = c.of(t).Nodes[3]; n.Since != nil || !n.StartedAt.Equal(noon.Add(time.Second)) {
		t.Errorf("after its end: %+v", n)
	}
}

func TestNodes_PendingReasons(t *testing.T) {
	for reason, change := range map[string]func(*common.Head){
		common.ReasonFlowPaused:  func(h *common.Head) { h.Paused = true },
		common.ReasonFlowStopped: func(h *common.Head) { h.Kill = &common.FlowKill{} },
		common.ReasonNodeLimit:   func(h *common.Head) { h.Concurrency = 1 },
	} {
		t.Run(reason, func(t *testing.T) {
			c := &cluster{}
			c.begin(t)
			c.ran("extract", 1, common.StatusRunning)
			head := c.heads[id]
			change(&head)
			c.heads[id] = head
			if probe := c.of(t).Nodes[4]; probe.Status != nodes.StatusPending || probe.Reason.Code != reason {
				t.Errorf("%+v", probe)
			}
		})
	}
}

// A flow run that has ended shows the same nodes from its history as from its marks.
func TestNodes_OfAnEndedFlowRun(t *testing.T) {
	c := &cluster{}
	c.begin(t)
	c.ran("extract", 1, common.StatusSucceeded)
	c.ran("load@00000", 1, common.StatusSucceeded)
	c.ran("load@00001", 1, common.StatusFailed)
	c.ran("probe", 1, common.StatusLost)
	live := lines(c.of(t).Nodes)
	c.runs[0].Status = common.StatusFailed
	c.heads, c.marks = nil, nil
	found := c.of(t)
	want(t, found, live...)
	want(t, found, "extract succeeded success", "load failed failure", "load@00000 succeeded success",
		"load@00001 failed failure", "report skipped failure upstream_failed",
		"publish skipped failure upstream_failed",
		"probe lost failure")
	if n := found.Nodes[1]; n.Duration != "1s" || n.Items.Failed != 1 {
		t.Errorf("%+v", n)
	}
}

// A flow run that ends while it is read is read again.
func TestNodes_OfAFlowRunThatEndsMeanwhile(t *testing.T) {
	c := &cluster{}
	c.begin(t)
	c.ran("extract", 1, common.StatusSucceeded)
	c.read = func(string) { c.heads, c.runs[0].Status = nil, common.StatusKilled }
	if found := c.of(t); found.Run.Status != common.StatusKilled || found.Nodes[0].Status != common.StatusSucceeded {
		t.Errorf("%+v", found)
	}
}

func TestNodes_WithoutADefinition_AreThoseThatRan(t *testing.T) {
	c := &cluster{}
	c.begin(t)
	c.ran("probe", 1, common.StatusFailed)
	c.ran("load@00001", 1, common.StatusRunning)
	c.bodies, c.partial = nil, true
	found := c.of(t)
	want(t, found, "load@00001 running", "probe failed failure")
	if n := found.Nodes[0]; !found.Partial || n.Step != "load" || *n.Item != 1 {
		t.Errorf("%+v", found)
	}
}

func TestNodes_OfAnotherRun_AreRefused(t *testing.T) {
	c := &cluster{runs: []common.Run{{ID: id, Job: "a"}}}
	_, err := c.view().Of(t.Context(), id)
	if common.CodeOf(err) != common.CodeConflict {
		t.Errorf("a run of a plain job: %v", err)
	}
	if _, err := c.view().Of(t.Context(), "none"); common.CodeOf(err) != common.CodeNotFound {
		t.Errorf("no run: %v", err)
	}
}

func TestGrid(t *testing.T) {
	c := &cluster{}
	c.begin(t)
	c.ran("extract", 1, common.StatusRunning)
	earlier := common.Run{ID: "u.0.1", Fire: "u.0", Job: "etl", JobUID: "u", Digest: "old", Attempt: 1,
		Status: common.StatusFailed, PlannedAt: noon.Add(-time.Hour), ClaimedAt: &noon}
	old, err := flow.Compile(&common.Job{Name: "etl", Steps: []common.Step{{Name: "gone", Command: "true"},
		{Name: "probe", Command: "true"}}})
	if err != nil {
		t.Fatal(err)
	}
	c.bodies["old"] = old
	missed := common.Run{ID: "u.x.0", Job: "etl", Status: common.StatusMissed}
	cancelled := common.Run{ID: "u.0.2", Job: "etl", Digest: "old", Attempt: 2, Status: common.StatusKilled}
	c.runs = append(c.runs, missed, cancelled, earlier)
	grid, err := c.view().Grid(t.Context(), "etl", "", 20)
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, s := range grid.Steps {
		steps = append(steps, s.Name)
	}
	if !slices.Equal(steps, []string{"extract", "load", "report", "publish", "probe", "gone"}) {
		t.Errorf("steps: %q", steps)
	}
	if len(grid.Runs) != 2 || fmt.Sprint(grid.Runs[0].Statuses) != "[running pending pending pending pending ]" ||
		fmt.Sprint(grid.Runs[1].Statuses) != "[    pending pending]" {
		t.Errorf("%+v", grid.Runs)
	}
	if grid, err = c.view().Grid(t.Context(), "etl", "", 1); err != nil || len(grid.Runs) != 1 {
		t.Errorf("%+v, %v", grid, err)
	}
}

func TestGrid_CellsHaveTimesAttemptsAndItems(t *testing.T) {
	c := &cluster{}
	c.begin(t)
	c.ran("extract", 1, common.StatusFailed)
	c.ran("extract", 2, common.StatusSucceeded)
	c.ran("load@00000", 1, common.StatusSucceeded)
	c.ran("load@00001", 3, common.StatusRunning)
	grid, err := c.view().Grid(t.Context(), "etl", "", 20)
	if err != nil {
		t.Fatal(err)
	}
	run := grid.Runs[0]
	if got := fmt.Sprint(run.Began, run.Took, run.Attempts); got != "[1000 1000] [2000] map[0:2]" {
		t.Errorf("began, took, attempts: %s", got)
	}
	if got, want := run.Items[1], (nodes.ItemCounts{Total: 2, Succeeded: 1, Running: 1}); got != want ||
		len(run.Items) != 1 {
		t.Errorf("items: %+v", run.Items)
	}

	items, err := c.view().Grid(t.Context(), "etl", "load", 20)
	if err != nil {
		t.Fatal(err)
	}
	run = items.Runs[0]
	if got := fmt.Sprint(items.Steps, run.Statuses, run.Began, run.Took, run.Attempts); got !=
		"[{load@00000 } {load@00001 }] [succeeded running] [1000 3000] [1000] map[1:3]" {
		t.Errorf("items of load: %s", got)
	}
}

// The largest grid: 50,000 cells and those of the flow run that exceeds them.
func TestGrid_Of10000Steps_TakesFewBytesPerCell(t *testing.T) {
	c := &cluster{bodies: map[string]*flow.Graph{}}
	job := common.Job{Name: "etl"}
	for i := range 10_000 {
		job.Steps = append(job.Steps, common.Step{Name: fmt.Sprintf("s%d", i), Command: "true"})
	}
	g, err := flow.Compile(&job)
	if err != nil {
		t.Fatal(err)
	}
	c.bodies["d"] = g
	for n := range 20 {
		of := common.Run{ID: common.RunID(fmt.Sprintf("u.%02d", n), 1), Job: "etl", JobUID: "u", Digest: "d",
			Attempt: 1, Status: common.StatusSucceeded, PlannedAt: noon, ClaimedAt: &noon, StartedAt: &noon}
		c.runs = append(c.runs, of)
	}
	c.fast = func(of string) (all []common.Run) {
		for i := range 10_000 {
			name := fmt.Sprintf("s%d", i)
			start := noon.Add(time.Duration(i) * 37 * time.Millisecond)
			all = append(all, common.Run{ID: of + name, Job: "etl:" + name, Attempt: 1, StartedAt: &start,
				Status: common.StatusSucceeded, EndedAt: new(start.Add(1234 * time.Millisecond)),
				Flow: &common.FlowNode{Kind: common.KindFlow, Job: "etl", Run: of, Node: name, Round: 1}})
		}
		return all
	}
	grid, err := c.view().Grid(t.Context(), "etl", "", 20)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(grid)
	if err != nil {
		t.Fatal(err)
	}
	cells := len(grid.Runs) * len(grid.Steps)
	t.Logf("%d flow runs of %d steps: %d bytes", len(grid.Runs), len(grid.Steps), len(data))
	if cells < 50_000 || len(data) > 32*cells {
		t.Errorf("%d bytes for %d cells", len(data), cells)
	}
}

func TestOf_WithoutNodes_SaysWhy(t *testing.T) {
	t.Parallel()
	waits := &common.Reason{Code: "overlap", Text: "it waits for run u.0.1"}
	for _, c := range []struct {
		name   string
		run    common.Run
		job    common.Job
		reason string
		text   string
	}{
		{"queued", common.Run{Status: common.StatusWaiting, Attempt: 1, Reason: waits},
			common.Job{Steps: []common.Step{{Name: "a"}}}, "not_started", "has not started: it waits for run u.0.1"},
		{"queued on workers", common.Run{Status: common.StatusWaiting, Attempt: 1},
			common.Job{RunOn: &common.RunOn{}}, "not_started", "has not started"},
		{"queued, plain", common.Run{Status: common.StatusWaiting, Attempt: 1, Reason: waits},
			common.Job{Command: "true"}, "no_flow", "is not a run of a flow"},
		{"cancelled", common.Run{Status: common.StatusKilled, Reason: &common.Reason{Text: "killed by ann"}},
			common.Job{Steps: []common.Step{{Name: "a"}}}, "never_started",
			"never started, and has no nodes: killed by ann"},
		{"ran as a plain job", common.Run{Status: common.StatusSucceeded, ClaimedAt: &noon},
			common.Job{Steps: []common.Step{{Name: "a"}}}, "no_flow", "is not a run of a flow"},
	} {
		c.run.ID, c.run.Job = id, "etl"
		of := &cluster{runs: []common.Run{c.run},
			jobs: map[string]common.JobState{"etl": {StoredJob: common.StoredJob{Job: c.job}}}}
		_, err := of.view().Of(t.Context(), id)
		e, ok := errors.AsType[*common.Error](err)
		if !ok || e.Code != common.CodeConflict || e.Reason != c.reason || !strings.Contains(e.Message, c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
		of.jobs = nil
		if _, err := of.view().Of(t.Context(), id); common.CodeOf(err) != common.CodeConflict {
			t.Errorf("%s, of a deleted job: %v", c.name, err)
		}
	}
}
