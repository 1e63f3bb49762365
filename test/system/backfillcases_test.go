package system

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
)

// T40: a backfill of a day on which the clocks change has a flow run for each hour of that day. Their intervals follow
// one another without a gap, and each has the length of an hour.
func TestBackfillCases_ClocksChange_EachHourIsRunOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	dir := t.TempDir()
	_, a := standalone(t, dir)
	zone, err := zoneinfo.Load("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(dir, "ran")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "hourly", "overlap": "allow",
		"cronExpr": "0 * * * *", "timezone": zone.String(), "steps": []map[string]any{{"name": "only",
			"command": "echo $CARILLON_PLANNED_AT $CARILLON_INTERVAL_START $CARILLON_INTERVAL_END >>" + ran}}}, nil)
	for _, day := range []struct {
		from  time.Time
		hours int
	}{
		{time.Date(2026, time.October, 25, 0, 0, 0, 0, zone), 25},
		{time.Date(2026, time.March, 29, 0, 0, 0, 0, zone), 23},
	} {
		from, to := day.from, day.from.AddDate(0, 0, 1)
		var made struct{ ID string }
		a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/hourly/backfills", map[string]any{"from": from,
			"to": to, "includeUnknown": true, "concurrency": 10}, &made)
		end := endedRun(a, made.ID)
		if n := end.Nodes; end.Status != common.StatusSucceeded ||
			n == nil || *n != (common.NodeCounts{Total: day.hours, Succeeded: day.hours}) {
			t.Errorf("%s: the backfill %s, %+v, %+v", from, end.Status, end.Reason, n)
		}
		var want []string
		for at := from; at.Before(to); at = at.Add(time.Hour) {
			want = append(want, fmt.Sprint(at.Unix(), at.Add(-3600*time.Second).Unix(), at.Unix()))
		}
		if got := hoursOf(t, ran, from, to); len(want) != day.hours || !slices.Equal(got, want) {
			t.Errorf("%s: the planned times and intervals are\n%s\nwant %d\n%s", from, strings.Join(got, "\n"),
				day.hours, strings.Join(want, "\n"))
		}
		runs := 0
		eventually(t, "the history has the flow runs", func() bool {
			runs = a.count("job=hourly", func(r run) bool {
				return !r.PlannedAt.Before(from) && r.PlannedAt.Before(to) && r.Status == "succeeded"
			})
			return runs >= day.hours
		})
		if runs != day.hours {
			t.Errorf("%s: the history has %d flow runs, want %d", from, runs, day.hours)
		}
	}
}

// hoursOf returns the times that the commands of a day have written, as seconds of the epoch, sorted.
func hoursOf(t *testing.T, path string, from, to time.Time) (all []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var seconds []string
		within := false
		for i, word := range strings.Fields(line) {
			at, err := time.Parse(time.RFC3339Nano, word)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if i == 0 {
				within = !at.Before(from) && at.Before(to)
			}
			seconds = append(seconds, fmt.Sprint(at.Unix()))
		}
		if within { // it is no fire of today
			all = append(all, strings.Join(seconds, " "))
		}
	}
	slices.Sort(all)
	return all
}
