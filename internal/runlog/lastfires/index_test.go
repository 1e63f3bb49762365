package lastfires_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/events"
	"carillon/internal/events/eventstest"
	"carillon/internal/runlog"
	"carillon/internal/runlog/lastfires"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// cluster is what an index reads.
type cluster struct {
	mu     sync.Mutex
	stored map[string][]common.Run // by job, newest first
	live   []common.Run
	away   error
	reads  int

	batches eventstest.Source
}

func (c *cluster) Last(_ context.Context, jobs []string, n int) (map[string][]common.Run, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	last := map[string][]common.Run{}
	for _, job := range jobs {
		last[job] = c.stored[job][:min(n, len(c.stored[job]))]
	}
	return last, c.away
}

func (c *cluster) Runs(_ context.Context, q runlog.Query) (found runlog.Found, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.stored[q.Job] {
		if q.Matches(&r) && len(found.Runs) < q.Limit {
			found.Runs = append(found.Runs, r)
		}
	}
	return found, c.away
}

func (c *cluster) LiveRuns(context.Context, *runlog.LiveQuery) (runlog.Lives, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return runlog.Lives{Runs: c.live}, nil
}

func run(job, fire string, minute int, s common.Status) common.Run {
	return common.Run{Job: job, JobUID: "u-" + job, Fire: fire, ID: fire + ".1", Attempt: 1, Status: s,
		PlannedAt: noon.Add(time.Duration(minute) * time.Minute)}
}

func (c *cluster) start(t *testing.T) *lastfires.Index {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	hub := events.NewHub(events.Config{Source: c.batches, Log: log})
	x := lastfires.New(lastfires.Config{
		Jobs:    func() map[string]string { return map[string]string{"a": "u-a", "b": "u-b", "c": "u-c"} },
		History: c, Live: c, Feed: hub, Log: log,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = hub.Run(ctx) })
	running.Go(func() { _ = x.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return x
}

func (c *cluster) emit(revision int64, r common.Run) {
	c.batches <- events.Batch{Revision: revision, Events: []events.Event{{Kind: events.Run, Job: r.Job,
		Data: events.RunData{Job: r.Job, JobUID: r.JobUID, Fire: r.Fire, Attempt: r.Attempt, Status: r.Status,
			PlannedAt: r.PlannedAt}}}}
}

func TestIndex_IsBuiltOnceAndFollowsEvents(t *testing.T) {
	skipped := []common.Run{}
	for minute := 9; minute > 4; minute-- {
		skipped = append(skipped, run("b", "b.skipped", minute, common.StatusSkipped))
	}
	c := &cluster{batches: make(eventstest.Source), stored: map[string][]common.Run{
		"a": {run("a", "a.1", 1, common.StatusSucceeded)},
		"b": append(skipped, run("b", "b.1", 1, common.StatusLost)),
	}, live: []common.Run{run("a", "a.2", 2, common.StatusFailed)}}
	x := c.start(t)
	find, err := x.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a := find("a", "u-a"); a == nil || a.Last.ID != "a.2" || a.Before.ID != "a.1" {
		t.Errorf("outcome that is not delivered: %+v", a)
	}
	if b := find("b", "u-b"); b == nil || b.Last.Status != common.StatusLost || !b.Ran {
		t.Errorf("behind skipped fires: %+v", b)
	}
	if find("c", "u-c") != nil || find("a", "another") != nil {
		t.Error("a job without runs has a record")
	}
	c.mu.Lock()
	c.away = errors.New("away")
	c.mu.Unlock()
	c.emit(2, run("c", "c.1", 3, common.StatusTimedOut))
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if find, err = x.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r := find("c", "u-c"); r != nil && r.Last.Status == common.StatusTimedOut {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the event has no effect")
		}
	}
	if c.reads != 1 {
		t.Errorf("%d reads of the log store, want 1", c.reads)
	}
}

// Whether a job often skips fires is decided by more runs than are read of the others.
func TestIndex_SkippingJobs_AreReadFurther(t *testing.T) {
	c := &cluster{batches: make(eventstest.Source), stored: map[string][]common.Run{}}
	for minute := 19; minute > 0; minute-- {
		r := run("a", "a."+strconv.Itoa(minute), minute, common.StatusSucceeded)
		if minute%4 == 3 { // 19, 15 and 11 are among the last ten
			r.Status, r.Reason = common.StatusSkipped, &common.Reason{Code: common.ReasonOverlap}
		}
		c.stored["a"] = append(c.stored["a"], r)
		c.stored["b"] = append(c.stored["b"], run("b", "b."+strconv.Itoa(minute), minute, common.StatusSucceeded))
	}
	find, err := c.start(t).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !find("a", "u-a").Skipping() || find("b", "u-b").Skipping() {
		t.Errorf("a %+v, b %+v", find("a", "u-a"), find("b", "u-b"))
	}
}

func TestIndex_LogStoreAway_ReturnsUnavailable(t *testing.T) {
	c := &cluster{batches: make(eventstest.Source), away: common.Errorf(common.CodeUnavailable, "away")}
	x := c.start(t)
	if _, err := x.Snapshot(t.Context()); common.CodeOf(err) != common.CodeUnavailable {
		t.Fatalf("error %v", err)
	}
	c.mu.Lock()
	c.away = nil
	c.mu.Unlock()
	if _, err := x.Snapshot(t.Context()); err != nil {
		t.Errorf("after the outage: %v", err)
	}
}

// No record is kept of steps and backfills, which are not asked for, nor of jobs that were deleted.
func TestIndex_KeepsRecordsOfJobsThatExist(t *testing.T) {
	c := &cluster{batches: make(eventstest.Source), stored: map[string][]common.Run{
		"a": {run("a", "a.1", 1, common.StatusSucceeded)}}}
	x := c.start(t)
	find, err := x.Snapshot(t.Context())
	if err != nil || find("a", "u-a") == nil {
		t.Fatal(err)
	}
	c.emit(2, run("b:load", "b.n1", 2, common.StatusSucceeded))
	c.emit(3, run("b@backfill", "b.b1", 2, common.StatusSucceeded))
	c.batches <- events.Batch{Revision: 4, Events: []events.Event{{Kind: events.Job, Job: "a",
		Data: events.JobData{Name: "a", Deleted: true}}}}
	c.emit(5, run("c", "c.1", 3, common.StatusFailed))
	for deadline := time.Now().Add(20 * time.Second); find("c", "u-c") == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the event has no effect")
		}
	}
	if find("a", "u-a") != nil || find("b:load", "u-b:load") != nil || find("b@backfill", "u-b@backfill") != nil {
		t.Error("a record is kept that will not be asked for")
	}
}
