package system

import (
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// wrongClocks returns how to start a standalone with a wrong clock on a folder.
func wrongClocks(t *testing.T) func(dir, offset string) (*process, *api) {
	t.Helper()
	path := built(t, "clockoffset/carillon-standalone")
	return func(dir, offset string) (*process, *api) {
		t.Helper()
		address := freePort(t)
		p := launchWith(t, []string{"CARILLON_CLOCK_OFFSET=" + offset}, "carillon-standalone", path, "--data-dir", dir,
			"--listen", address)
		return p, entered(t, p, dir, address)
	}
}

func (a *api) conditions() (codes []string) {
	var o struct{ Degraded []struct{ Code string } }
	a.do(http.StatusOK, http.MethodGet, "/api/v1/stats/overview", nil, &o)
	for _, c := range o.Degraded {
		codes = append(codes, c.Code)
	}
	return codes
}

func (a *api) has(code string) bool { return slices.Contains(a.conditions(), code) }

const tick = "tick"

func (a *api) ticks() int { return a.count("job="+tick+"&status=succeeded", status("succeeded")) }

// A clock that is alone and jumps ahead silences no job: fires go on by the time before the jump, and when the
// clock is right again nothing was used up.
func TestClockJumpsAhead_JobsGoOn(t *testing.T) {
	t.Parallel()
	launch, dir := wrongClocks(t), t.TempDir()
	p, a := launch(dir, "0s")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":     tick,
		"cronExpr": "* * * * * * *",
		"command":  "true",
	}, nil)
	eventually(t, "the job runs", func() bool { return a.ticks() >= 2 })
	p.end(syscall.SIGTERM)

	p, a = launch(dir, "1h")
	eventually(t, "the jump is reported", func() bool { return a.has("clock_unproven") })
	before := a.ticks()
	eventually(t, "the job runs by the time before the jump", func() bool { return a.ticks() >= before+3 })
	p.end(syscall.SIGTERM)

	_, a = launch(dir, "0s")
	before = a.ticks()
	eventually(t, "the job runs when the clock is right again", func() bool { return a.ticks() >= before+3 })
	for _, r := range a.runs("job=" + tick) {
		if time.Until(r.PlannedAt) > time.Minute {
			t.Errorf("%s was planned for %v", r.ID, r.PlannedAt)
		}
	}
}

// Cursors that a clock without any past has moved into the future are found, and come back by cronctl recover.
func TestCursorsInFuture_AreRecovered(t *testing.T) {
	t.Parallel()
	launch, dir := wrongClocks(t), t.TempDir()
	p, a := launch(dir, "1h")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":     tick,
		"cronExpr": "* * * * * * *",
		"command":  "true",
	}, nil)
	eventually(t, "the job runs", func() bool { return a.ticks() >= 2 })
	p.end(syscall.SIGTERM)

	_, a = launch(dir, "0s")
	eventually(t, "the cursor is reported", func() bool { return a.has("cursor_in_future") })
	if text := cronctl(t, a, dir, "recover"); !strings.Contains(text, "nothing was changed") ||
		!strings.Contains(text, "brought_back") {
		t.Errorf("a dry recovery says %s", text)
	}
	before := a.ticks()
	if text := cronctl(t, a, dir, "recover", "--yes"); !strings.Contains(text, "brought_back") {
		t.Errorf("the recovery says %s", text)
	}
	eventually(t, "the job runs again", func() bool { return a.ticks() >= before+3 })
	eventually(t, "nothing is reported any more", func() bool { return !a.has("cursor_in_future") })
}
