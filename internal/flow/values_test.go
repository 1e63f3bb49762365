package flow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

// A trigger can only set what the inline job declares; what it sets is checked against that declaration by the worker.
func TestStart_ParamsOfAnInlineStep_AreThoseThatItsJobDeclares(t *testing.T) {
	job := &common.Job{Name: "f", Group: "g", User: "ada", Shell: "/bin/bash", KillGrace: "5s", Priority: 7,
		MemoryMax: "1GiB", Params: map[string]common.Param{"DAY": {Default: "today", Pattern: "[a-z]+"}, "MODE": {}},
		Env: map[string]string{"REGION": "eu", "AT": "${{ run.plannedAt }}", "BOTH": "flow"}}
	job.Steps = []common.Step{
		with(inline("a"), func(s *common.Step) {
			s.Env = map[string]string{"MODE": "fixed", "BOTH": "step", "X": "d=${{ params.DAY }}"}
			s.ForEach = &common.ForEach{Items: []string{"p", "q"}, As: "FILE"}
			s.Priority = 3
		}),
		common.Step{Name: "b", Job: "other",
			Params: map[string]string{"P": "${{ run.job }}/${{ params.DAY }}", "Q": "q"}},
		common.Step{Name: "c", Args: []string{"/bin/true"}},
	}
	if faults := Validate(job); len(faults) > 0 {
		t.Fatal(faults)
	}
	g, err := Compile(job)
	if err != nil {
		t.Fatal(err)
	}
	head := &common.Head{Run: "u.1", Job: "f", Params: map[string]string{"DAY": "monday", "MODE": "fast"},
		PlannedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))}
	want := map[string]string{
		"a@00000": "map[AT:2026-01-02T02:04:05Z DAY:monday FILE:p X:d=monday]",
		"a@00001": "map[AT:2026-01-02T02:04:05Z DAY:monday FILE:q X:d=monday]",
		"b":       "map[P:f/monday Q:q]",
		"c":       "map[AT:2026-01-02T02:04:05Z DAY:monday MODE:fast]",
	}
	for _, start := range New(g, head).Next(9).Starts {
		if got := fmt.Sprint(start.Params); got != want[start.Node] {
			t.Errorf("parameters of %s are %s, want %s", start.Node, got, want[start.Node])
		}
		if start.Step.Kind() != common.InlineStep {
			continue
		}
		inline, err := g.Inline(start.Step.Name)
		if err != nil {
			t.Fatal(err)
		}
		if faults := inline.ParamFaults(start.Params); len(faults) > 0 {
			t.Errorf("the job of %s rejects them: %v", start.Node, faults)
		}
		if len(inline.ParamFaults(map[string]string{"REGION": "us"})) == 0 {
			t.Errorf("the job of %s accepts a variable that is fixed", start.Node)
		}
	}
	a, _ := g.Inline("a")
	if a.Name != "f:a" || a.Group != "g" || a.User != "ada" || a.Shell != "/bin/bash" || a.Priority != 3 ||
		a.KillGrace != "5s" || a.MemoryMax != "1GiB" || fmt.Sprint(a.Env) != "map[BOTH:step MODE:fixed REGION:eu]" {
		t.Errorf("the job of a is %+v", a)
	}
	if c, _ := g.Inline("c"); c.Shell != "" || c.Overlap != common.OverlapAllow {
		t.Errorf("the job of c is %+v", c)
	}
	for _, name := range []string{"b", "no"} {
		if _, err := g.Inline(name); err == nil {
			t.Errorf("%s is an inline step", name)
		}
	}
}

func TestStart_ValueThatIsTooLarge_IsRefused(t *testing.T) {
	g := compiled(t, steps(
		with(inline("a"), func(s *common.Step) { s.Outputs = map[string]common.Output{"v": {}} }),
		with(inline("b", "a"), func(s *common.Step) {
			s.Env = map[string]string{"V": "${{ steps.a.outputs.v }}${{ steps.a.outputs.v }}"}
		})))
	r := newRig(t, g, func(string) common.Node {
		mark := ended("exit:0")
		mark.Outputs = map[string]string{"v": strings.Repeat("x", 3<<10)}
		return mark
	})
	if r.run(); r.statuses() != "a=succeeded b=params_invalid" {
		t.Error(r.statuses())
	}
}

func TestCompletion_OutputsOfTheFlow(t *testing.T) {
	for size, want := range map[int]common.Status{10: common.StatusSucceeded, 5 << 10: common.StatusFailed} {
		g := compiled(t, common.Job{
			Steps: []common.Step{with(inline("a"), func(s *common.Step) {
				s.Outputs = map[string]common.Output{"v": {}}
			})},
			Outputs: map[string]common.Output{"day": {Value: "on ${{ steps.a.outputs.v }}"}, "kind": {Value: "plain"}},
		})
		value := strings.Repeat("x", size)
		r := newRig(t, g, func(string) common.Node {
			mark := ended("exit:0")
			mark.Outputs = map[string]string{"v": value}
			return mark
		})
		end := r.run()
		if end.Status != want {
			t.Errorf("%d bytes: %s", size, end.Status)
		}
		if data, _ := json.Marshal(end.Outputs); want == common.StatusSucceeded &&
			string(data) != `{"day":"on xxxxxxxxxx","kind":"plain"}` {
			t.Errorf("outputs are %s", data)
		}
	}
}

func TestStarted_NamesRunsAndItemsOfMapsThatAreNotExpanded(t *testing.T) {
	g := compiled(t, steps(inline("a"), forEach("m", common.ForEach{Items: []string{"p"}}, "a")))
	r := newRig(t, g, nil)
	r.put("a", common.Node{State: common.NodeStarted, Round: 1, Job: "f:a", Fire: "u.n1"})
	r.put("m@00000", common.Node{State: common.NodeStarted, Round: 1, Job: "f:m", Fire: "u.n2"})
	var got []string
	for v := range r.state.Started() {
		got = append(got, v.Node+" "+v.Job+" "+v.Fire)
	}
	if strings.Join(got, ", ") != "a f:a u.n1, m@00000 f:m u.n2" {
		t.Errorf("started are %v", got)
	}
}
