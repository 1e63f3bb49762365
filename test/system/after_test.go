package system

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

// A chain of three jobs on two workers: the worker that is to fire the second one is stopped when the first one ends,
// and killed. The other one fires it, and each set of successes makes one run.
func TestChain_FirstRankDiesBetweenParentAndChild(t *testing.T) {
	t.Parallel() // it mostly waits
	c := newCluster(t)
	a := c.master()
	a.token = c.bootstrap()
	eventually(t, "the master is ready", a.ready)
	workers := map[string]*process{"east": c.worker("east"), "west": c.worker("west")}
	client := c.keys()
	var known map[string]common.Registration
	eventually(t, "both workers are registered", func() bool {
		known = registered(t, client)
		return len(known) == 2
	})
	first, other := "east", "west"
	live := []placement.Candidate{{ID: known["east"].Worker}, {ID: known["west"].Worker}}
	if placement.SettleRank("second", live, known["east"].Worker) != 0 {
		first, other = other, first
	}

	gate := filepath.Join(c.dir, "gate")
	create := func(job map[string]any) { a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", job, nil) }
	create(map[string]any{
		"name": "first", "command": "while [ ! -e " + gate + " ]; do sleep 0.05; done",
		"placement": map[string]any{"workers": []string{other}},
	})
	create(map[string]any{"name": "second", "command": "true", "after": []string{"first"}})
	create(map[string]any{"name": "third", "command": "true", "after": []string{"second"}})
	succeeded := func(job string, n int) func() bool {
		return func() bool { return a.count("job="+job, status("succeeded")) == n }
	}
	run := func() {
		t.Helper()
		a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/first/run", map[string]any{}, nil)
	}
	run()
	eventually(t, "the first job runs", func() bool { return a.count("job=first", status("running")) == 1 })
	if err := syscall.Kill(known[first].PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first job has ended", succeeded("first", 1))
	if err := syscall.Kill(known[first].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	workers[first].exit() // its guardian ends with it
	eventually(t, "the second job has run on the other worker", succeeded("second", 1))
	eventually(t, "and the third", succeeded("third", 1))

	c.worker(first)
	eventually(t, "the killed worker is back", func() bool {
		again, back := registered(t, client)[first]
		return back && again.Life.Life != known[first].Life.Life
	})
	run()
	eventually(t, "the chain runs once more", succeeded("third", 2))
	for _, job := range []string{"first", "second", "third"} {
		runs := a.runs("job=" + job)
		if len(runs) != 2 {
			t.Errorf("%d runs of %s: %+v", len(runs), job, runs)
		}
		for _, r := range runs {
			if want := "after"; job != "first" && r.Cause != want {
				t.Errorf("%s has the cause %s", r.ID, r.Cause)
			}
		}
	}
	a.do(http.StatusConflict, http.MethodDelete, "/api/v1/jobs/second", nil, nil)
}
