package system

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An older worker leaves alone what it does not understand, and says so; a newer one
// beside it runs it; both run what both understand. An older master takes nothing of it away.
func TestMixedVersions(t *testing.T) {
	t.Parallel()
	oldWorker, oldMaster := built(t, "older/carillon-worker"), built(t, "older/carillon-master")
	c := newCluster(t)
	a := c.master()
	a.token = c.bootstrap()
	address := freePort(t)
	launch(t, "older master", oldMaster, c.flags("--listen", address)...)
	b := &api{t: t, base: "http://" + address, token: a.token}
	launch(t, "older worker", oldWorker, c.flags("--name", "older", "--data-dir", filepath.Join(c.dir, "older"),
		"--metrics-listen", "off")...)
	eventually(t, "the masters are ready", func() bool { return a.ready() && b.ready() })

	job := func(name, onLost string) map[string]any {
		return map[string]any{
			"name":          name,
			"cronExpr":      "* * * * * * *",
			"command":       "true",
			"onLost":        onLost,
			"startDeadline": "2s",
		}
	}
	b.do(http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/jobs", job("detached", "detach"), nil)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", job("detached", "detach"), nil)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", job("plain", "abandon"), nil)
	eventually(t, "the older worker runs what it understands, and the rest is missed", func() bool {
		return a.count("job=plain", status("succeeded")) > 2 && a.count("job=detached", func(r run) bool {
			return r.Status == "missed" && r.Reason.Code == "no_worker"
		}) > 2
	})
	var ranking struct {
		Reason struct{ Data map[string]string }
	}
	for _, m := range []*api{a, b} {
		m.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/detached/placement", nil, &ranking)
		if ranking.Reason.Data["needs_feature"] != "1" {
			t.Errorf("no worker may run it because of %v", ranking.Reason.Data)
		}
	}

	c.worker("newer")
	eventually(t, "the newer worker runs it", func() bool { return a.count("job=detached", status("succeeded")) > 2 })
	b.do(http.StatusOK, http.MethodPost, "/api/v1/jobs/detached/pause",
		map[string]string{"note": "by the older master"}, nil)
	b.do(http.StatusOK, http.MethodPost, "/api/v1/jobs/detached/resume", nil, nil)
	ran := a.count("job=detached", status("succeeded"))
	eventually(t, "it goes on after the older master saved it", func() bool {
		return a.count("job=detached", status("succeeded")) > ran+2
	})
	var saved struct{ OnLost string }
	a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/detached", nil, &saved)
	if saved.OnLost != "detach" {
		t.Errorf("the older master left onLost %q", saved.OnLost)
	}
	for _, r := range a.runs("job=detached") {
		if r.WorkerName == "older" {
			t.Errorf("the older worker took run %s, which is %s", r.ID, r.Status)
		}
	}
}

// Flows with clean-up steps and values wait while an older worker is present, which keeps flow runs by other rules; so
// do the fires of their schedules, until these are missed. They run when it has left. A plain flow runs meanwhile.
func TestMixedVersions_Flows(t *testing.T) {
	t.Parallel()
	oldWorker := built(t, "older/carillon-worker")
	c, a := readyCluster(t)
	client := c.keys()
	c.joined(client, "newer")
	older := launch(t, "older worker", oldWorker, c.flags("--name", "older", "--data-dir",
		filepath.Join(c.dir, "older"), "--metrics-listen", "off")...)
	eventually(t, "the older worker is registered", func() bool { return registered(t, client)["older"].Worker != "" })

	first := map[string]any{"name": "first", "command": "true"}
	reports := map[string]any{"name": "first", "command": `printf 7 >"$CARILLON_OUTPUT/day"`,
		"outputs": map[string]any{"day": map[string]any{"default": "0"}}}
	last := map[string]any{"name": "last", "after": []string{"first"}, "command": "true"}
	finally := map[string]any{"name": "last", "finally": true, "command": "true"}
	flow := func(name string, scheduled bool, steps ...map[string]any) {
		job := map[string]any{"name": name, "overlap": "allow", "steps": steps}
		if scheduled {
			job["cronExpr"], job["startDeadline"] = "* * * * * * *", "2s"
		}
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", job, nil)
	}
	flow("plain", true, first, last)
	flow("cleans", false, first, finally)
	flow("cleans-often", true, first, finally)
	flow("values", false, reports, last)
	requested := map[string]string{}
	for _, name := range []string{"cleans", "values"} {
		var accepted struct{ Run string }
		a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+name+"/run", map[string]any{}, &accepted)
		requested[name] = accepted.Run
	}
	eventually(t, "plain flows run, and planned fires of the others are missed", func() bool {
		return a.count("job=plain", status("succeeded")) > 5 && a.count("job=cleans-often", func(r run) bool {
			return r.Status == "missed" && r.Reason.Code == "no_worker"
		}) > 5
	})
	var overview struct {
		Degraded []struct{ Code, Text string }
	}
	a.do(http.StatusOK, http.MethodGet, "/api/v1/stats/overview", nil, &overview)
	reported := false
	for _, condition := range overview.Degraded {
		reported = reported || condition.Code == "misses_feature" && strings.Contains(condition.Text, "older") &&
			strings.Contains(condition.Text, "finally") && strings.Contains(condition.Text, "values")
	}
	if !reported {
		t.Errorf("the conditions do not name what the older worker lacks: %+v", overview.Degraded)
	}
	for _, query := range []string{"job=cleans", "job=cleans-often", "job=values", "job=cleans:first",
		"job=values:first"} {
		if n := a.count(query, func(r run) bool { return r.Status != "missed" && r.Status != "waiting" }); n != 0 {
			t.Errorf("%d runs of %s began beside the older worker", n, query)
		}
	}

	if code := older.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("the older worker ended with %d", code)
	}
	eventually(t, "all flows run once the older worker has left", func() bool {
		return a.count("job=cleans-often", status("succeeded")) > 2 &&
			a.count("job=cleans", status("succeeded")) == 1 && a.count("job=values", status("succeeded")) == 1
	})
	for name, id := range requested {
		ran := map[string]int{}
		for _, r := range a.runs("flowRun=" + id) {
			ran[r.Job+" "+r.Status+" on "+r.WorkerName]++
		}
		if len(ran) != 2 || ran[name+":first succeeded on newer"] != 1 || ran[name+":last succeeded on newer"] != 1 {
			t.Errorf("the nodes of %s: %v", name, ran)
		}
	}
	if missed := a.count("job=plain", status("missed")); missed != 0 {
		t.Errorf("%d fires of the plain flow were missed", missed)
	}
}
