package system

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/flow/trial/trialtest"
)

// rerunStory is a flow whose runs are re-run.
type rerunStory struct {
	*api
	dir  string
	name string
}

// script returns the command of a step that notes that it ran, and then does what a file of its name says.
func (s *rerunStory) script(step string) string {
	return fmt.Sprintf("echo %s >>%s; if [ -e %s ]; then . %s; fi", step, common.ShellWord(s.path("ledger")),
		common.ShellWord(s.path(step)), common.ShellWord(s.path(step)))
}

func (s *rerunStory) path(name string) string { return filepath.Join(s.dir, name) }

// does sets what a step does from now on.
func (s *rerunStory) does(step, script string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(step), []byte(script+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// story saves a flow.
func story(t *testing.T, a *api, name string, steps ...map[string]any) *rerunStory {
	t.Helper()
	s := &rerunStory{api: &api{t: t, base: a.base, token: a.token}, dir: t.TempDir(), name: name}
	for _, step := range steps {
		step["command"] = s.script(step["name"].(string))
	}
	s.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": name, "timeout": "5m",
		"steps": steps}, nil)
	return s
}

func (s *rerunStory) start() string {
	s.t.Helper()
	var accepted struct{ Run string }
	s.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+s.name+"/run", map[string]any{}, &accepted)
	return accepted.Run
}

// again re-runs a flow run, and returns the new one and the plan of its dry run.
func (s *rerunStory) again(run string, request map[string]any) (id string, plan rerunPlan) {
	s.t.Helper()
	var answer struct {
		Run  string
		Plan rerunPlan
	}
	request["dryRun"] = true
	s.do(http.StatusOK, http.MethodPost, "/api/v1/runs/"+run+"/rerun", request, &answer)
	plan = answer.Plan
	delete(request, "dryRun")
	s.do(http.StatusAccepted, http.MethodPost, "/api/v1/runs/"+run+"/rerun", request, &answer)
	return answer.Run, plan
}

type rerunPlan struct {
	Run, Kept []string
	Warnings  []common.Reason
}

// keptNode is a node of a flow run, as the API shows it.
type keptNode struct {
	ranNode
	Kept     bool
	Accepted *struct{ By, Note string }
}

// wants waits for the end of a flow run, and checks its status and nodes: status, reason, and kept.
func (s *rerunStory) wants(run string, status common.Status, want map[string]string) map[string]keptNode {
	s.t.Helper()
	if end := endedRun(s.api, run); end.Status != status {
		s.t.Errorf("%s is %s, want %s", s.name, end.Status, status)
	}
	return s.nodes(run, want)
}

// nodes waits until the nodes of a flow run are as wanted.
func (s *rerunStory) nodes(run string, want map[string]string) map[string]keptNode {
	s.t.Helper()
	nodes := map[string]keptNode{}
	var faults []string
	defer func() {
		if s.t.Failed() {
			s.t.Log(faults)
		}
	}()
	eventually(s.t, fmt.Sprintf("the nodes of %s are %v", s.name, want), func() bool {
		var page struct{ Items []keptNode }
		code, err := s.try(http.MethodGet, "/api/v1/runs/"+run+"/nodes?limit=100", nil, &page)
		if err != nil || code != http.StatusOK {
			return false
		}
		faults = nil
		for _, n := range page.Items {
			nodes[n.Node] = n
			text, kept := strings.CutPrefix(want[n.Node], "kept ")
			if fault := trialtest.Met(text, n.Status, n.Reason); fault != "" || n.Kept != kept {
				faults = append(faults, fmt.Sprintf("%s: kept %t, %s", n.Node, n.Kept, fault))
			}
		}
		return len(faults) == 0 && len(page.Items) == len(want)
	})
	return nodes
}

// ran returns how often each step ran.
func (s *rerunStory) ran() string {
	s.t.Helper()
	data, err := os.ReadFile(s.path("ledger"))
	if err != nil {
		s.t.Fatal(err)
	}
	times := map[string]int{}
	for step := range strings.FieldsSeq(string(data)) {
		times[step]++
	}
	return fmt.Sprint(times)
}

// Re-runs are no trials of the engine: these cases are run for real only.
func TestFlowCases_OfReruns_InAStandalone(t *testing.T) {
	t.Parallel() // it mostly waits
	_, a := standalone(t, t.TempDir())
	linear := func(t *testing.T, name string) (*rerunStory, string) {
		s := story(t, a, name, map[string]any{"name": "a"},
			map[string]any{"name": "b", "after": []string{"a"}}, map[string]any{"name": "c", "after": []string{"b"}},
			map[string]any{"name": "clean", "after": []string{"a", "b"}, "rule": "all_done"})
		s.does("b", "exit 1")
		first := s.start()
		s.wants(first, common.StatusFailed, map[string]string{"a": "succeeded", "b": "failed",
			"c": "skipped upstream_failed", "clean": "succeeded"})
		s.does("b", "true")
		return s, first
	}
	fixed := map[string]string{"a": "kept succeeded", "b": "succeeded", "c": "succeeded", "clean": "succeeded"}
	t.Run("T30: what failed runs again, and what comes after it", func(t *testing.T) {
		s, first := linear(t, "t30")
		second, plan := s.again(first, map[string]any{"scope": "failed"})
		if len(plan.Warnings) != 1 || plan.Warnings[0].Text != "clean succeeded before, and runs again" {
			t.Errorf("%+v", plan.Warnings)
		}
		s.wants(second, common.StatusSucceeded, fixed)
		if got := s.ran(); got != "map[a:1 b:2 c:1 clean:2]" {
			t.Errorf("the steps ran %s times", got)
		}
	})
	t.Run("N8: a failure is accepted, and stays so in a later re-run", func(t *testing.T) {
		s, first := linear(t, "n8")
		second, plan := s.again(first, map[string]any{"accept": []string{"b"}, "note": "loaded by hand"})
		if !slices.Equal(plan.Run, []string{"c", "clean"}) || !slices.Equal(plan.Kept, []string{"a", "b"}) {
			t.Errorf("%+v", plan)
		}
		accepted := map[string]string{"a": "kept succeeded", "b": "kept failed", "c": "succeeded",
			"clean": "succeeded"}
		third := ""
		for i, run := range []string{second, ""} {
			if i == 1 {
				third, _ = s.again(second, map[string]any{"scope": "from", "from": []string{"c"}})
				run, accepted["clean"] = third, "kept succeeded"
			}
			nodes := s.wants(run, common.StatusSucceeded, accepted)
			if b := nodes["b"].Accepted; b == nil || b.By == "" || b.Note != "loaded by hand" {
				t.Errorf("%s: b is accepted %+v", run, b)
			}
		}
		if got := s.ran(); got != "map[a:1 b:1 c:2 clean:2]" {
			t.Errorf("the steps ran %s times", got)
		}
	})
	t.Run("T32: a step that was skipped is decided again", func(t *testing.T) {
		s := story(t, a, "t32", map[string]any{"name": "chk", "outputs": map[string]any{"go": map[string]any{
			"required": true}}}, map[string]any{"name": "load", "after": []string{"chk"},
			"when": "steps.chk.outputs.go == 'yes'"})
		s.does("chk", `printf no >"$CARILLON_OUTPUT/go"`)
		first := s.start()
		s.wants(first, common.StatusSucceeded, map[string]string{"chk": "succeeded", "load": "skipped when_false"})
		s.does("chk", `printf yes >"$CARILLON_OUTPUT/go"`)
		second, _ := s.again(first, map[string]any{"scope": "from", "from": []string{"chk"}})
		s.wants(second, common.StatusSucceeded, map[string]string{"chk": "succeeded", "load": "succeeded"})
	})
	t.Run("T15: no live retry or acceptance once a later step has started", func(t *testing.T) {
		s := story(t, a, "t15", map[string]any{"name": "a"},
			map[string]any{"name": "clean", "after": []string{"a"}, "rule": "all_done"})
		s.does("a", "exit 1")
		s.does("clean", "until [ -e "+common.ShellWord(s.path("gate"))+" ]; do sleep 0.05; done")
		run := s.start()
		s.nodes(run, map[string]string{"a": "failed", "clean": "running"})
		for _, body := range []map[string]any{{"scope": "only", "only": []string{"a"}}, {"accept": []string{"a"}}} {
			var refused string
			s.do(http.StatusConflict, http.MethodPost, "/api/v1/runs/"+run+"/rerun", body, &refused)
			if !strings.Contains(refused, `"dependent_started"`) {
				t.Errorf("%v: %s", body, refused)
			}
		}
		s.does("gate", "")
		s.wants(run, common.StatusFailed, map[string]string{"a": "failed", "clean": "succeeded"})
	})
	t.Run("a failure is accepted while the flow run goes on", func(t *testing.T) {
		s := story(t, a, "live", map[string]any{"name": "a"}, map[string]any{"name": "b", "after": []string{"a"}},
			map[string]any{"name": "slow"})
		s.does("a", "exit 1")
		s.does("slow", "until [ -e "+common.ShellWord(s.path("gate"))+" ]; do sleep 0.05; done")
		run := s.start()
		s.nodes(run, map[string]string{"a": "failed", "b": "skipped upstream_failed", "slow": "running"})
		s.do(http.StatusAccepted, http.MethodPost, "/api/v1/runs/"+run+"/rerun", map[string]any{
			"accept": []string{"a"}, "note": "by hand"}, nil)
		s.nodes(run, map[string]string{"a": "failed", "b": "succeeded", "slow": "running"})
		s.does("gate", "")
		nodes := s.wants(run, common.StatusSucceeded, map[string]string{"a": "failed", "b": "succeeded",
			"slow": "succeeded"})
		if got := nodes["a"]; got.Accepted == nil || got.Accepted.Note != "by hand" || got.Class != "success" {
			t.Errorf("%+v", got)
		}
		later, plan := s.again(run, map[string]any{"scope": "from", "from": []string{"b"}})
		if !slices.Equal(plan.Kept, []string{"a", "slow"}) {
			t.Errorf("%+v", plan)
		}
		s.wants(later, common.StatusSucceeded, map[string]string{"a": "kept failed", "b": "succeeded",
			"slow": "kept succeeded"})
	})
}
