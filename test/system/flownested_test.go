package system

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/common"
)

// A failed step that ran a flow goes on from the failures of that flow run when its flow is re-run, and when the step
// is started again in its live flow run. nested restart starts it from the beginning.
func TestRerunFlow_NestedFlow_GoesOnFromItsFailures(t *testing.T) {
	t.Parallel() // it mostly waits
	_, a := standalone(t, t.TempDir())
	dir := t.TempDir()
	ledger, mended, release := filepath.Join(dir, "ledger"), filepath.Join(dir, "mended"), filepath.Join(dir, "go")
	note := func(step, more string) map[string]any {
		return map[string]any{"name": step, "command": fmt.Sprintf("echo %s >>%s; %s", step, ledger, more)}
	}
	after := func(step map[string]any, sources ...string) map[string]any {
		step["after"] = sources
		return step
	}
	// ran returns how often each step has run since the last call.
	ran := func() string {
		data, err := os.ReadFile(ledger)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(ledger, 0); err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for step := range strings.FieldsSeq(string(data)) {
			counts[step]++
		}
		return fmt.Sprint(counts)
	}
	mend := func(is bool) {
		if is {
			if err := os.WriteFile(mended, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Remove(mended); err != nil {
			t.Fatal(err)
		}
	}
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "innermost", "timeout": "5m",
		"steps": []any{note("p", "true"), after(note("q", "test -e "+mended), "p"),
			after(note("r", "true"), "q")}}, nil)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "inner", "timeout": "5m",
		"steps": []any{note("x", "true"), map[string]any{"name": "y", "job": "innermost", "after": []string{"x"}},
			after(note("z", "true"), "y")}}, nil)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "outer", "timeout": "5m",
		"steps": []any{note("first", "true"), map[string]any{"name": "etl", "job": "inner", "after": []string{"first"}},
			after(note("last", "true"), "etl")}}, nil)

	begin := func(job string) string {
		var accepted struct{ Run string }
		a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+job+"/run", map[string]any{}, &accepted)
		return accepted.Run
	}
	type answer struct {
		Run  string
		Plan struct {
			Run    []string
			Nested []struct {
				Node, Run           string
				RunTotal, KeptTotal int
			}
		}
	}
	rerun := func(status int, run string, body map[string]any) (got answer) {
		a.do(status, http.MethodPost, "/api/v1/runs/"+run+"/rerun", body, &got)
		return got
	}
	expect := func(run string, status common.Status, counts string) {
		t.Helper()
		if end := endedRun(a, run); end.Status != status {
			t.Errorf("run %s: %+v", run, end)
		}
		if got := ran(); got != counts {
			t.Errorf("run %s: the steps ran %s times, want %s", run, got, counts)
		}
	}

	run := begin("outer")
	expect(run, common.StatusFailed, "map[first:1 p:1 q:1 x:1]")
	mend(true)
	plan := rerun(http.StatusOK, run, map[string]any{"dryRun": true}).Plan
	if len(plan.Nested) != 1 || plan.Nested[0].Node != "etl" || plan.Nested[0].RunTotal != 2 ||
		plan.Nested[0].KeptTotal != 1 || endedRun(a, plan.Nested[0].Run).Job != "inner" {
		t.Errorf("%+v", plan)
	}
	expect(rerun(http.StatusAccepted, run, map[string]any{}).Run, common.StatusSucceeded,
		"map[last:1 q:1 r:1 z:1]")

	// From the beginning: on request, and where a step before it runs again.
	mend(false)
	run = begin("outer")
	expect(run, common.StatusFailed, "map[first:1 p:1 q:1 x:1]")
	mend(true)
	second := rerun(http.StatusAccepted, run, map[string]any{"nested": "restart"})
	if len(second.Plan.Nested) > 0 {
		t.Errorf("%+v", second.Plan)
	}
	expect(second.Run, common.StatusSucceeded, "map[last:1 p:1 q:1 r:1 x:1 z:1]")
	mend(false)
	run = begin("outer")
	expect(run, common.StatusFailed, "map[first:1 p:1 q:1 x:1]")
	mend(true)
	expect(rerun(http.StatusAccepted, run, map[string]any{"scope": "from", "from": []string{"first"}}).Run,
		common.StatusSucceeded, "map[first:1 last:1 p:1 q:1 r:1 x:1 z:1]")

	// In a live flow run.
	mend(false)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "live", "timeout": "5m",
		"steps": []any{map[string]any{"name": "etl", "job": "inner"},
			note("slow", "while ! test -e "+release+"; do sleep 0.1; done"),
			after(note("last", "true"), "etl", "slow")}}, nil)
	run = begin("live")
	failed := ""
	eventually(t, "the step fails", func() bool {
		var nodes struct {
			Items []struct {
				Step, Run string
				Status    common.Status
			}
		}
		code, err := a.try(http.MethodGet, "/api/v1/runs/"+run+"/nodes", nil, &nodes)
		if err != nil || code != http.StatusOK { // it has not started
			return false
		}
		for _, n := range nodes.Items {
			if n.Step == "etl" && n.Status == common.StatusFailed {
				failed = n.Run
			}
		}
		return failed != ""
	})
	mend(true)
	again := rerun(http.StatusAccepted, run, map[string]any{"scope": "only", "only": []string{"etl"}}).Run
	if end := endedRun(a, again); end.Status != common.StatusSucceeded || end.Attempt != 2 || end.Nodes.Kept != 1 {
		t.Errorf("%+v", end)
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(run, common.StatusSucceeded, "map[last:1 p:1 q:2 r:1 slow:1 x:1 z:1]")
}
