package system

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

// afterCase is two parents, and three jobs that run after both: a plain one, one that has a schedule as well, and a
// flow.
type afterCase struct {
	t        *testing.T
	a        *api
	barriers int
}

var afterBoth = []string{"child", "child-scheduled", "child-flow"}

// T38: each child has a run for each set of successes of its parents. Earlier successes, backfills, failures, and runs
// and re-runs that were requested with after: false start nothing.
func TestAfter_EachSetOfSuccesses_StartsEachChildOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	_, a := standalone(t, t.TempDir())
	dir := t.TempDir()
	c := &afterCase{t: t, a: a}
	fails := filepath.Join(dir, "fails")
	for _, parent := range []string{"p1", "p2"} {
		c.create(map[string]any{"name": parent, "command": "[ ! -e " + fails + " ]", "timezone": "UTC",
			"cronExpr": fmt.Sprintf("0 %d * * *", time.Now().UTC().Add(12*time.Hour).Hour())}) // not during the test
	}
	c.create(map[string]any{"name": "tick", "command": "true"})
	c.create(map[string]any{"name": "tock", "command": "true", "after": []string{"tick"}})
	c.ends("p1", common.StatusSucceeded, nil)
	c.ends("p2", common.StatusSucceeded, nil)
	seen := filepath.Join(dir, "seen")
	parents := []string{"p1", "p2"}
	c.create(map[string]any{"name": "child", "after": parents, "command": `echo "$CARILLON_AFTER" >>` + seen})
	c.create(map[string]any{"name": "child-scheduled", "after": parents, "command": "true", "cronExpr": "0 0 29 2 *",
		"timezone": "UTC"})
	c.create(map[string]any{"name": "child-flow", "after": parents, "timeout": "5m",
		"steps": []map[string]any{{"name": "only", "command": "true"}}})

	c.ran("the save", 0)
	c.ends("p1", common.StatusSucceeded, nil)
	c.ran("the first success of p1", 0)
	last := map[string]common.Run{"p1": c.ends("p1", common.StatusSucceeded, nil)}
	c.ran("the second success of p1", 0)
	last["p2"] = c.ends("p2", common.StatusSucceeded, nil)
	c.ran("both have succeeded", 1)
	c.shows(last, seen)

	c.backfill("p1")
	c.ran("a backfill of p1", 1)
	last["p2"] = c.ends("p2", common.StatusSucceeded, nil)
	c.ran("p2 has succeeded, after a backfill of p1", 1)
	last["p1"] = c.ends("p1", common.StatusSucceeded, nil)
	c.ran("p1 has succeeded, too", 2)
	c.shows(last, seen)

	if err := os.WriteFile(fails, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	failed := c.ends("p1", common.StatusFailed, nil)
	if err := os.Remove(fails); err != nil {
		t.Fatal(err)
	}
	last["p2"] = c.ends("p2", common.StatusSucceeded, nil)
	c.ran("p1 has failed, and p2 succeeded", 2)
	without := map[string]any{"after": false}
	if run := c.ends("p1", common.StatusSucceeded, without); !run.NoAfter {
		t.Errorf("it shows %+v", run)
	}
	c.ran("p1 has succeeded without what is after it", 2)
	again := c.again(failed.ID, without)
	if !again.NoAfter || again.Attempt != 2 {
		t.Errorf("it shows %+v", again)
	}
	c.ran("and its failed run again", 2)
	last["p1"] = c.again(again.ID, nil)
	c.ran("it was run again as usual", 3)
	c.shows(last, seen)
}

func (c *afterCase) create(job map[string]any) {
	c.t.Helper()
	c.a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", job, nil)
}

// ends runs a job by hand, and returns the run that has ended.
func (c *afterCase) ends(job string, want common.Status, request map[string]any) common.Run {
	c.t.Helper()
	return c.requested("/api/v1/jobs/"+job+"/run", want, request)
}

// again runs the fire of a run again.
func (c *afterCase) again(run string, request map[string]any) common.Run {
	c.t.Helper()
	return c.requested("/api/v1/runs/"+run+"/rerun", common.StatusSucceeded, request)
}

func (c *afterCase) requested(path string, want common.Status, request map[string]any) common.Run {
	c.t.Helper()
	if request == nil {
		request = map[string]any{}
	}
	var accepted struct{ Run string }
	c.a.do(http.StatusAccepted, http.MethodPost, path, request, &accepted)
	run := endedRun(c.a, accepted.Run)
	if run.Status != want {
		c.t.Fatalf("%s ended %s: %+v", path, run.Status, run)
	}
	return run
}

// backfill runs the last three dates of a job.
func (c *afterCase) backfill(job string) {
	c.t.Helper()
	to := time.Now().UTC().Truncate(time.Hour)
	var made struct{ ID string }
	c.a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+job+"/backfills", map[string]any{
		"from": to.AddDate(0, 0, -3), "to": to, "reprocess": "all", "includeUnknown": true}, &made)
	var end struct {
		EndedAt time.Time
		Counts  struct{ Total, Succeeded int }
	}
	eventually(c.t, "the backfill ends", func() bool {
		c.a.do(http.StatusOK, http.MethodGet, "/api/v1/backfills/"+made.ID, nil, &end)
		return !end.EndedAt.IsZero()
	})
	if end.Counts.Total != 3 || end.Counts.Succeeded != 3 {
		c.t.Fatalf("the backfill: %+v", end)
	}
}

// ran checks how many runs each child has had. The worker acts on successes in their order: once it has fired the job
// after a later one, it has acted on all before.
func (c *afterCase) ran(after string, want int) {
	c.t.Helper()
	c.ends("tick", common.StatusSucceeded, nil)
	c.barriers++
	eventually(c.t, "the job after a later success has run", func() bool {
		return c.a.count("job=tock", status("succeeded")) == c.barriers
	})
	for _, child := range afterBoth {
		if n := len(c.a.runs("job=" + child)); n != want {
			c.t.Fatalf("after %s: %d runs of %s, want %d", after, n, child, want)
		}
		eventually(c.t, "the runs of "+child+" have ended", func() bool {
			return c.a.count("job="+child, status("succeeded")) == want
		})
	}
}

// shows checks that the last run of each child shows the runs that it consumed, and the command of one has read them.
func (c *afterCase) shows(parents map[string]common.Run, seen string) {
	c.t.Helper()
	var want []string
	for _, name := range slices.Sorted(maps.Keys(parents)) {
		p := parents[name]
		want = append(want, fmt.Sprintf("%s %s %s", name, p.ID, p.PlannedAt.UTC().Format(time.RFC3339Nano)))
	}
	for _, child := range afterBoth {
		var page struct{ Items []common.Run }
		c.a.do(http.StatusOK, http.MethodGet, "/api/v1/runs?limit=1&job="+child, nil, &page)
		var got []string
		for _, p := range page.Items[0].Parents {
			got = append(got, fmt.Sprintf("%s %s %s", p.Job, p.Run, p.PlannedAt.UTC().Format(time.RFC3339Nano)))
		}
		if !slices.Equal(got, want) || page.Items[0].Cause != common.CauseAfter {
			c.t.Errorf("the run of %s shows %q, want %q", child, got, want)
		}
	}
	data, err := os.ReadFile(seen)
	if err != nil {
		c.t.Fatal(err)
	}
	if read := string(data); !strings.HasSuffix(read, strings.Join(want, "\n")+"\n") {
		c.t.Errorf("the command has read %q, want %q", read, want)
	}
}
