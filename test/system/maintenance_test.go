package system

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Within a maintenance window nothing starts by itself, also not on a worker that was killed and starts within it. When
// the window is ended, the last of the held fires runs and the others are skipped, and the retry that waited starts.
func TestMaintenance_WorkerIsKilledWithinTheWindow_NothingStarts(t *testing.T) {
	t.Parallel()
	dir, ledger := t.TempDir(), filepath.Join(t.TempDir(), "ledger")
	if err := os.WriteFile(ledger, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, a := standalone(t, dir)
	a.do(http.StatusCreated, http.MethodPut, "/api/v1/maintenance/upgrade", map[string]any{
		"to": time.Now().Add(time.Hour).UTC(), "everything": true, "note": "database upgrade"}, nil)
	line := "echo $CARILLON_JOB >> " + ledger
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs",
		map[string]any{"name": "tick", "cronExpr": "* * * * * * *", "command": line}, nil)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs",
		map[string]any{"name": "again", "command": line + "; false",
			"retry": map[string]any{"max": 1, "backoff": "10ms"}}, nil)
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/again/run", map[string]any{}, nil) // on request it runs
	// held returns how many fires of a job wait for the end of the window.
	held := func(job string) (fires int64) {
		t.Helper()
		var page struct {
			Items []struct {
				Status string
				Reason *struct {
					Code string
					Data map[string]string
				}
				Gap *struct{ Count int64 }
			}
		}
		if status, err := a.try(http.MethodGet, "/api/v1/jobs/"+job+"/fires?limit=200", nil, &page); err != nil ||
			status != http.StatusOK {
			return 0
		}
		for _, f := range page.Items {
			switch {
			case f.Status != "waiting" || f.Reason == nil || f.Reason.Code != "maintenance" ||
				f.Reason.Data["note"] != "database upgrade":
			case f.Gap != nil:
				fires += f.Gap.Count
			default:
				fires++
			}
		}
		return fires
	}
	eventually(t, "the retry waits for the end of the window", func() bool { return held("again") == 1 })
	eventually(t, "fires wait for the end of the window", func() bool { return held("tick") > 1 })
	before := held("tick")
	p.killAll()
	p, a = standalone(t, dir)
	eventually(t, "further fires wait", func() bool { return held("tick") > before+3 })
	if got := read(t, ledger); got != "again\n" {
		t.Fatalf("within the window these commands ran: %q", got)
	}

	a.do(http.StatusOK, http.MethodPost, "/api/v1/maintenance/upgrade/end", nil, nil)
	eventually(t, "the held fires and the retry run", func() bool {
		got := read(t, ledger)
		return strings.Count(got, "again\n") == 2 && strings.Contains(got, "tick\n")
	})
	eventually(t, "the other held fires are skipped because of the window", func() bool {
		var page struct {
			Items []struct {
				Reason struct{ Code string }
				Gap    *struct{ Count int64 }
			}
		}
		a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/tick/fires?status=skipped&limit=200", nil, &page)
		fires := int64(0)
		for _, f := range page.Items {
			if f.Reason.Code == "maintenance" && f.Gap != nil {
				fires += f.Gap.Count
			} else if f.Reason.Code == "maintenance" {
				fires++
			}
		}
		return fires > before
	})
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("stopped with %d", code)
	}
}
