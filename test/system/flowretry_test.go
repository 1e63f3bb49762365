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

// A flow with retry is tried again by itself: what has succeeded is kept, also in a flow that another one runs, whose
// step waits for the last attempt. A step that runs a job has its own retry, in place of the job's.
func TestFlowRetry_InAStandalone(t *testing.T) {
	t.Parallel() // it mostly waits
	_, a := standalone(t, t.TempDir())
	dir := t.TempDir()
	ledger := filepath.Join(dir, "ledger")
	once := func(step string, failures int) string { // it fails as often
		return fmt.Sprintf("echo %s >>%s; [ $(grep -c '^%s$' %s) -gt %d ]", step, ledger, step, ledger, failures)
	}
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "inner", "timeout": "5m", "retry": map[string]any{"max": 1, "backoff": "0s"},
		"steps": []map[string]any{
			{"name": "a", "command": once("a", 0)},
			{"name": "b", "command": once("b", 1), "after": []string{"a"}},
			{"name": "c", "command": once("c", 0), "after": []string{"b"}},
			{"name": "clean", "command": once("clean", 0), "after": []string{"a", "b"}, "rule": "all_done"},
		},
	}, nil)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "shared", "command": once("shared", 2),
	}, nil)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "outer", "timeout": "5m",
		"steps": []map[string]any{
			{"name": "etl", "job": "inner"},
			{"name": "report", "job": "shared", "retry": map[string]any{"max": 2, "backoff": "0s"}},
			{"name": "last", "command": once("last", 0), "after": []string{"etl", "report"}},
		},
	}, nil)
	var accepted struct{ Run string }
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/outer/run", map[string]any{}, &accepted)
	end := endedRun(a, accepted.Run)
	if end.Status != common.StatusSucceeded || end.Nodes.Succeeded != 3 {
		t.Errorf("outer: %+v", end)
	}
	data, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for step := range strings.FieldsSeq(string(data)) {
		ran[step]++
	}
	if got := fmt.Sprint(ran); got != "map[a:1 b:2 c:1 clean:2 last:1 shared:3]" {
		t.Errorf("the steps ran %s times", got)
	}

	// One entry in the ledger with two attempts, the second of which shows what it kept.
	var nodes struct {
		Items []struct{ Step, Run string }
	}
	a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+accepted.Run+"/nodes", nil, &nodes)
	inner := ""
	for _, n := range nodes.Items {
		if n.Step == "etl" {
			inner = n.Run
		}
	}
	second := endedRun(a, inner)
	if second.Attempt != 2 || second.Cause != common.CauseRetry || second.Status != common.StatusSucceeded ||
		second.Nodes.Kept != 1 {
		t.Errorf("the run of the step: %+v", second)
	}
	first := endedRun(a, strings.TrimSuffix(inner, "2")+"1")
	if first.Status != common.StatusFailed || first.Flow == nil || first.Flow.Run != accepted.Run {
		t.Errorf("its first attempt: %+v", first)
	}
}

// endedRun waits for the end of a run.
func endedRun(a *api, id string) (r common.Run) {
	a.t.Helper()
	eventually(a.t, "run "+id+" ends", func() bool {
		r = common.Run{}
		status, err := a.try(http.MethodGet, "/api/v1/runs/"+id, nil, &r)
		return err == nil && status == http.StatusOK && r.Status.Terminal()
	})
	return r
}
