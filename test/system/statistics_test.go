package system

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

type counts struct{ Succeeded, Failed, Killed, Skipped, Missed int64 }

type numbers struct {
	Runs        int64
	Statuses    counts
	SuccessRate *float64
	Duration    struct {
		Count int64
		P95Ms float64
	}
	Delay struct{ Count int64 }
}

type told struct {
	Name string
	Meta struct {
		Version int64
		Results []struct {
			Status        string
			DurationMs    *float64
			ExpectedEndAt *time.Time
			Slow          bool
		}
		Next  []time.Time
		Stats *struct {
			Runs    int64
			Samples int64
			P95Ms   float64
		}
	}
}

// What a standalone has run is counted as it happens, and every change of a job leaves a version.
func TestStatistics(t *testing.T) {
	t.Parallel()
	_, a := standalone(t, t.TempDir())
	for name, command := range map[string]string{"good": "true", "bad": "exit 3", "long": "exec sleep 600"} {
		a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
			"name":     name,
			"command":  command,
			"cronExpr": "0 0 1 1 *",
			"timezone": "Asia/Tokyo",
		}, nil)
	}
	ended := func(job string, n int) func() bool {
		return func() bool {
			return a.count("job="+job, func(r run) bool { return r.Status != "waiting" && r.Status != "running" }) == n
		}
	}
	for n := range 5 {
		for _, job := range []string{"good", "bad"} {
			a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+job+"/run", nil, nil)
			eventually(t, job+" has run", ended(job, n+1))
		}
	}
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/long/run", nil, nil)
	eventually(t, "the long one runs", func() bool { return a.count("job=long", status("running")) == 1 })

	figures := func(path string) (n numbers) {
		var s struct{ Total numbers }
		a.do(http.StatusOK, http.MethodGet, path, nil, &s)
		return s.Total
	}
	// An outcome is in the store a moment after it is listed.
	eventually(t, "all are counted", func() bool { return figures("/api/v1/stats/runs").Runs == 10 })
	if n := figures("/api/v1/stats/runs?workers=true"); n.Statuses != (counts{Succeeded: 5, Failed: 5}) ||
		n.SuccessRate == nil || *n.SuccessRate != .5 || n.Duration.Count != 5 {
		t.Errorf("all jobs: %+v", n)
	}
	if n := figures("/api/v1/stats/jobs/bad?by=day&timezone=Asia/Kolkata"); n.Statuses != (counts{Failed: 5}) ||
		*n.SuccessRate != 0 || n.Delay.Count != 0 {
		t.Errorf("the bad job: %+v", n)
	}
	var overview struct {
		LastDay *struct {
			Total numbers
			Hours []struct{ Statuses counts }
		}
	}
	a.do(http.StatusOK, http.MethodGet, "/api/v1/stats/overview", nil, &overview)
	if day := overview.LastDay; day == nil || day.Total.Runs != 10 || len(day.Hours) != 25 {
		t.Errorf("the last day: %+v", day)
	}

	// What is usual of a job is remembered for a few seconds.
	var page struct{ Items []told }
	eventually(t, "the figures of jobs are up to date", func() bool {
		page.Items = nil
		a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs?include=results,next,stats", nil, &page)
		good := page.Items[1].Meta.Stats
		return good != nil && good.Samples == 5
	})
	for _, job := range page.Items {
		m, want := job.Meta, map[string]int{"good": 5, "bad": 5, "long": 1}[job.Name]
		if len(m.Results) != want || len(m.Next) != 5 || m.Stats == nil ||
			(m.Stats.Samples == 5) != (job.Name == "good") || m.Results[0].Slow {
			t.Errorf("%s: %+v", job.Name, m)
		}
	}

	versions(t, a)
}

// versions edits a job, and finds each of its definitions at once.
func versions(t *testing.T, a *api) {
	t.Helper()
	for n := range 3 {
		body := map[string]any{
			"name":     "good",
			"command":  fmt.Sprintf("echo %d", n),
			"cronExpr": "0 0 1 1 *",
			"timezone": "Asia/Tokyo",
		}
		var saved told
		a.do(http.StatusOK, http.MethodPut, "/api/v1/jobs/good", body, &saved)
		var list struct {
			Items []struct {
				Version int64
				Verb    string
			}
		}
		a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/good/versions", nil, &list)
		if len(list.Items) != n+2 || list.Items[0].Version != saved.Meta.Version || list.Items[n+1].Verb != "create" {
			t.Fatalf("after %d edits, the last made version %d: %+v", n+1, saved.Meta.Version, list.Items)
		}
		var version struct{ Job struct{ Command string } }
		a.do(http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/jobs/good/versions/%d", saved.Meta.Version),
			nil, &version)
		if version.Job.Command != body["command"] {
			t.Errorf("version %d says %q", saved.Meta.Version, version.Job.Command)
		}
	}
	a.do(http.StatusNotFound, http.MethodGet, "/api/v1/jobs/good/versions/1", nil, nil)
}

// A fire counts by its last attempt, in the statistics as in the ledger.
func TestStatistics_RetrySucceeds_FireSucceeded(t *testing.T) {
	t.Parallel()
	_, a := standalone(t, t.TempDir())
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":      "heals",
		"command":   `[ "$CARILLON_ATTEMPT" = 2 ] || exec sleep 600`,
		"timeout":   "1s",
		"killGrace": "1s",
		"retry":     map[string]any{"max": 1, "backoff": "1s"},
	}, nil)
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/heals/run", nil, nil)
	var s struct {
		Total struct {
			Fires, Runs, Retries int64
			SuccessRate          *float64
			Statuses             struct {
				Succeeded int64
				TimedOut  int64 `json:"timed_out"`
			}
		}
	}
	eventually(t, "both attempts are counted", func() bool {
		a.do(http.StatusOK, http.MethodGet, "/api/v1/stats/jobs/heals", nil, &s)
		return s.Total.Runs == 2
	})
	if n := s.Total; n.Fires != 1 || n.Retries != 1 || n.SuccessRate == nil || *n.SuccessRate != 1 ||
		n.Statuses.Succeeded != 1 || n.Statuses.TimedOut != 0 {
		t.Errorf("%+v", n)
	}
	var ledger struct {
		Items []struct {
			Status   string
			Attempts []string
		}
	}
	a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/heals/fires", nil, &ledger)
	if len(ledger.Items) != 1 || ledger.Items[0].Status != "succeeded" || len(ledger.Items[0].Attempts) != 2 {
		t.Fatalf("the ledger: %+v", ledger.Items)
	}
	var second struct{ After string }
	a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+ledger.Items[0].Attempts[1], nil, &second)
	if second.After != "timed_out" {
		t.Errorf("the second attempt follows one that %q, want timed_out", second.After)
	}
}
