package system

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/executor/proctree"
)

// fleet is a cluster of three workers, on which jobs with runOn run.
type fleet struct {
	*cluster
	a       *api
	client  *clientv3.Client
	workers map[string]*process
	ledger  string // a line for each command that has begun: the job, the worker, the run that the workers share
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{cluster: newCluster(t), workers: map[string]*process{}}
	f.ledger = filepath.Join(f.dir, "ledger")
	f.a = f.master()
	f.a.token = f.bootstrap()
	eventually(t, "the master is ready", f.a.ready)
	f.client = f.keys()
	f.a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "probe", "command": "true",
		"runOn": "all"}, nil)
	for _, name := range []string{"east", "north", "west"} {
		f.join(name)
	}
	return f
}

// join starts a worker, and waits until the others know it too.
func (f *fleet) join(name string) {
	f.t.Helper()
	f.workers[name] = f.worker(name)
	eventually(f.t, name+" is registered", func() bool { return registered(f.t, f.client)[name].Worker != "" })
	eventually(f.t, name+" takes part in runs", func() bool {
		return f.ended(f.run("probe")).Nodes.Total == len(registered(f.t, f.client))
	})
}

// bury kills a worker, and waits until its lease has expired.
func (f *fleet) bury(name string) {
	f.t.Helper()
	f.workers[name].Kill()
	eventually(f.t, name+" is not registered any more", func() bool {
		return registered(f.t, f.client)[name].Worker == ""
	})
}

// kill kills a worker's process, its guardian, or both. A worker or a guardian that is left ends what the worker ran,
// and then itself; kill waits for that.
func (f *fleet) kill(name, how string) {
	f.t.Helper()
	switch p := f.workers[name]; how {
	case "both":
		p.Kill()
	case "worker":
		p.KillWorker()
	case "guardian":
		below := proctree.Below(p.PID())
		p.Signal(syscall.SIGKILL)
		p.exit()
		eventually(f.t, "the worker and its commands end", func() bool {
			return !slices.ContainsFunc(below, func(was proctree.Process) bool {
				is, found := proctree.Look(was.PID)
				return found && !is.Dead && is.Start == was.Start
			})
		})
	}
}

// save creates a job that writes to the ledger first.
func (f *fleet) save(name, command, startDeadline string, runOn any) {
	f.t.Helper()
	line := fmt.Sprintf("echo \"$CARILLON_JOB $CARILLON_WORKER_NAME $CARILLON_SPREAD_RUN\" >>%s\n%s", f.ledger, command)
	f.a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": name, "command": line,
		"runOn": runOn, "lostAfter": "20s", "killGrace": "1s", "startDeadline": startDeadline}, nil)
}

// began returns the workers on which the command of a run has begun, in that order.
func (f *fleet) began(run string) (names []string) {
	data, err := os.ReadFile(f.ledger)
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if words := strings.Fields(line); len(words) == 3 && words[2] == run {
			names = append(names, words[1])
		}
	}
	return names
}

// fleetRun is a run on several workers with its nodes.
type fleetRun struct {
	ID, Status string
	Reason     *common.Reason
	Nodes      common.NodeCounts
	of         struct {
		Items []struct {
			Worker, Status string
			Reason         *common.Reason
		}
	}
}

// texts returns the workers with their outcomes, sorted.
func (r *fleetRun) texts() (all []string) {
	for _, node := range r.of.Items {
		text := node.Worker + " " + node.Status
		if node.Reason != nil {
			text += " " + node.Reason.Code
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

// run runs a job now.
func (f *fleet) run(job string) string {
	f.t.Helper()
	var accepted struct{ Run string }
	f.a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+job+"/run", map[string]any{}, &accepted)
	return accepted.Run
}

// ended waits for the end of a run.
func (f *fleet) ended(id string) (run fleetRun) {
	f.t.Helper()
	eventually(f.t, "run "+id+" ends", func() bool {
		run = fleetRun{}
		status, err := f.a.try(http.MethodGet, "/api/v1/runs/"+id, nil, &run)
		return err == nil && status == http.StatusOK && run.Status != "running" && run.Status != "waiting"
	})
	f.a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+id+"/nodes", nil, &run.of)
	return run
}

// held runs a job whose command waits for a file, on one worker after the other. It returns the first worker, which
// runs the command, the others in the order of their ranks, and what lets the commands end.
func (f *fleet) held(job string, workers any) (run, first string, others []string, release func()) {
	f.t.Helper()
	gate := filepath.Join(f.dir, job+"-gate")
	f.save(job, "until test -e "+gate+"; do sleep 0.1; done", "20s",
		map[string]any{"workers": workers, "concurrency": 1})
	run = f.run(job)
	eventually(f.t, "the command runs on the first worker", func() bool { return len(f.began(run)) == 1 })
	var live fleetRun
	f.a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+run+"/nodes", nil, &live.of)
	for _, node := range live.of.Items {
		others = append(others, node.Worker)
	}
	return run, others[0], others[1:], func() {
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
}

// Jobs with runOn on three workers, one after the other: each worker has one run and its own outcome, and the fire one
// entry of the ledger.
func TestRunOn(t *testing.T) {
	t.Parallel() // it mostly waits
	f := newFleet(t)
	f.failedWorkerIsRunAgain()
	f.stopsAtTheFirstFailure()
	f.killed()
	f.stepOfAFlow()
	f.backfilled()
	f.nextInRankReplacesADeadWorker()
	f.lostRunIsRepeatedElsewhere()
	f.deadWorkerIsMissed()
}

// On one of all workers the command fails, which alone is run again.
func (f *fleet) failedWorkerIsRunAgain() {
	t, broken := f.t, filepath.Join(f.dir, "broken-")
	f.save("rotate", "test ! -e "+broken+"$CARILLON_WORKER_NAME", "4m", "all")
	if err := os.WriteFile(broken+"west", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run := f.ended(f.run("rotate"))
	want := []string{"east succeeded", "north succeeded", "west failed exit_code"}
	if got := run.texts(); !slices.Equal(got, want) {
		t.Errorf("on all: %q", got)
	}
	if run.Status != "failed" || run.Reason.Code != common.ReasonWorkersFailed ||
		run.Reason.Data["workers"] != "west" || run.Nodes != (common.NodeCounts{Total: 3, Succeeded: 2, Failed: 1}) {
		t.Errorf("on all: %+v, %+v", run, run.Reason)
	}
	if got := slices.Sorted(slices.Values(f.began(run.ID))); !slices.Equal(got, []string{"east", "north", "west"}) {
		t.Errorf("the command began on %q", got)
	}

	if err := os.Remove(broken + "west"); err != nil {
		t.Fatal(err)
	}
	var again struct{ Run string }
	f.a.do(http.StatusAccepted, http.MethodPost, "/api/v1/runs/"+run.ID+"/rerun", map[string]any{"scope": "failed"},
		&again)
	second := f.ended(again.Run)
	if second.Status != "succeeded" || second.Nodes != (common.NodeCounts{Total: 3, Succeeded: 3, Kept: 2}) {
		t.Errorf("re-run: %+v", second)
	}
	if got := f.began(again.Run); !slices.Equal(got, []string{"west"}) {
		t.Errorf("the re-run began on %q", got)
	}
	var fires struct{ Items []struct{ Status string } }
	f.a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/rotate/fires", nil, &fires)
	if len(fires.Items) != 1 || fires.Items[0].Status != "succeeded" {
		t.Errorf("the ledger has %+v, want one entry", fires.Items)
	}
}

// With stop, one worker after the other, the first failure is the last one.
func (f *fleet) stopsAtTheFirstFailure() {
	t := f.t
	f.save("rolling", "exit 3", "4m", map[string]any{"workers": "all", "concurrency": 1, "stop": true})
	run := f.ended(f.run("rolling"))
	if run.Status != "failed" || run.Nodes != (common.NodeCounts{Total: 3, Failed: 1, Skipped: 2}) {
		t.Errorf("with stop: %+v, %+v", run, run.Reason)
	}
	if got := f.began(run.ID); len(got) != 1 {
		t.Errorf("with stop the command began on %q", got)
	}
}

// A kill of the run ends the command on each worker.
func (f *fleet) killed() {
	t := f.t
	f.save("endless", "exec sleep 3600", "4m", "all")
	id := f.run("endless")
	eventually(t, "the command runs on all workers", func() bool { return len(f.began(id)) == 3 })
	f.a.do(http.StatusAccepted, http.MethodPost, "/api/v1/runs/"+id+"/kill", map[string]any{}, nil)
	run := f.ended(id)
	if run.Status != "killed" || run.Nodes != (common.NodeCounts{Total: 3, Failed: 3}) {
		t.Errorf("after the kill: %+v, %+v", run, run.Reason)
	}
	for _, text := range run.texts() {
		if !strings.Contains(text, " killed ") {
			t.Errorf("after the kill: %s", text)
		}
	}
}

// A flow continues when a step has run on all workers.
func (f *fleet) stepOfAFlow() {
	f.a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "outer",
		"steps": []map[string]any{
			{"name": "everywhere", "job": "rotate"},
			{"name": "then", "command": "true", "after": []string{"everywhere"}},
		}}, nil)
	outer := f.ended(f.run("outer"))
	var nodes struct{ Items []struct{ Step, Run string } }
	f.a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+outer.ID+"/nodes", nil, &nodes)
	if outer.Status != "succeeded" || len(nodes.Items) != 2 {
		f.t.Fatalf("the flow: %+v, %+v", outer, nodes.Items)
	}
	step := f.ended(nodes.Items[0].Run)
	if got := f.began(step.ID); step.Nodes != (common.NodeCounts{Total: 3, Succeeded: 3}) || len(got) != 3 {
		f.t.Errorf("the step: %+v, began on %q", step, got)
	}
}

// A backfill runs each date on all workers, one date after the other.
func (f *fleet) backfilled() {
	f.a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "daily", "command": "true",
		"cronExpr": "0 0 * * *", "timezone": "UTC", "runOn": "all"}, nil)
	to := time.Now().UTC().Truncate(24 * time.Hour)
	var made struct{ ID string }
	f.a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/daily/backfills", map[string]any{
		"from": to.AddDate(0, 0, -3), "to": to, "reprocess": "all", "includeUnknown": true}, &made)
	var end struct {
		EndedAt time.Time
		Counts  struct{ Total, Succeeded int }
	}
	eventually(f.t, "the backfill ends", func() bool {
		f.a.do(http.StatusOK, http.MethodGet, "/api/v1/backfills/"+made.ID, nil, &end)
		return !end.EndedAt.IsZero()
	})
	if end.Counts.Total != 3 || end.Counts.Succeeded != 3 {
		f.t.Errorf("the backfill: %+v", end)
	}
	var runs struct {
		Items []struct{ Nodes common.NodeCounts }
	}
	eventually(f.t, "its runs are in the history", func() bool {
		f.a.do(http.StatusOK, http.MethodGet, "/api/v1/runs?job=daily", nil, &runs)
		return len(runs.Items) == 3
	})
	for _, run := range runs.Items {
		if run.Nodes != (common.NodeCounts{Total: 3, Succeeded: 3}) {
			f.t.Errorf("a date of the backfill: %+v", run)
		}
	}
}

// One of two workers is dead when its turn comes: the third one takes its place.
func (f *fleet) nextInRankReplacesADeadWorker() {
	t := f.t
	run, first, others, release := f.held("two", 2)
	if len(others) != 1 {
		t.Fatalf("a run on two workers has %q beside %s", others, first)
	}
	dead := others[0]
	f.bury(dead)
	release()
	end := f.ended(run)
	if end.Status != "succeeded" || end.Nodes != (common.NodeCounts{Total: 2, Succeeded: 2}) {
		t.Errorf("on two: %+v, %+v", end, end.Reason)
	}
	if got := f.began(run); len(got) != 2 || got[0] != first || got[1] == first || got[1] == dead {
		t.Errorf("on two, without %s: the command began on %q", dead, got)
	}
	f.join(dead)
}

// A worker dies that runs two commands: the one that runs on a number of workers is repeated on another worker; that on
// all workers is lost.
func (f *fleet) lostRunIsRepeatedElsewhere() {
	t, gate := f.t, filepath.Join(f.dir, "lost-gate")
	f.save("single", "until test -e "+gate+"; do sleep 0.1; done", "4m", 1)
	f.save("each", "until test -e "+gate+"; do sleep 0.1; done", "4m", "all")
	single, each := f.run("single"), f.run("each")
	eventually(t, "both commands run", func() bool {
		return len(f.began(single)) == 1 && len(f.began(each)) == 3
	})
	dead := f.began(single)[0]
	f.bury(dead)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	end := f.ended(single)
	if end.Status != "succeeded" || end.Nodes != (common.NodeCounts{Total: 1, Succeeded: 1}) {
		t.Errorf("on one, after the death of %s: %+v, %+v", dead, end, end.Reason)
	}
	if got := f.began(single); len(got) != 2 || got[1] == dead {
		t.Errorf("on one, after the death of %s: the command began on %q", dead, got)
	}
	end = f.ended(each)
	if end.Status != "failed" || end.Reason.Data["workers"] != dead ||
		end.Nodes != (common.NodeCounts{Total: 3, Succeeded: 2, Failed: 1}) {
		t.Errorf("on all, after the death of %s: %+v, %+v", dead, end, end.Reason)
	}
	if got := f.began(each); len(got) != 3 {
		t.Errorf("on all, after the death of %s: the command began on %q", dead, got)
	}
	f.join(dead)
}

// One of all workers is dead when its turn comes: it is missed after the deadline, and the others run.
func (f *fleet) deadWorkerIsMissed() {
	t := f.t
	run, first, others, release := f.held("every", "all")
	if len(others) != 2 {
		t.Fatalf("a run on all workers has %q beside %s", others, first)
	}
	dead, alive := others[0], others[1]
	f.bury(dead)
	release()
	end := f.ended(run)
	want := []string{first + " succeeded", dead + " missed no_worker", alive + " succeeded"}
	slices.Sort(want)
	if got := end.texts(); !slices.Equal(got, want) || end.Status != "failed" ||
		end.Nodes != (common.NodeCounts{Total: 3, Succeeded: 2, Failed: 1}) {
		t.Errorf("on all, without %s: %q, %+v", dead, got, end)
	}
	if got := f.began(run); !slices.Equal(got, []string{first, alive}) {
		t.Errorf("on all, without %s: the command began on %q", dead, got)
	}
}
