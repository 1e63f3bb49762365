package system

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// An outage has the same numbers in the ledger, in the statistics of the job and of all jobs, on the overview, in the
// list of jobs and in what is notified.
func TestOutage_HasTheSameNumbersEverywhere(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var notified int64 // missed fires
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var told struct {
			Type string
			Data struct{ Count int64 }
		}
		if err := json.Unmarshal(body, &told); err != nil {
			t.Errorf("webhook: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		if told.Type == "fire.missed" || told.Type == "run.missed" {
			notified = max(notified, told.Data.Count, 1)
		} else {
			t.Errorf("notified of %s", told.Type)
		}
	}))
	t.Cleanup(hook.Close)
	dir, address := t.TempDir(), freePort(t)
	begin := func() (*process, *api) {
		p := launchWith(t, []string{"CARILLON_NOTIFY_ALLOW=127.0.0.0/8"}, "carillon-standalone",
			filepath.Join(bin, "carillon-standalone"), "--data-dir", dir, "--listen", address)
		return p, entered(t, p, dir, address)
	}
	p, a := begin()
	a.do(http.StatusCreated, http.MethodPut, "/api/v1/channels/hook",
		map[string]any{"kind": "webhook", "url": hook.URL}, nil)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":     "tick",
		"cronExpr": "* * * * * * *",
		"command":  "true",
		"overlap":  "allow", // a slow machine skips none
		"notify":   map[string]any{"on": []string{"failed", "missed", "lost"}, "to": []string{"hook"}},
	}, nil)
	succeeded := func() int { return a.count("job=tick", status("succeeded")) }
	eventually(t, "it runs", func() bool { return succeeded() >= 3 })
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("stopped with %d", code)
	}
	time.Sleep(15 * time.Second) // longer than what counts as an outage
	_, a = begin()
	before := succeeded()
	eventually(t, "it runs again", func() bool { return succeeded() >= before+3 })
	a.do(http.StatusOK, http.MethodPatch, "/api/v1/jobs/tick", map[string]any{"cronExpr": ""}, nil)
	eventually(t, "none runs", func() bool {
		return a.count("job=tick", func(r run) bool { return r.Status == "running" || r.Status == "waiting" }) == 0
	})

	ledger := a.ledger("tick")
	if ledger.Missed < 10 || ledger.Succeeded < 6 || ledger.Failed+ledger.Killed+ledger.Skipped > 0 {
		t.Fatalf("the ledger has %+v", ledger)
	}
	fires := ledger.Succeeded + ledger.Missed
	rate := float64(ledger.Succeeded) / float64(fires)
	type figures struct {
		Fires       int64
		Statuses    counts
		SuccessRate float64
	}
	want := figures{fires, ledger, rate}
	for _, path := range []string{"/api/v1/stats/jobs/tick", "/api/v1/stats/runs"} {
		var got struct{ Total figures }
		eventually(t, path+" counts the outage", func() bool {
			a.do(http.StatusOK, http.MethodGet, path, nil, &got)
			return got.Total.Fires >= fires
		})
		if got.Total != want {
			t.Errorf("%s has %+v, want %+v", path, got.Total, want)
		}
	}
	var overview struct{ LastDay struct{ Total figures } }
	eventually(t, "the overview counts the outage", func() bool {
		a.do(http.StatusOK, http.MethodGet, "/api/v1/stats/overview", nil, &overview)
		return overview.LastDay.Total.Fires >= fires
	})
	if overview.LastDay.Total != want {
		t.Errorf("the overview has %+v, want %+v", overview.LastDay.Total, want)
	}
	eventually(t, "the outage is notified", func() bool { mu.Lock(); defer mu.Unlock(); return notified > 0 })
	mu.Lock()
	defer mu.Unlock()
	if notified != ledger.Missed {
		t.Errorf("notified of %d missed fires, want %d", notified, ledger.Missed)
	}
}

// ledger counts the outcomes of a job's fires.
func (a *api) ledger(job string) (n counts) {
	a.t.Helper()
	for cursor := ""; ; {
		var page struct {
			Items []struct {
				Status string
				Gap    *struct{ Count int64 }
			}
			NextCursor string
		}
		a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/"+job+"/fires?limit=500"+cursor, nil, &page)
		for _, f := range page.Items {
			count := int64(1)
			if f.Gap != nil {
				count = f.Gap.Count
			}
			switch f.Status {
			case "succeeded":
				n.Succeeded += count
			case "failed":
				n.Failed += count
			case "killed":
				n.Killed += count
			case "skipped":
				n.Skipped += count
			case "missed":
				n.Missed += count
			default:
				a.t.Errorf("a fire is %s", f.Status)
			}
		}
		if page.NextCursor == "" {
			return n
		}
		cursor = "&cursor=" + page.NextCursor
	}
}
