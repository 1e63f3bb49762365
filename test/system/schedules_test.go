package system

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Of two schedules that fire in the same second the first one wins: there is one fire, its parameters reach the run and
// the retry, and its label is in the ledger. That holds for fires that are recovered after a kill as well.
func TestSchedules_FirstEntryDeterminesParamsAndLabel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, a := standalone(t, dir)
	said := filepath.Join(dir, "said")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":    "both",
		"overlap": "allow",
		"command": `echo "$CARILLON_PLANNED_AT $CARILLON_ATTEMPT $MODE $TZ" >> ` + said + `; [ $CARILLON_ATTEMPT = 2 ]`,
		"params":  map[string]any{"MODE": map[string]any{"default": "full", "pattern": "full|light"}},
		"retry":   map[string]any{"max": 1, "backoff": "10ms"},
		"schedules": []map[string]any{
			{"cronExpr": "*/2 * * * * * *", "timezone": "Asia/Shanghai", "label": "even",
				"params": map[string]string{"MODE": "light"}},
			{"cronExpr": "* * * * * * *", "timezone": "Europe/Berlin", "label": "all"},
		},
	}, nil)
	lines := func() (all []string) {
		text, err := os.ReadFile(said)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	eventually(t, "it has run", func() bool { return len(lines()) > 8 })
	p.killAll()
	p, a = standalone(t, dir)
	before := len(lines())
	eventually(t, "it runs again", func() bool { return len(lines()) > before+8 })
	first := map[string]bool{}
	for _, line := range lines() {
		var at, mode, zone string
		var attempt int
		if _, err := fmt.Sscan(line, &at, &attempt, &mode, &zone); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		planned, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		want, wantZone := "full", "Europe/Berlin"
		if planned.Second()%2 == 0 {
			want, wantZone = "light", "Asia/Shanghai"
		}
		if mode != want || zone != wantZone {
			t.Errorf("attempt %d of the fire at %s has %s in %s, want %s in %s", attempt, at, mode, zone, want,
				wantZone)
		}
		if attempt == 1 && first[at] {
			t.Errorf("the fire at %s has two first attempts", at)
		}
		first[at] = first[at] || attempt == 1
	}
	var ledger struct {
		Items []struct {
			PlannedAt time.Time
			Schedule  string
			Gap       *struct{}
		}
	}
	to := time.Now().Add(10 * time.Second).UTC().Format(time.RFC3339)
	a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/both/fires?limit=40&to="+to, nil, &ledger)
	if len(ledger.Items) < 10 {
		t.Fatalf("%d fires in the ledger", len(ledger.Items))
	}
	for _, f := range ledger.Items {
		want := "all"
		if f.PlannedAt.Second()%2 == 0 {
			want = "even"
		}
		if f.Gap == nil && f.Schedule != want {
			t.Errorf("the fire at %s has the label %q, want %q", f.PlannedAt, f.Schedule, want)
		}
	}
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Errorf("stopped with %d", code)
	}
}
