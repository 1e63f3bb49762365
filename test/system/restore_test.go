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
// says that it counts, and no attempt starts twice.
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
	seen := map[string]bool{}
	for _, run := range started(t, file) {
		if seen[run] {
			t.Errorf("%s was started twice", run)
		}
		seen[run] = true
	}
}
