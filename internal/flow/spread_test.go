package flow

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
)

// spreadOf returns the rig of a flow run of a job with runOn on the workers a, b, c and so on.
func spreadOf(t *testing.T, job common.Job, nodes int, ends map[string]string) *rig {
	t.Helper()
	job.Name, job.Command = "f", "true"
	if faults := Faults(&job); len(faults) > 0 {
		t.Fatal(faults)
	}
	r := newRig(t, compiled(t, Spread(&job)), outcomes(ends))
	r.head.Kind = common.KindSpread
	r.head.Spread = &common.Spread{Nodes: nodes}
	for i := range nodes {
		name := string(rune('a' + i))
		r.head.Spread.Workers = append(r.head.Spread.Workers, common.SpreadWorker{ID: name, Name: name})
	}
	r.state = New(r.state.graph, &r.head)
	return r
}

func TestSpread_HasANodePerWorker(t *testing.T) {
	for _, c := range []struct {
		name   string
		on     common.RunOn
		ends   map[string]string
		want   string
		status common.Status
		most   int
	}{
		{"all succeed", common.RunOn{}, nil,
			"worker=succeeded worker@00000=succeeded worker@00001=succeeded worker@00002=succeeded", "succeeded", 3},
		{"one fails, and the others run", common.RunOn{}, map[string]string{"worker@00001": "exit:1"},
			"worker=failed worker@00000=succeeded worker@00001=failed worker@00002=succeeded", "failed", 3},
		{"one may fail", common.RunOn{MaxFailures: 1}, map[string]string{"worker@00001": "exit:1"},
			"worker=succeeded worker@00000=succeeded worker@00001=failed worker@00002=succeeded", "succeeded", 3},
		{"stops at the first failure", common.RunOn{Concurrency: 1, Stop: true},
			map[string]string{"worker@00000": "exit:1"},
			"worker=failed worker@00000=failed worker@00001=map_stopped worker@00002=map_stopped", "failed", 1},
	} {
		on := c.on
		on.Workers = common.AllWorkers
		r := spreadOf(t, common.Job{RunOn: &on}, 3, c.ends)
		end := r.run()
		if r.statuses() != c.want || end.Status != c.status {
			t.Errorf("%s: %s %s, want %s", c.name, end.Status, r.statuses(), c.want)
		}
		if r.most > c.most {
			t.Errorf("%s: %d run at the same time, at most %d", c.name, r.most, c.most)
		}
		if end.Counts.Total != 3 { // the step is not counted
			t.Errorf("%s: %d nodes", c.name, end.Counts.Total)
		}
	}
}

func TestSpread_RunsTheJobsOwnCommand(t *testing.T) {
	job := common.Job{Name: "rotate", Command: "logrotate", Timezone: "Asia/Tokyo", Env: map[string]string{"A": "1",
		"ITEM": "own"}, Params: common.Params{"DAY": {Default: "x"}}, Timeout: "1m", Slots: 2, OnLost: common.LostRerun,
		SuccessExitCodes: []int{3}, RunOn: &common.RunOn{Workers: common.AllWorkers}}
	g := compiled(t, Spread(&job))
	got, err := g.Inline(common.SpreadStep)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"A": "1", "ITEM": "own", "TZ": "Asia/Tokyo"}
	if got.Name != "f:worker" || got.Command != job.Command || !maps.Equal(got.Env, env) || got.Timeout != "1m" ||
		got.Slots != 2 || got.Overlap != common.OverlapAllow || !slices.Equal(got.SuccessExitCodes, []int{3}) {
		t.Errorf("inline: %+v", got)
	}
	if _, declared := got.Params["DAY"]; !declared || len(got.Params) != 1 {
		t.Errorf("parameters: %v", got.Params)
	}
	if got.OnLost != common.LostAbandon {
		t.Errorf("a run that is lost under all is followed by %q", got.OnLost)
	}
	job.RunOn.Workers = 2
	again := compiled(t, Spread(&job))
	if got, _ := again.Inline(common.SpreadStep); got.OnLost != common.LostRerun {
		t.Errorf("with a number it is followed by %q", got.OnLost)
	}
	r := spreadOf(t, common.Job{RunOn: &common.RunOn{Workers: 2}}, 2, nil)
	r.run()
	if params := r.params["worker@00001"]; len(params) > 0 {
		t.Errorf("the run has the parameters %v", params)
	}
}

func TestSpread_References_AreRefused(t *testing.T) {
	job := common.Job{Name: "f", Command: "echo ${{ params.X }}", Env: map[string]string{"A": "${{ run.id }}"},
		RunOn: &common.RunOn{Workers: 2}}
	var got []string
	for _, f := range Faults(&job) {
		got = append(got, f.Location)
	}
	if strings.Join(got, " ") != "command env.A" {
		t.Errorf("faults at %q", got)
	}
}

func TestSpread_Replan_RepeatsTheFailedWorkers(t *testing.T) {
	r := spreadOf(t, common.Job{RunOn: &common.RunOn{Workers: common.AllWorkers}}, 3,
		map[string]string{"worker@00001": "exit:1"})
	r.run()
	r.head.Spread.Moved = 1
	r.state.SetHead(&r.head)
	plan, err := Replan(r.state, r.state.graph, Scope{Kind: ScopeFailed})
	if err != nil || !slices.Equal(plan.Run, []string{"worker@00001"}) {
		t.Fatalf("%+v, %v", plan, err)
	}
	if s := plan.Base.Spread; s == nil || s.Nodes != 3 || len(s.Workers) != 3 || s.Moved != 0 {
		t.Errorf("the workers of the re-run are %+v", s)
	}
	head := r.head
	head.Run, head.Spread, head.Base = "u.1.2", plan.Base.Spread, plan.Base.Bare()
	again := newRig(t, r.state.graph, nil)
	again.head, again.state, again.outcome = head, New(r.state.graph, &head), outcomes(nil)
	if end := again.run(); end.Status != common.StatusSucceeded || end.Counts.Kept != 2 || len(again.started) != 1 {
		t.Errorf("%+v, started %q", end, again.started)
	}
	if all, err := Replan(r.state, r.state.graph, Scope{Kind: ScopeAll}); err != nil || all.Base.Spread != nil {
		t.Errorf("a re-run on all keeps the workers: %+v, %v", all.Base, err)
	}
}

// A master that does not know runOn may change the command: what is stored is then not the job's.
func TestCurrent_BodyOfAnotherCommand_IsNone(t *testing.T) {
	job := common.StoredJob{Job: common.Job{Name: "f", Command: "a", RunOn: &common.RunOn{Workers: 2}}}
	if Current(&job) != "" {
		t.Error("a job without a body has a digest")
	}
	spread := Spread(&job.Job)
	_, ref, err := Refer(&spread)
	if err != nil {
		t.Fatal(err)
	}
	if job.Flow = ref; Current(&job) != ref.Digest {
		t.Error("the body of the job is not its own")
	}
	if job.Command = "b"; Current(&job) != "" {
		t.Error("the body of another command is taken")
	}
}
