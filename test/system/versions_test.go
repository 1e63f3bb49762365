package system

import (
	"net/http"
	"path/filepath"
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
