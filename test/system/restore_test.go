package system

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"carillon/internal/common"
)

// started reads the runs whose commands began, in the order in which they did.
func started(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// An etcd that is put back to an older state beneath running workers is noticed: nothing starts until an operator
// says that it counts, and no attempt starts twice. The flow runs of that state are ended, without their clean-up.
func TestEtcdRestoredUnderRunningWorkers(t *testing.T) {
	t.Parallel()
	c, a := readyCluster(t)
	for _, name := range []string{"east", "west"} {
		c.worker(name)
	}
	file := filepath.Join(c.dir, "started")
	for i := range 4 {
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
			"name":     fmt.Sprintf("tick-%d", i),
			"cronExpr": "* * * * * * *",
			"command":  "echo $CARILLON_RUN_ID >> " + file,
			"overlap":  []string{"allow", "skip"}[i%2],
		}, nil)
	}
	flows := restoredFlows(t, c, a)
	eventually(t, "the jobs run", func() bool { return len(started(t, file)) > 20 })
	data, backup := filepath.Join(c.dir, "etcd"), filepath.Join(c.dir, "backup")
	c.etcd.end(syscall.SIGTERM)
	if out, err := exec.Command("cp", "-a", data, backup).CombinedOutput(); err != nil {
		t.Fatalf("copy etcd: %v: %s", err, out)
	}
	c.startEtcd()
	for i := range 3 { // changes that the backup does not contain
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
			"name":    fmt.Sprintf("later-%d", i),
			"command": "true",
		}, nil)
	}
	flows.letGo("ended")
	before := len(started(t, file))
	eventually(t, "the jobs run on", func() bool { return len(started(t, file)) > before+40 })

	c.etcd.end(syscall.SIGTERM)
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(backup, data); err != nil {
		t.Fatal(err)
	}
	c.startEtcd()
	eventually(t, "it is reported", func() bool { return a.ready() && a.has("etcd_went_back") })
	before = len(started(t, file))
	time.Sleep(5 * time.Second) // in which nothing may happen
	if after := len(started(t, file)); after != before {
		t.Errorf("%d commands began before an operator said that etcd counts", after-before)
	}
	a.do(http.StatusServiceUnavailable, http.MethodPut, "/api/v1/jobs/tick-0", map[string]any{
		"name":     "tick-0",
		"cronExpr": "@daily",
		"command":  "true",
	}, nil)

	// The log store has entries that etcd has forgotten. They are named, and a fault until the restore is accepted.
	forgotten := func() (step auditStep) {
		a.do(http.StatusOK, http.MethodGet, "/api/v1/audit/verify?limit=1000", nil, &step)
		return step
	}
	step := forgotten()
	if step.Intact || len(step.Faults) != 1 || step.Faults[0].Code != "end" || step.Restored == nil ||
		step.Restored.From != step.Head.Seq+1 || step.Restored.To != step.To {
		t.Errorf("before the restore is accepted: %+v, want the fault end and the forgotten entries", step)
	}
	gap := step.Restored

	var done struct{ Restored bool }
	a.do(http.StatusOK, http.MethodPost, "/api/v1/system/recover", map[string]any{}, &done)
	if !done.Restored {
		t.Error("the master does not know that etcd was restored")
	}
	eventually(t, "the condition ends", func() bool { return !a.has("etcd_went_back") })
	before = len(started(t, file))
	eventually(t, "the jobs run again", func() bool { return len(started(t, file)) > before+20 })
	eventually(t, "the entry of the recovery is sealed", func() bool {
		step := forgotten()
		return step.Head.Seq == step.To
	})
	if step := forgotten(); gap != nil && (!step.Intact || step.To <= gap.To || step.Restored == nil ||
		*step.Restored != *gap) {
		t.Errorf("after the restore was accepted: %+v, want an intact chain and the forgotten entries %+v", step, *gap)
	}
	flows.check()
	seen := map[string]bool{}
	for _, run := range started(t, file) {
		if seen[run] {
			t.Errorf("%s was started twice", run)
		}
		seen[run] = true
	}
}

// heldFlows are two flow runs of a backup, with clean-up steps: one ends between the backup and the restore, the other
// one is held.
type heldFlows struct {
	t    *testing.T
	a    *api
	dir  string
	runs map[string]string // by flow
}

// restoredFlows starts the flow runs, and waits until their main part runs.
func restoredFlows(t *testing.T, c *cluster, a *api) *heldFlows {
	t.Helper()
	f := &heldFlows{t: t, a: a, dir: c.dir, runs: map[string]string{}}
	line := "echo $CARILLON_FLOW_RUN/$CARILLON_STEP/$CARILLON_RUN_ID >>" + f.ledger()
	for _, name := range []string{"ended", "held"} {
		work := line + "\nuntil [ -e " + f.gate(name) + " ]; do sleep 0.05; done"
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
			"name":      name,
			"onLost":    "abandon",
			"lostAfter": "20s",
			"killGrace": "1s",
			"steps": []map[string]any{
				{"name": "create", "command": line},
				{"name": "work", "after": []string{"create"}, "command": work},
				{"name": "remove", "after": []string{"create", "work"}, "finally": true, "command": line},
			},
		}, nil)
		f.runs[name] = f.run(name)
		eventually(t, "the main part of "+name+" runs", func() bool { return f.begun(f.runs[name])["work"] == 1 })
	}
	return f
}

func (f *heldFlows) ledger() string          { return filepath.Join(f.dir, "flow-steps") }
func (f *heldFlows) gate(name string) string { return filepath.Join(f.dir, "gate-"+name) }

func (f *heldFlows) run(name string) string {
	f.t.Helper()
	var accepted struct{ Run string }
	f.a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+name+"/run", map[string]any{}, &accepted)
	return accepted.Run
}

// begun counts the commands of the steps of a flow run that began.
func (f *heldFlows) begun(run string) map[string]int {
	f.t.Helper()
	counts := map[string]int{}
	for _, line := range started(f.t, f.ledger()) {
		if of := strings.Split(line, "/"); len(of) == 3 && of[0] == run {
			counts[of[1]]++
		}
	}
	return counts
}

// outcome waits for the end of a flow run.
func (f *heldFlows) outcome(id string) (end run) {
	f.t.Helper()
	eventually(f.t, "the flow run "+id+" ends", func() bool {
		status, err := f.a.try(http.MethodGet, "/api/v1/runs/"+id, nil, &end)
		return err == nil && status == http.StatusOK && hasEnded(common.Status(end.Status))
	})
	return end
}

// letGo lets the main part of a flow run end, and waits for the end of its clean-up.
func (f *heldFlows) letGo(name string) {
	f.t.Helper()
	if err := os.WriteFile(f.gate(name), nil, 0o600); err != nil {
		f.t.Fatal(err)
	}
	if end := f.outcome(f.runs[name]); end.Status != "succeeded" {
		f.t.Errorf("%s is %s before the restore", name, end.Status)
	}
}

// check checks, after the restore was accepted, that the flow run that was held ended without its clean-up, that the
// other one kept its outcome, and that a new one runs.
func (f *heldFlows) check() {
	f.t.Helper()
	eventually(f.t, "the flow runs of the backup have ended", func() bool {
		return f.a.count("status=running&job=held", status("running"))+
			f.a.count("status=running&job=ended", status("running")) == 0
	})
	if end := f.outcome(f.runs["held"]); end.Status != "missed" || end.Reason.Code != common.ReasonRestored {
		f.t.Errorf("the flow run that was held is %s, %s; want missed, restored", end.Status, end.Reason.Code)
	}
	eventually(f.t, "the flow run that had ended before the restore has its outcome", func() bool {
		end := f.outcome(f.runs["ended"])
		return end.Status == "succeeded"
	})
	eventually(f.t, "the clean-up step has one outcome", func() bool {
		return f.a.count("flowRun="+f.runs["held"], func(r run) bool { return r.Job == "held:remove" }) == 1
	})
	for name, want := range map[string]int{"held": 0, "ended": 1} {
		if got := f.begun(f.runs[name]); got["create"] != 1 || got["work"] != 1 || got["remove"] != want {
			f.t.Errorf("commands of %s that began: %v; want one of each, and of the clean-up %d", name, got, want)
		}
	}
	again := f.run("ended") // whose gate is open
	if end, got := f.outcome(again), f.begun(again); end.Status != "succeeded" || got["remove"] != 1 {
		f.t.Errorf("a flow run after the restore is %s: %v", end.Status, got)
	}
}
