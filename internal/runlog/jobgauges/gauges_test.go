package jobgauges

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// cluster is what gauges look at.
type cluster struct {
	jobs    []common.JobFigures
	runs    []common.Run // the newest first
	overdue []common.Overdue
	away    bool
	broken  error
	queries int

	replicas map[string]common.ReplicaCounts // by job
	counted  []string

	shown   map[string]common.JobFigures
	omitted int
}

func (c *cluster) JobFigures(limit int, _ time.Time) ([]common.JobFigures, int) {
	return slices.Clone(c.jobs[:min(limit, len(c.jobs))]), len(c.jobs)
}

func (c *cluster) Last(ctx context.Context, jobs []string, n int) (map[string][]common.Run, error) {
	last := map[string][]common.Run{}
	for _, job := range jobs {
		found, err := c.Runs(ctx, runlog.Query{Job: job, Limit: n})
		if err != nil {
			return nil, err
		}
		last[job] = found.Runs
	}
	return last, nil
}

// Runs looks at four runs at a time, as a store that is asked for something rare stops early.
func (c *cluster) Runs(_ context.Context, q runlog.Query) (found runlog.Found, err error) {
	c.queries++
	if c.broken != nil {
		return found, c.broken
	}
	bare := runlog.Query{Job: q.Job, Limit: q.Limit}
	looked := 0
	for i := range c.runs {
		if q.Before != nil && q.Compare(*q.Before, runlog.PositionOf(&c.runs[i])) >= 0 {
			continue
		}
		if q.Matches(&c.runs[i]) {
			if found.Runs = append(found.Runs, c.runs[i]); len(found.Runs) == q.Limit {
				return found, nil
			}
		}
		if looked++; looked == 4 && len(q.Statuses) > 0 && bare.Matches(&c.runs[i]) {
			found.Until = new(runlog.PositionOf(&c.runs[i]))
			return found, nil
		}
	}
	return found, nil
}

// ran adds a run of the job that was planned some minutes after noon, and ended a minute later.
func (c *cluster) ran(job, uid string, minute int, s common.Status) {
	at := noon.Add(time.Duration(minute) * time.Minute)
	end := at.Add(time.Minute)
	c.runs = append(c.runs, common.Run{
		ID:        fmt.Sprintf("%s.%d", uid, minute),
		Job:       job,
		JobUID:    uid,
		PlannedAt: at,
		EndedAt:   &end,
		Status:    s,
	})
	slices.SortFunc(c.runs, func(a, b common.Run) int { return runlog.PositionOf(&a).Compare(runlog.PositionOf(&b)) })
}

func (c *cluster) gauges(limit int) *Gauges {
	g := New(Config{Limit: limit, Catalog: c, History: c, Overdue: func() []common.Overdue { return c.overdue },
		Count: func(_ context.Context, uids map[string]string) (map[string]common.ReplicaCounts, error) {
			c.counted = append(c.counted, slices.Sorted(maps.Keys(uids))...)
			return c.replicas, nil
		},
		Now: func() (time.Time, error) { return noon, nil }, Away: func() bool { return c.away },
		Show: func(jobs []common.JobFigures, omitted int) {
			c.shown, c.omitted = map[string]common.JobFigures{}, omitted
			for _, j := range jobs {
				c.shown[j.Name] = j
			}
		}})
	g.known = map[string]*memory{}
	return g
}

func (c *cluster) expect(t *testing.T, g *Gauges, what string, s common.Status, success int) {
	t.Helper()
	if err := g.update(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := time.Time{}
	if success >= 0 {
		want = noon.Add(time.Duration(success+1) * time.Minute)
	}
	if got := c.shown["a"]; got.LastStatus != s || !got.LastSuccess.Equal(want) {
		t.Errorf("%s: last status %q, success %v; want %q, %v", what, got.LastStatus, got.LastSuccess, s, want)
	}
}

func TestLastStatusAndSuccess(t *testing.T) {
	c := &cluster{jobs: []common.JobFigures{{Name: "a", UID: "u"}}}
	g := c.gauges(10)
	c.ran("a", "old", -9, common.StatusSucceeded)
	c.expect(t, g, "a job of the same name that was deleted", "", -1)
	c.ran("a", "u", 1, common.StatusSucceeded)
	c.expect(t, g, "first run", common.StatusSucceeded, 1)
	c.ran("a", "u", 2, common.StatusFailed)
	c.expect(t, g, "a failure", common.StatusFailed, 1)
	for minute := 3; minute < 9; minute++ {
		c.ran("a", "u", minute, common.StatusSkipped)
	}
	c.expect(t, g, "skipped fires", common.StatusFailed, 1)
	for minute := 9; minute < 15; minute++ {
		c.ran("a", "u", minute, common.StatusMissed)
	}
	c.expect(t, g, "missed fires", common.StatusMissed, 1)
	c.expect(t, c.gauges(10), "a master that was just elected", common.StatusMissed, 1)
	c.queries = 0
	c.expect(t, g, "nothing new", common.StatusMissed, 1)
	if c.queries != 1 {
		t.Errorf("%d queries for a job with nothing new, want 1", c.queries)
	}
	c.ran("a", "u", 15, common.StatusSucceeded)
	for minute := 16; minute < 22; minute++ {
		c.ran("a", "u", minute, common.StatusTimedOut)
	}
	c.expect(t, g, "a success between two looks", common.StatusTimedOut, 15)
	c.away, c.broken = true, errors.New("away")
	c.expect(t, g, "log store away", common.StatusTimedOut, 15)
	c.away, c.broken = false, nil
	c.jobs[0].UID = "u2"
	c.expect(t, g, "deleted and created again", "", -1)
}

// A run that fires were skipped for ends after them in the list's order.
func TestEndOfARunBehindSkippedFires(t *testing.T) {
	c := &cluster{jobs: []common.JobFigures{{Name: "a", UID: "u"}}}
	g := c.gauges(10)
	for minute := 2; minute < 9; minute++ {
		c.ran("a", "u", minute, common.StatusSkipped)
	}
	c.expect(t, g, "the run goes on", "", -1)
	c.ran("a", "u", 1, common.StatusSucceeded)
	c.expect(t, g, "it has ended", common.StatusSucceeded, 1)
}

func TestOverdueAndBound(t *testing.T) {
	next := noon.Add(time.Hour)
	c := &cluster{
		jobs: []common.JobFigures{{Name: "a", UID: "u", NextFire: next}, {Name: "b", UID: "v"},
			{Name: "c", UID: "w"}},
		overdue: []common.Overdue{{Job: "b", DueAt: noon.Add(-2 * time.Minute)},
			{Job: "c", DueAt: noon.Add(-time.Hour)}},
	}
	if err := c.gauges(2).update(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(c.shown) != 2 || c.omitted != 1 || c.shown["b"].Overdue != 2*time.Minute || c.shown["a"].Overdue != 0 ||
		!c.shown["a"].NextFire.Equal(next) {
		t.Errorf("shown %+v, omitted %d", c.shown, c.omitted)
	}
}

// Next fires are shown while the history cannot be read, and the loop reports the error.
func TestUnreadableHistory(t *testing.T) {
	c := &cluster{jobs: []common.JobFigures{{Name: "a", UID: "u", NextFire: noon}}, broken: errors.New("refused")}
	if err := c.gauges(2).update(t.Context()); !errors.Is(err, c.broken) {
		t.Errorf("error %v", err)
	}
	if !c.shown["a"].NextFire.Equal(noon) {
		t.Errorf("shown %+v", c.shown)
	}
}

func TestFiguresAreWithdrawnWhenTheTermEnds(t *testing.T) {
	c := &cluster{jobs: []common.JobFigures{{Name: "a", UID: "u"}}}
	g := c.gauges(2)
	ctx, cancel := context.WithCancel(t.Context())
	looked := false
	g.cfg.Report = func(error) { looked = len(c.shown) == 1; cancel() }
	if err := g.Run(ctx); !errors.Is(err, context.Canceled) || !looked || len(c.shown) != 0 {
		t.Errorf("error %v, looked %t, shown after the term: %+v", err, looked, c.shown)
	}
}

func TestReplicas(t *testing.T) {
	c := &cluster{
		jobs: []common.JobFigures{{Name: "all", UID: "u", Daemon: common.AllWorkers}, {Name: "cron", UID: "u"},
			{Name: "new", UID: "u", Daemon: 1}, {Name: "paused", UID: "u", Daemon: 2, Paused: true},
			{Name: "three", UID: "u", Daemon: 3}, {Name: "without", UID: "u", Daemon: 1}},
		replicas: map[string]common.ReplicaCounts{"all": {Pending: 1, Running: 4}, "paused": {Pending: 2}, "new": {},
			"three": {Running: 2}},
		away: true, // the log store
	}
	if err := c.gauges(5).update(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"all", "new", "paused", "three"}; !slices.Equal(c.counted, want) {
		t.Errorf("counted %q, want %q", c.counted, want)
	}
	for name, want := range map[string]common.ReplicaFigures{
		"all":    {Wanted: 5, ReplicaCounts: common.ReplicaCounts{Pending: 1, Running: 4}},
		"new":    {Wanted: 1},
		"paused": {ReplicaCounts: common.ReplicaCounts{Pending: 2}},
		"three":  {Wanted: 3, ReplicaCounts: common.ReplicaCounts{Running: 2}},
	} {
		if got := c.shown[name].Replicas; got == nil || *got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if c.shown["cron"].Replicas != nil {
		t.Error("a job that is no daemon has replicas")
	}
}
