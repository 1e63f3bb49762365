package system

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cluster is an etcd, a log store and what speaks to them, each a process.
type cluster struct {
	t           testing.TB
	dir         string
	etcd, mongo *process
	etcdAt      string
	mongoAt     string
}

func newCluster(t testing.TB) *cluster {
	c := &cluster{t: t, dir: t.TempDir(), etcdAt: freePort(t), mongoAt: freePort(t)}
	c.startEtcd()
	c.startMongo()
	return c
}

func (c *cluster) startEtcd() {
	peer := "http://" + freePort(c.t)
	c.etcd = start(c.t, "etcd", "--data-dir", filepath.Join(c.dir, "etcd"), "--log-level", "error", "--unsafe-no-fsync",
		"--listen-client-urls", "http://"+c.etcdAt, "--advertise-client-urls", "http://"+c.etcdAt,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
}

func (c *cluster) startMongo() {
	c.mongo = start(c.t, "mongodouble", "--listen", c.mongoAt, "--dir", filepath.Join(c.dir, "mongo"))
	eventually(c.t, "the log store listens", func() bool { return strings.Contains(c.mongo.Text(), "mongodb://") })
}

func (c *cluster) flags(more ...string) []string {
	return append(more, "--etcd-endpoints", "http://"+c.etcdAt, "--mongodb-uri", "mongodb://"+c.mongoAt)
}

func (c *cluster) master() *api {
	address := freePort(c.t)
	start(c.t, "carillon-master", c.flags("--listen", address)...)
	return &api{t: c.t, base: "http://" + address}
}

func (c *cluster) worker(name string) *process {
	return start(c.t, "carillon-worker", c.flags("--name", name, "--data-dir", filepath.Join(c.dir, name),
		"--metrics-listen", "off")...)
}

// bootstrap makes the first admin token; of two at the same time one wins.
func (c *cluster) bootstrap() string {
	first := exec.Command(filepath.Join(bin, "carillon-master"), c.flags("bootstrap")...)
	second := start(c.t, "carillon-master", c.flags("bootstrap")...)
	out, err := first.Output()
	code := second.exit()
	switch {
	case err == nil && code == 1:
		return strings.TrimSpace(string(out))
	case err != nil && code == 0:
		return strings.TrimSpace(second.Text())
	}
	c.t.Fatalf("two bootstraps: %q, %v; %d: %s", out, err, code, second.Text())
	return ""
}

func TestCluster(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	a := c.master()
	a.token = c.bootstrap()
	eventually(t, "the master is ready", a.ready)
	east, west := c.worker("east"), c.worker("west")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":      "tick",
		"cronExpr":  "* * * * * * *",
		"command":   "echo on $CARILLON_WORKER",
		"placement": map[string]any{"strategy": "any"},
	}, nil)
	by := func(worker string) func(run) bool {
		return func(r run) bool { return r.WorkerName == worker && r.Status == "succeeded" }
	}
	eventually(t, "both workers take fires", func() bool {
		return a.count("job=tick", by("east")) > 0 && a.count("job=tick", by("west")) > 0
	})
	if code := east.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("east stopped with %d", code)
	}
	soFar := a.count("job=tick", by("west"))
	eventually(t, "fires go on without east", func() bool { return a.count("job=tick", by("west")) >= soFar+3 })

	gate := filepath.Join(c.dir, "gate")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":     "long",
		"cronExpr": "* * * * * * *",
		"onLost":   "abandon",
		"command":  "echo begun; while [ ! -e " + gate + " ]; do sleep 0.05; done",
	}, nil)
	eventually(t, "the long job runs", func() bool { return a.count("job=long", status("running")) == 1 })
	if code := west.end(syscall.SIGKILL); code != -1 {
		t.Fatalf("west was killed, but ended with %d", code)
	}
	c.worker("west")
	eventually(t, "the lost run says lost", func() bool { return a.count("job=long", status("lost")) == 1 })
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both jobs run again", func() bool {
		return a.count("job=long", status("succeeded")) > 0 && a.count("job=tick", by("west")) > soFar+3
	})
	a.do(http.StatusNoContent, http.MethodDelete, "/api/v1/jobs/tick", nil, nil)
	a.do(http.StatusNoContent, http.MethodDelete, "/api/v1/jobs/long", nil, nil)
	everyFireOnce(t, a.runs("job=tick"))
	everyFireOnce(t, a.runs("job=long"))
}

// A worker dies and does not come back: the others take its fires over, write down what
// it ran as lost, and run it again where the job wants that.
func TestWorkerDies_OthersTakeOver(t *testing.T) {
	t.Parallel() // it mostly waits
	c := newCluster(t)
	a := c.master()
	a.token = c.bootstrap()
	eventually(t, "the master is ready", a.ready)
	c.worker("east")
	c.worker("north")
	west := c.worker("west")
	client := c.keys()
	eventually(t, "all workers are registered", func() bool { return len(registered(t, client)) == 3 })
	shares := map[string]int{} // by chance a worker may be the first for none of many jobs
	jobs := 0
	for ; jobs < 12 || len(shares) < 3; jobs++ {
		name := fmt.Sprintf("tick-%d", jobs)
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
			"name":     name,
			"cronExpr": "* * * * * * *",
			"command":  "true",
		}, nil)
		var placed struct{ Items []struct{ Name string } }
		eventually(t, "three workers may run it", func() bool {
			a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/"+name+"/placement", nil, &placed)
			return len(placed.Items) == 3
		})
		shares[placed.Items[0].Name]++
	}
	takes := func(worker string) func() bool {
		return func() bool {
			return a.count("", func(r run) bool { return r.WorkerName == worker && r.Status == "succeeded" }) > 0
		}
	}
	for _, worker := range []string{"east", "north", "west"} {
		eventually(t, worker+" takes its share", takes(worker))
	}
	long := func(name, onLost string) {
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
			"name":      name,
			"onLost":    onLost,
			"lostAfter": "20s",
			"killGrace": "1s",
			"command":   `echo attempt $CARILLON_ATTEMPT; [ "$CARILLON_ATTEMPT" -gt 1 ] || sleep 600`,
		}, nil)
		a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+name+"/run", map[string]any{"worker": "west"}, nil)
		eventually(t, name+" runs on west", func() bool {
			return a.count("job="+name, func(r run) bool {
				return r.Status == "running" && r.WorkerName == "west"
			}) == 1
		})
	}
	long("again", "rerun")
	long("once", "abandon")
	if code := west.end(syscall.SIGKILL); code != -1 {
		t.Fatalf("west was killed, but ended with %d", code)
	}
	eventually(t, "what west ran is lost", func() bool {
		return a.count("job=again", status("lost")) == 1 && a.count("job=once", status("lost")) == 1
	})
	eventually(t, "it is run again where the job wants it", func() bool {
		return a.count("job=again", func(r run) bool {
			return r.Status == "succeeded" && r.Attempt == 2 && r.Cause == "rerun" && r.WorkerName != "west"
		}) == 1
	})
	if n := a.count("job=once", func(run) bool { return true }); n != 1 {
		t.Errorf("%d runs of the job that is not to be run again", n)
	}
	// The others come to know of the loss at once where west's guardian saw it end: its fires are still to be seen.
	lost := time.Now()
	for i := range jobs {
		name := fmt.Sprintf("tick-%d", i)
		eventually(t, name+" goes on without west", func() bool {
			return a.count("job="+name, func(r run) bool {
				return r.PlannedAt.After(lost) && r.Status == "succeeded"
			}) > 0
		})
		a.do(http.StatusNoContent, http.MethodDelete, "/api/v1/jobs/"+name, nil, nil)
		everyFireOnce(t, a.runs("job="+name))
	}
}

// Daemons start while their stores are away, and go on by themselves when these are back.
func TestDaemons_StartWithoutTheirStores(t *testing.T) {
	t.Parallel() // it mostly waits
	c := &cluster{t: t, dir: t.TempDir(), etcdAt: freePort(t), mongoAt: freePort(t)}
	a := c.master()
	worker := c.worker("east")
	eventually(t, "the worker says what it waits for", func() bool {
		return strings.Contains(worker.Text(), "session_grant_failed")
	})
	if a.ready() || !worker.Alive() {
		t.Fatal("ready without etcd, or ended for want of it")
	}
	c.startEtcd()
	a.token = ""
	eventually(t, "a token can be made", func() bool {
		out, err := exec.Command(filepath.Join(bin, "carillon-master"), c.flags("bootstrap")...).Output()
		a.token = strings.TrimSpace(string(out))
		return err == nil
	})
	// Without the log store, what runs is found in etcd.
	var accepted struct{ Run string }
	eventually(t, "jobs can be saved and run", func() bool {
		status, err := a.try(http.MethodPost, "/api/v1/jobs", map[string]any{"name": "hello", "command": "echo hello"},
			nil)
		return err == nil && (status == http.StatusCreated || status == http.StatusConflict)
	})
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/hello/run", map[string]string{}, &accepted)
	eventually(t, "its outcome is found while the log store is away", func() bool {
		var r run
		status, err := a.try(http.MethodGet, "/api/v1/runs/"+accepted.Run, nil, &r)
		return err == nil && status == http.StatusOK && r.Status == "succeeded"
	})
	// It is said that the log store is away, wherever one may look; the master goes on.
	var overview struct {
		LogStore string
		Degraded []struct{ Code, Who string }
	}
	var listed struct {
		Items   []run
		Partial bool
	}
	eventually(t, "the master and the worker say that the log store is away", func() bool {
		status, err := a.try(http.MethodGet, "/api/v1/stats/overview", nil, &overview)
		says := func(who string) bool {
			return slices.ContainsFunc(overview.Degraded, func(c struct{ Code, Who string }) bool {
				return c.Code == "log_store_away" && (c.Who == "east") == (who == "east")
			})
		}
		return err == nil && status == http.StatusOK && overview.LogStore == "away" && says("east") &&
			says("the master")
	})
	a.do(http.StatusOK, http.MethodGet, "/api/v1/runs?job=hello", nil, &listed)
	if !listed.Partial || len(listed.Items) != 1 || !a.ready() || !strings.Contains(worker.Text(), "condition_began") {
		t.Errorf("while the log store is away: listed %+v, ready %v\n%s", listed, a.ready(), worker.Text())
	}
	c.startMongo()
	eventually(t, "outcome and output are in the log store", func() bool {
		var text string
		code, err := a.try(http.MethodGet, "/api/v1/runs/"+accepted.Run+"/output", nil, &text)
		return err == nil && code == http.StatusOK && text == "hello\n" &&
			a.count("job=hello", status("succeeded")) == 1
	})
	eventually(t, "all is well again", func() bool {
		status, err := a.try(http.MethodGet, "/api/v1/stats/overview", nil, &overview)
		return err == nil && status == http.StatusOK && overview.LogStore == "ok" && len(overview.Degraded) == 0
	})
	if code := worker.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("the worker stopped with %d", code)
	}
}

// A crontab is taken, and taking it again changes nothing.
func TestImportCrontab(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, a := standalone(t, dir)
	tab := filepath.Join(t.TempDir(), "crontab")
	lines := "SHELL=/bin/sh\nMAILTO=ops@example.com\n# m h dom mon dow command\n17 * * * * cd / && run-parts " +
		"--report /etc/cron.hourly\n" +
		"0 3 * * 1-5 cat%one%two\n@daily echo day\n@reboot echo up\n"
	if err := os.WriteFile(tab, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	importIt := func() string {
		t.Helper()
		p := start(t, "cronctl", "--server", a.base, "--token-file", filepath.Join(dir, "admin.token"),
			"import-crontab", tab, "--timezone", "Europe/Berlin")
		if code := p.exit(); code != 1 { // the line with @reboot is left out
			t.Fatalf("import ended with %d: %s", code, p.Text())
		}
		return p.Text()
	}
	versions := func() map[string]float64 {
		var page struct {
			Items []struct {
				Name, Timezone, Stdin string
				Meta                  struct{ Version float64 }
			}
		}
		a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs", nil, &page)
		found := map[string]float64{}
		for _, j := range page.Items {
			if j.Timezone != "Europe/Berlin" {
				t.Errorf("%s is in zone %s", j.Name, j.Timezone)
			}
			found[j.Name] = j.Meta.Version
		}
		return found
	}
	first := importIt()
	if !strings.Contains(first, "MAILTO") || !strings.Contains(first, "@reboot") {
		t.Errorf("what was not taken is not told: %s", first)
	}
	jobs := versions()
	if len(jobs) != 3 {
		t.Fatalf("%d jobs, want 3: %v", len(jobs), jobs)
	}
	importIt()
	for name, version := range versions() {
		if jobs[name] != version {
			t.Errorf("%s was changed by a second import", name)
		}
	}
}
