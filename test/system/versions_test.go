package system

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/test/harness"
)

// older builds a program as it was before workers could let a run go on that they cannot
// vouch for: its source, without the feature and the value that asks for it.
func older(t *testing.T, name, pkg string) string {
	t.Helper()
	source, err := filepath.Abs("../../internal/common/features.go")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, cut := range [][2]string{
		{"[...]string{FeatureDetach, ", "[...]string{"},
		{"if j.OnLost == LostDetach {", "if false {"},
		{", string(LostDetach))", ")"},
	} {
		if strings.Count(text, cut[0]) != 1 {
			t.Fatalf("features.go has %q %d times", cut[0], strings.Count(text, cut[0]))
		}
		text = strings.Replace(text, cut[0], cut[1], 1)
	}
	dir := t.TempDir()
	cut, program, overlay := filepath.Join(dir, "features.go"), filepath.Join(dir, name),
		filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{source: cut}})
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{cut: text, overlay: string(replace)} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := harness.Build("-overlay", overlay, "-o", program, pkg).CombinedOutput(); err != nil {
		t.Fatalf("build an older %s: %v\n%s", name, err, out)
	}
	return program
}

// An older worker leaves alone what it does not understand, and says so; a newer one
// beside it runs it; both run what both understand. An older master takes nothing of it away.
func TestMixedVersions(t *testing.T) {
	t.Parallel()
	oldWorker, oldMaster := older(t, "carillon-worker", "../../cmd/worker"),
		older(t, "carillon-master", "../../cmd/master")
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
