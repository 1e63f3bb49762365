package system

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// readyCluster is one with a master.
func readyCluster(t *testing.T) (*cluster, *api) {
	t.Helper()
	c := newCluster(t)
	a := c.master()
	a.token = c.bootstrap()
	eventually(t, "the master is ready", a.ready)
	return c, a
}

// joined starts a worker and waits until it is registered, and takes runs.
func (c *cluster) joined(client *clientv3.Client, name string, more ...string) *process {
	c.t.Helper()
	before := registered(c.t, client)[name].Life.Life
	p := start(c.t, "carillon-worker", c.flags(append([]string{"--name", name, "--data-dir", filepath.Join(c.dir, name),
		"--metrics-listen", "off"}, more...)...)...)
	eventually(c.t, name+" is registered", func() bool {
		now, found := registered(c.t, client)[name]
		return found && now.Life.Life != before && strings.Contains(p.Text(), "msg=ready")
	})
	return p
}

// leftBehind lists what hangs on a worker's lease: its registration and its locks.
// Nothing must, once the worker has ended by itself: the others need not wait.
func leftBehind(t *testing.T, client *clientv3.Client, worker string) (keys []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, prefix := range []string{common.WorkersPrefix, common.LockPrefix, common.RunsPrefix, common.OutboxOf(worker),
		common.KillsOf(worker)} {
		resp, err := client.Get(ctx, prefix, clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range resp.Kvs {
			if strings.Contains(string(kv.Key), worker) || strings.Contains(string(kv.Value), worker) {
				keys = append(keys, string(kv.Key))
			}
		}
	}
	return keys
}

// everySecond makes jobs that fire each second. Half of them forbid overlap: a fire that
// another worker had to take over may find the one after it running. Half of them are
// for all workers, so that each gets some; the others have their workers.
func (a *api) everySecond(n int, command string) (names []string) {
	a.t.Helper()
	for i := range n {
		overlap := []string{"allow", "skip"}[i%2]
		name := fmt.Sprintf("%s-%d", overlap, i)
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
			"name":      name,
			"cronExpr":  "* * * * * * *",
			"command":   command,
			"overlap":   overlap,
			"placement": map[string]any{"strategy": []string{"any", "hash"}[i/2%2]},
		}, nil)
		names = append(names, name)
	}
	return names
}

// allSucceeded ends the jobs and holds their ledgers to one entry for each fire.
// A fire that is due and unclaimed when its job is deleted is missed.
func (a *api) allSucceeded(t *testing.T, names []string) {
	t.Helper()
	for _, name := range names {
		a.do(http.StatusNoContent, http.MethodDelete, "/api/v1/jobs/"+name, nil, nil)
	}
	for _, name := range names {
		eventually(t, name+" has ended", func() bool { return a.count("job="+name, status("running")) == 0 })
		all := a.runs("job=" + name)
		everyFireOnce(t, all)
		last := slices.MaxFunc(all, func(r, s run) int { return r.PlannedAt.Compare(s.PlannedAt) })
		for _, r := range all {
			overlapped := strings.HasPrefix(name, "skip") && r.Reason.Code == "overlap"
			deleted := r.Reason.Code == "deleted" && r.PlannedAt.Equal(last.PlannedAt)
			if r.Status != "succeeded" && r.Status != "planned" && !overlapped && !deleted {
				t.Errorf("%s: the fire at %s on %s is %s (%s)", name, r.PlannedAt.Format(time.TimeOnly), r.WorkerName,
					r.Status, r.Reason.Code)
			}
		}
	}
}

// A worker that is stopped lets its commands end, takes nothing more, and leaves
// its share to the others at once.
func TestDrainOfAWorker(t *testing.T) {
	t.Parallel()
	c, a := readyCluster(t)
	client := c.keys()
	east := c.joined(client, "east")
	c.joined(client, "west")
	id := registered(t, client)["east"].Worker
	ticks := a.everySecond(8, "true")
	on := func(worker string) int {
		return a.count("", func(r run) bool { return r.WorkerName == worker && r.Status == "succeeded" })
	}
	eventually(t, "both workers take their shares", func() bool { return on("east") > 0 && on("west") > 0 })
	gate := filepath.Join(c.dir, "gate")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":      "patient",
		"placement": map[string]any{"workers": []string{"east"}},
		"command":   "echo begun; while [ ! -e " + gate + " ]; do sleep 0.05; done; echo ended",
	}, nil)
	var accepted struct{ Run string }
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/patient/run", map[string]string{}, &accepted)
	eventually(t, "it runs on east", func() bool {
		return a.count("job=patient", func(r run) bool { return r.Status == "running" && r.WorkerName == "east" }) == 1
	})

	east.Signal(syscall.SIGTERM)
	eventually(t, "it shows that it drains", func() bool { return registered(t, client)["east"].Draining })
	goesOn := func() {
		t.Helper()
		soFar := on("west")
		eventually(t, "west goes on", func() bool { return on("west") >= soFar+2*len(ticks) })
	}
	goesOn()
	had := on("east")
	goesOn()
	if now := on("east"); now != had {
		t.Errorf("while it drained, east took %d runs", now-had)
	}
	eventually(t, "its command alone is left", func() bool { // which its next registration says
		return registered(t, client)["east"].Running == 1 || !east.Alive()
	})
	if !east.Alive() {
		t.Fatal("it did not wait for its command")
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := east.exit(); code != 0 {
		t.Errorf("it stopped with %d", code)
	}
	if left := leftBehind(t, client, id); len(left) > 0 {
		t.Errorf("it left behind %v", left)
	}
	var text string
	a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+accepted.Run+"/output", nil, &text)
	if n := a.count("job=patient", status("succeeded")); n != 1 || text != "begun\nended\n" {
		t.Errorf("%d successes; its output is %q", n, text)
	}
	a.allSucceeded(t, ticks)
}

// Commands that outlast the drain receive SIGTERM, and are then killed; what they printed
// and what became of them is written down before the worker is gone.
func TestDrainDeadline(t *testing.T) {
	t.Parallel()
	c, a := readyCluster(t)
	client := c.keys()
	east := c.joined(client, "east", "--drain-timeout", "1s")
	id := registered(t, client)["east"].Worker
	commands := map[string]struct{ command, grace, printed, signal string }{
		"polite":   {"trap 'echo asked; exit 3' TERM; echo begun; while :; do sleep 0.05; done", "20s", "asked\n", ""},
		"stubborn": {"trap '' TERM; echo begun; while :; do sleep 0.05; done", "1s", "begun\n", "SIGKILL"},
	}
	ids := map[string]string{}
	for name, k := range commands {
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
			"name":      name,
			"killGrace": k.grace,
			"command":   k.command,
		}, nil)
		var accepted struct{ Run string }
		a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+name+"/run", map[string]string{}, &accepted)
		ids[name] = accepted.Run
	}
	output := func(run string) (text string) {
		t.Helper()
		code, err := a.try(http.MethodGet, "/api/v1/runs/"+run+"/output", nil, &text)
		if err != nil || code != http.StatusOK {
			return ""
		}
		return text
	}
	for name, run := range ids {
		eventually(t, name+" has begun", func() bool { return output(run) == "begun\n" })
	}
	if code := east.end(syscall.SIGTERM); code != 0 {
		t.Errorf("it stopped with %d", code)
	}
	if left := leftBehind(t, client, id); len(left) > 0 {
		t.Errorf("it left behind %v", left)
	}
	for name, want := range commands {
		var got run
		a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+ids[name], nil, &got)
		if text := output(ids[name]); got.Status != "lost" || got.Reason.Code != "worker_stopping" ||
			got.Signal != want.signal || !strings.Contains(text, want.printed) {
			t.Errorf("%s is %s (%s), signal %q, output %q", name, got.Status, got.Reason.Code, got.Signal, text)
		}
	}
}

// Signals within a second are one request; a later one hurries.
func TestDrain_SecondSignal_EndsAtOnce(t *testing.T) {
	t.Parallel()
	c, a := readyCluster(t)
	client := c.keys()
	east := c.joined(client, "east", "--drain-timeout", "1h")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs",
		map[string]any{"name": "long", "command": "exec sleep 3600"}, nil)
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/long/run", map[string]string{}, nil)
	eventually(t, "it runs", func() bool { return a.count("job=long", status("running")) == 1 })
	for range 2 {
		east.Signal(syscall.SIGTERM)
	}
	eventually(t, "it shows that it drains", func() bool { return registered(t, client)["east"].Draining })
	before := registered(t, client)["east"].Clock
	eventually(t, "a second has passed, and more", func() bool {
		return registered(t, client)["east"].Clock.Sub(before) > 2*time.Second
	})
	if n := a.count("job=long", status("running")); n != 1 || !east.Alive() {
		t.Fatalf("two signals at once hurried it: %d runs", n)
	}
	if code := east.end(syscall.SIGTERM); code != 0 {
		t.Errorf("it stopped with %d", code)
	}
	if n := a.count("job=long", func(r run) bool {
		return r.Status == "lost" && r.Reason.Code == "worker_stopping"
	}); n != 1 {
		t.Errorf("the run: %+v", a.runs("job=long"))
	}
}

// The others are notified before anything else happens.
func TestDrainIsShownAtOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	client := c.keys()
	east := c.joined(client, "east")
	resp, err := client.Get(t.Context(), common.WorkersPrefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	watch := client.Watch(t.Context(), common.WorkersPrefix, clientv3.WithPrefix(),
		clientv3.WithRev(resp.Header.Revision+1))
	if code := east.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("it stopped with %d", code)
	}
	var last common.Registration
	for news := range watch {
		for _, e := range news.Events {
			if e.Type == mvccpb.DELETE {
				if !last.Draining {
					t.Errorf("its last words were %+v", last)
				}
				return
			}
			if err := json.Unmarshal(e.Kv.Value, &last); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Fatal("the watch ended")
}

// All workers are restarted, one after the other, under jobs of every second.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	c, a := readyCluster(t)
	client := c.keys()
	workers := map[string]*process{}
	for _, name := range []string{"east", "north", "west"} {
		workers[name] = c.joined(client, name)
	}
	ticks := a.everySecond(8, "sleep 0.2")
	newest := func(worker string) (id string, known bool) { // one answer of one run, however many there are
		t.Helper()
		var page struct{ Items []run }
		path := "/api/v1/runs?status=succeeded&limit=1&worker=" + registered(t, client)[worker].Worker
		status, err := a.try(http.MethodGet, path, nil, &page)
		if err != nil || status != http.StatusOK || len(page.Items) == 0 {
			return "", err == nil && status == http.StatusOK
		}
		return page.Items[0].ID, true
	}
	takesItsShare := func(worker, when string) {
		t.Helper()
		var soFar string
		eventually(t, "the runs of "+worker+" are listed "+when, func() (known bool) {
			soFar, known = newest(worker)
			return known
		})
		eventually(t, worker+" takes its share "+when, func() bool {
			now, known := newest(worker)
			return known && now != soFar
		})
	}
	for round := range 2 {
		for _, name := range slices.Sorted(maps.Keys(workers)) {
			takesItsShare(name, fmt.Sprintf("in round %d", round))
			if code := workers[name].end(syscall.SIGTERM); code != 0 {
				t.Errorf("%s stopped with %d", name, code)
			}
			workers[name] = c.joined(client, name)
		}
	}
	for name := range workers {
		takesItsShare(name, "after its restarts")
	}
	a.allSucceeded(t, ticks)
}
