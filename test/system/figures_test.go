package system

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
)

// The same history has the same figures everywhere: in the tiles and the list of failures of the overview, the ledger,
// the statistics, the list of jobs, and the message that the job has recovered. Attempts of a fire count once.
func TestFigures(t *testing.T) {
	t.Parallel()
	const failures = 3
	var heard atomic.Int64
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var message struct {
			Type string
			Data struct{ Count int64 }
		}
		if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
			t.Errorf("webhook: %v", err)
		}
		if message.Type == "run.recovered" {
			heard.Store(message.Data.Count)
		}
	}))
	t.Cleanup(hook.Close)
	dir, address := t.TempDir(), freePort(t)
	p := launchWith(t, []string{"CARILLON_NOTIFY_ALLOW=127.0.0.0/8"}, "carillon-standalone",
		filepath.Join(bin, "carillon-standalone"), "--data-dir", dir, "--listen", address)
	a := entered(t, p, dir, address)
	a.do(http.StatusCreated, http.MethodPut, "/api/v1/channels/hook", map[string]any{
		"kind": "webhook",
		"url":  hook.URL,
	}, nil)
	gate := filepath.Join(dir, "gate")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":    "nightly",
		"command": "[ -e " + gate + " ]",
		"retry":   map[string]any{"max": 1, "backoff": "100ms"},
		"notify":  map[string]any{"on": []string{"failed", "recovered"}, "to": []string{"hook"}},
	}, nil)
	for n := range failures {
		a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/nightly/run", nil, nil)
		eventually(t, "both attempts have failed", func() bool {
			return a.count("job=nightly", status("failed")) == 2*(n+1)
		})
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	runAndWait(a, "nightly", "succeeded")

	eventually(t, "all attempts are counted", func() bool {
		var s struct{ Total numbers }
		a.do(http.StatusOK, http.MethodGet, "/api/v1/stats/jobs/nightly", nil, &s)
		return s.Total.Runs == 2*failures+1
	})
	eventually(t, "the message of the recovery has come", func() bool { return heard.Load() > 0 })
	want := counts{Succeeded: 1, Failed: failures}
	figures := map[string]func() counts{
		"the tiles of the overview": func() counts {
			var overview struct{ LastDay struct{ Total numbers } }
			a.do(http.StatusOK, http.MethodGet, "/api/v1/stats/overview", nil, &overview)
			return overview.LastDay.Total.Statuses
		},
		"the statistics of the job": func() counts {
			var s struct{ Total numbers }
			a.do(http.StatusOK, http.MethodGet, "/api/v1/stats/jobs/nightly", nil, &s)
			return s.Total.Statuses
		},
		"the list of failures": func() counts {
			var page struct{ Items []struct{ Status string } }
			a.do(http.StatusOK, http.MethodGet, "/api/v1/fires?status=failed&unacknowledged=true", nil, &page)
			return counts{Succeeded: 1, Failed: int64(len(page.Items))}
		},
		"the ledger": func() counts { return a.ledger("nightly") },
		"the list of jobs": func() counts {
			var page struct {
				Items []struct {
					Meta struct {
						Stats struct {
							Fires       int64
							SuccessRate float64
						}
					}
				}
			}
			a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs?include=stats", nil, &page)
			s := page.Items[0].Meta.Stats
			succeeded := int64(s.SuccessRate*float64(s.Fires) + 0.5)
			return counts{Succeeded: succeeded, Failed: s.Fires - succeeded}
		},
		"the message": func() counts { return counts{Succeeded: 1, Failed: heard.Load()} },
	}
	// What is usual of a job is remembered for a few seconds.
	eventually(t, "the figures of jobs are up to date", func() bool { return figures["the list of jobs"]() == want })
	for what, read := range figures {
		if got := read(); got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Errorf("it stopped with %d", code)
	}
}
