package waits

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/events"
	"carillon/internal/events/eventstest"
	"carillon/internal/platform/virtualtime"
)

// cluster is what the keeper sees of a cluster: the ports, and their state.
type cluster struct {
	t       *testing.T
	batches eventstest.Source

	mu      sync.Mutex
	jobs    map[string]*common.JobState
	ledger  map[int64]*common.Run // of all jobs
	away    bool                  // the log store does not answer
	fresh   map[int64]*common.Run // what a read of one fire returns instead
	pending map[string]*common.PendingWait
	changes chan func(take) error
	ended   map[string]common.Run // outcomes, by key
	notes   map[string]int
	reads   int
	most    int // the most fires that a read was for
	written int // calls of Outcomes
	last    int64
}

type take = func(ctx context.Context, whole bool, put []common.PendingWait, gone []string) error

func (c *cluster) AtLeast(_ context.Context, name string, _ int64) (common.JobState, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if job := c.jobs[name]; job != nil {
		return *job, true, nil
	}
	return common.JobState{}, false, nil
}

func (c *cluster) past(_ context.Context, _ *common.JobState, from, to time.Time, most int) (map[int64]*common.Run,
	error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reads++; c.away {
		return nil, common.Errorf(common.CodeUnavailable, "the log store is away")
	}
	if c.fresh != nil && to.Sub(from) == 1 {
		return c.fresh, nil
	}
	ends := map[int64]*common.Run{}
	for at, run := range c.ledger {
		if !run.PlannedAt.Before(from) && run.PlannedAt.Before(to) {
			ends[at] = run
		}
	}
	if times := slices.Sorted(maps.Keys(ends)); len(times) > most+1 {
		for _, at := range times[:len(times)-most-1] {
			delete(ends, at)
		}
	}
	c.most = max(c.most, most)
	return ends, nil
}

func (c *cluster) Follow(ctx context.Context, _ func(error), take take) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case send := <-c.changes:
			if err := send(take); err != nil {
				return err
			}
		}
	}
}

func (c *cluster) End(_ context.Context, p *common.PendingWait, outcome *common.Run) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.pending[p.Key]; now == nil || now.Version != p.Version {
		return false, nil
	}
	delete(c.pending, p.Key)
	c.ended[p.Key] = *outcome
	return true, nil
}

func (c *cluster) Note(_ context.Context, p *common.PendingWait, now common.AwaitedNow) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := c.pending[p.Key]
	if held == nil || held.Version != p.Version {
		return 0, nil
	}
	c.last++
	awaited := *held.Wait.Awaited
	awaited.Found = &now
	held.Wait.Awaited, held.Version = &awaited, c.last
	c.notes[p.Key]++
	return c.last, nil
}

// started runs a keeper in the bubble of a test, which begins at noon and ends with it.
func started(t *testing.T) *cluster {
	c := &cluster{t: t, batches: make(eventstest.Source), jobs: map[string]*common.JobState{},
		ledger: map[int64]*common.Run{}, pending: map[string]*common.PendingWait{},
		changes: make(chan func(take) error),
		ended:   map[string]common.Run{}, notes: map[string]int{}}
	c.jobs["import"] = &common.JobState{StoredJob: common.StoredJob{UID: "i", CreatedAt: day,
		Job: common.Job{Name: "import", CronExpr: "0 * * * *", Timezone: "UTC"}}, Cursor: at(t, "12:00")}
	log := slog.New(slog.DiscardHandler)
	hub := events.NewHub(events.Config{Source: c.batches, Log: log})
	keeper := New(Config{Store: c, Jobs: c, Past: c.past, Feed: hub, Schedules: schedule.NewInterner(),
		Outcomes: func() { c.mu.Lock(); c.written++; c.mu.Unlock() }, Now: time.Now, Log: log, Report: func(error) {}})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = hub.Run(ctx) })
	running.Go(func() {
		if err := keeper.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the keeper ended with %v", err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return c
}

// wait begins a wait of a flow for the fires of a job, and returns its key.
func (c *cluster) wait(flow string, w *common.Wait) string {
	noon := at(c.t, "12:00")
	run := common.FlowRun{Head: common.Head{UID: flow, Run: flow + ".1.1", Job: flow, PlannedAt: noon,
		Interval: &common.Interval{Start: at(c.t, "09:00"), End: noon}}}
	wait := common.NewFiresWait(&run, run.Node("orders", 1, flow), w, time.Now())
	key := common.FlowWaitKey(flow, run.Run, "orders")
	c.mu.Lock()
	c.last++
	p := &common.PendingWait{Key: key, Wait: wait, Version: c.last}
	c.pending[key] = p
	given := *p
	c.mu.Unlock()
	c.changes <- func(take take) error { return take(c.t.Context(), false, []common.PendingWait{given}, nil) }
	virtualtime.Wait()
	return key
}

// fire enters the last attempts of fires into the ledger: "08:00 failed, 09:00 succeeded"; the events report them.
func (c *cluster) fire(ledger string, report bool) {
	c.mu.Lock()
	var all []events.Event
	for at, run := range entries(c.t, ledger) {
		c.ledger[at] = run
		all = append(all, events.Event{Kind: events.Run, Job: "import", Data: events.RunData{Job: "import",
			Status: run.Status, PlannedAt: run.PlannedAt}})
	}
	c.last++
	revision := c.last + 100
	c.mu.Unlock()
	if report {
		c.batches <- events.Batch{Revision: revision, Events: all}
	}
	virtualtime.Wait()
}

// state returns how a wait has ended, or what is noted of it.
func (c *cluster) state(key string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if run, ended := c.ended[key]; ended {
		return string(run.Status) + " " + run.Reason.Code
	}
	if p := c.pending[key]; p != nil && p.Wait.Awaited.Found != nil {
		var missing []string
		for _, f := range p.Wait.Awaited.Found.Missing {
			missing = append(missing, f.At.Format("15:04")+" "+string(f.Status))
		}
		return "waits for " + strings.Join(missing, ", ")
	}
	return "waits"
}

func (c *cluster) want(key, want string) {
	c.t.Helper()
	if got := c.state(key); got != want {
		c.t.Errorf("%s: %s, want %s", key, got, want)
	}
}

func TestKeeper_EndsAWaitWhenItsLastFireHasSucceeded(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		c := started(t)
		c.fire("10:00 succeeded, 11:00 failed", false)
		key := c.wait("report", &common.Wait{Job: "import"})
		c.want(key, "waits for 11:00 failed, 12:00 ")
		time.Sleep(noteEvery)
		c.fire("12:00 running", true)
		c.want(key, "waits for 11:00 failed, 12:00 running")
		c.fire("12:00 succeeded", true)
		time.Sleep(noteEvery + tick) // notes are bounded
		virtualtime.Wait()
		c.want(key, "waits for 11:00 failed")
		began := time.Now()
		c.fire("11:00 succeeded", true) // by a re-run
		c.want(key, "succeeded fires_succeeded")
		if took := time.Since(began); took > tick {
			t.Errorf("it ended %s after its last fire", took)
		}
		if c.written == 0 {
			t.Error("the delivery of outcomes was not requested")
		}
		if run := c.ended[key]; run.StartedAt == nil || run.EndedAt == nil || run.ID == "" ||
			run.Flow.Node != "orders" {
			t.Errorf("%+v", run)
		}
	})
}

func TestKeeper_SeesWhatHappenedBefore(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		c := started(t)
		c.fire("10:00 succeeded, 11:00 succeeded, 12:00 succeeded", false)
		c.want(c.wait("report", &common.Wait{Job: "import"}), "succeeded fires_succeeded")
	})
}

func TestKeeper_NotesAreBounded(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		c := started(t)
		key := c.wait("report", &common.Wait{Job: "import"})
		began := time.Now()
		for range 200 {
			c.fire("12:00 running", true)
			c.fire("12:00 waiting", true)
			time.Sleep(100 * time.Millisecond)
		}
		virtualtime.Wait()
		if most := 2 + int(time.Since(began)/noteEvery); c.notes[key] > most {
			t.Errorf("%d notes in %s, at most %d are wanted", c.notes[key], time.Since(began), most)
		}
		c.fire("12:00 lost", true)
		time.Sleep(noteEvery + tick)
		virtualtime.Wait()
		c.want(key, "waits for 10:00 , 11:00 , 12:00 lost") // the last change is noted, too
	})
}

func TestKeeper_WithoutAnEvent_LooksInTurn(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		c := started(t)
		key := c.wait("report", &common.Wait{Job: "import"})
		c.fire("10:00 succeeded, 11:00 succeeded, 12:00 succeeded", false) // its events are lost
		c.want(key, "waits for 10:00 , 11:00 , 12:00 ")
		time.Sleep(again + 2*tick)
		virtualtime.Wait()
		c.want(key, "succeeded fires_succeeded")
	})
}

func TestKeeper_LogStoreAway_WaitsAndTriesAgain(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		c := started(t)
		c.away = true
		key := c.wait("report", &common.Wait{Job: "import"})
		c.fire("10:00 succeeded, 11:00 succeeded, 12:00 succeeded", true)
		c.want(key, "waits")
		time.Sleep(time.Minute)
		virtualtime.Wait()
		if c.reads > 200 {
			t.Errorf("%d reads in a minute", c.reads)
		}
		c.mu.Lock()
		c.away = false
		c.mu.Unlock()
		time.Sleep(3 * tick)
		virtualtime.Wait()
		c.want(key, "succeeded fires_succeeded")
	})
}

func TestKeeper_JobIsMissing_RefusesTheStep(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		c := started(t)
		c.want(c.wait("report", &common.Wait{Job: "none"}), "refused job_missing")
		key := c.wait("other", &common.Wait{Job: "import"})
		c.mu.Lock()
		delete(c.jobs, "import")
		c.mu.Unlock()
		time.Sleep(again + 2*tick)
		virtualtime.Wait()
		c.want(key, "refused job_missing")
	})
}

func TestKeeper_ManyWaitsForTheSameFires_ShareARead(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		c := started(t)
		var keys []string
		for i := range 50 {
			keys = append(keys, c.wait("report"+strings.Repeat("x", i), &common.Wait{Job: "import"}))
		}
		time.Sleep(tick)
		virtualtime.Wait()
		before := c.reads
		c.fire("10:00 succeeded, 11:00 succeeded, 12:00 succeeded", true)
		time.Sleep(4 * perFire)
		virtualtime.Wait()
		for _, key := range keys {
			c.want(key, "succeeded fires_succeeded")
		}
		if c.reads-before > 2 {
			t.Errorf("%d reads", c.reads-before)
		}
	})
}

func TestKeeper_ForgetsWhatHasEnded(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		c := started(t)
		key := c.wait("report", &common.Wait{Job: "import"})
		// It was killed while the watch was down.
		c.changes <- func(take take) error { return take(t.Context(), true, nil, nil) }
		c.fire("10:00 succeeded, 11:00 succeeded, 12:00 succeeded", true)
		c.want(key, "waits for 10:00 , 11:00 , 12:00 ")
	})
}

func TestKeeper_TooManyFires_AreNotRead(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		c := started(t)
		c.jobs["import"].CronExpr = "* * * * * * *"
		c.want(c.wait("report", &common.Wait{Job: "import"}), "refused too_many_fires")
		if c.reads > 0 {
			t.Errorf("%d reads", c.reads)
		}
	})
}

// A read may have found the end of an attempt, and not the trigger of the next one, which one transaction put.
func TestKeeper_FailureThatIsRunAgain_DoesNotFailTheStep(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		c := started(t)
		c.fire("10:00 succeeded, 11:00 succeeded, 12:00 failed", false)
		c.fresh = entries(t, "12:00 waiting")
		key := c.wait("report", &common.Wait{Job: "import", OnFailure: common.FailureFails})
		c.want(key, "waits")
		c.fire("12:00 running", true)
		time.Sleep(2 * tick)
		virtualtime.Wait()
		c.want(key, "waits for 12:00 running")
		c.mu.Lock()
		c.fresh = nil
		c.mu.Unlock()
		c.fire("12:00 failed", true)
		time.Sleep(2 * tick)
		virtualtime.Wait()
		c.want(key, "failed fire_failed")
	})
}

// The schedule of a flow was dense until today: only its last fire counts, and no more of them are read.
func TestKeeper_LatestOfADenseSchedule_ReadsTheLastFireOnly(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		c := started(t)
		last := at(t, "11:30")
		for i := range common.MaxAwaited + 2000 {
			run := &common.Run{PlannedAt: last.Add(-2 * time.Second * time.Duration(i)), Status: common.StatusFailed}
			c.ledger[run.PlannedAt.UnixNano()] = run
		}
		for _, flow := range []string{"report", "import"} { // the second waits for itself
			key := c.wait(flow, &common.Wait{Job: "import", Fires: common.WaitLatest})
			want := "waits for 12:00 "
			if flow == "import" {
				want = "waits for 11:30 failed"
			}
			c.want(key, want)
		}
		if c.most != 1 {
			t.Errorf("%d fires were read, want 1", c.most)
		}
	})
}
