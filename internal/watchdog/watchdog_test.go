package watchdog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/maintenance"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/runlog"
)

// When a bubble's time begins.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func jobOf(t testing.TB, job common.Job) planned {
	t.Helper()
	job.Timezone = "UTC"
	interner := schedule.NewInterner()
	timetable, err := interner.OfJob(&job)
	if err != nil {
		t.Fatal(err)
	}
	return planned{&common.JobState{
		StoredJob: common.StoredJob{Job: job, UID: "uid-" + job.Name},
		Version:   1,
		Cursor:    start,
	}, timetable}
}

func TestJudge(t *testing.T) {
	at := func(d time.Duration) time.Time { return start.Add(d) }
	none := time.Time{}
	hourly := common.Job{Name: "a", CronExpr: "0 * * * *"}
	with := func(change func(j *common.Job)) common.Job {
		j := hourly
		change(&j)
		return j
	}
	jittered := with(func(j *common.Job) { j.Jitter = "10m" })
	terms := jittered.Terms()
	delay := common.Delay(terms.Jitter, "uid-a", at(time.Hour))
	if delay < time.Second {
		t.Fatal("the jitter of this job is none")
	}
	for _, c := range []struct {
		name         string
		job          common.Job
		now          time.Duration
		first, again time.Time
	}{
		{"to come", hourly, time.Minute, none, at(61 * time.Minute)},
		{"due", hourly, time.Hour, none, at(61 * time.Minute)},
		{"not yet overdue", hourly, 61*time.Minute - 1, none, at(61 * time.Minute)},
		{"overdue", hourly, 61 * time.Minute, at(time.Hour), at(61 * time.Minute)},
		{"overdue for long", hourly, 9 * time.Hour, at(time.Hour), at(9 * time.Hour)},
		{"not yet due for its jitter", jittered, time.Hour + delay + 59*time.Second, none, at(61*time.Minute + delay)},
		{"overdue with its jitter", jittered, time.Hour + delay + time.Minute, at(time.Hour),
			at(time.Hour + delay + time.Minute)},
		{"paused", with(func(j *common.Job) { j.Paused = true }), 9 * time.Hour, none, none},
		{"paused until later", with(func(j *common.Job) {
			j.Paused, j.PauseUntil = true, new(at(10*time.Hour))
		}), 9 * time.Hour, none, at(10*time.Hour + time.Minute)},
		{"paused until before", with(func(j *common.Job) {
			j.Paused, j.PauseUntil = true, new(at(90*time.Minute))
		}), 9 * time.Hour, at(2 * time.Hour), at(9 * time.Hour)},
		{"begins later", with(func(j *common.Job) {
			j.StartAt = new(at(5 * time.Hour))
		}), 4 * time.Hour, none, at(5*time.Hour + time.Minute)},
		{"has ended", with(func(j *common.Job) { j.EndAt = new(at(30 * time.Minute)) }), 9 * time.Hour, none, none},
		{"once, long ago", common.Job{Name: "a", CronExpr: "@at 1999-01-01T00:00:00Z"}, time.Hour, none, none},
		{"each half hour", common.Job{Name: "a", CronExpr: "@every 30m"}, 32 * time.Minute, at(30 * time.Minute),
			at(32 * time.Minute)},
	} {
		job := jobOf(t, c.job)
		first, _, again := firstDue(job.state, job.timetable, nil, start, at(c.now))
		if !first.Equal(c.first) || !again.Equal(c.again) {
			t.Errorf("%s: %v, again %v; want %v, again %v", c.name, first, again, c.first, c.again)
		}
	}
}

// world is a cluster as a watchdog sees it.
type world struct {
	*testing.T
	*Watchdog
	mu      sync.Mutex // of all that follows
	jobs    map[string]planned
	cursors map[string]time.Time
	busy    map[string]bool
	fires   []common.Fire // in the ledger
	partial bool
	alike   bool
	away    bool
	listed  int // how often the ledger was asked
	sure    error
	reason  *common.Reason
	log     bytes.Buffer
	asked   int // cursors
	most    int // jobs that the observer heard to be overdue
	missed  int
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, jobs: map[string]planned{}, cursors: map[string]time.Time{}, busy: map[string]bool{}, alike: true}
	w.Watchdog = New(Config{
		Windows:  func() *maintenance.Set { return nil },
		Catalog:  w,
		State:    w,
		Ledger:   w,
		Why:      func(*common.StoredJob) *common.Reason { return w.reason },
		Now:      func() (time.Time, error) { defer w.lock()(); return time.Now(), w.sure },
		Alike:    func() bool { defer w.lock()(); return w.alike },
		Away:     func() bool { defer w.lock()(); return w.away },
		Log:      slog.New(slog.NewTextHandler(&w.log, nil)),
		Observer: w,
	})
	return w
}

func (w *world) lock() (unlock func()) {
	w.mu.Lock()
	return w.mu.Unlock
}

// change is what happens in the world.
func (w *world) change(do func()) {
	defer w.lock()()
	do()
}

func (w *world) add(job common.Job) planned {
	p := jobOf(w, job)
	w.jobs[job.Name], w.cursors[job.Name] = p, start
	return p
}

func (w *world) Plans() iter.Seq2[*common.JobState, schedule.Schedule] {
	return func(yield func(*common.JobState, schedule.Schedule) bool) {
		defer w.lock()()
		for _, j := range w.jobs {
			if !yield(j.state, j.timetable) {
				return
			}
		}
	}
}

func (w *world) Job(name string) (common.JobState, bool) {
	defer w.lock()()
	job, exists := w.jobs[name]
	if !exists {
		return common.JobState{}, false
	}
	return *job.state, true
}

func (w *world) Cursors(_ context.Context, jobs []string) (map[string]time.Time, error) {
	defer w.lock()()
	w.asked += len(jobs)
	found := map[string]time.Time{}
	for _, name := range jobs {
		if cursor, there := w.cursors[name]; there {
			found[name] = cursor
		}
	}
	return found, nil
}

func (w *world) Busy(_ context.Context, jobs []string) (map[string]bool, error) {
	defer w.lock()()
	found := map[string]bool{}
	for _, name := range jobs {
		if w.busy[name] {
			found[name] = true
		}
	}
	return found, nil
}

func (w *world) Fires(_ context.Context, q runlog.FireQuery) (runlog.FirePage, error) {
	defer w.lock()()
	w.listed++
	page := runlog.FirePage{Partial: w.partial}
	for i := range w.fires {
		if q.Matches(&w.fires[i]) {
			page.Fires = append(page.Fires, w.fires[i])
		}
	}
	return page, nil
}

func (w *world) Overdue(jobs int)  { w.most = max(w.most, jobs) }
func (w *world) NoEntry(fires int) { w.missed += fires }

// take moves a job's cursor past the fires that are due, with an entry for each one that keep wants.
func (w *world) take(job planned, keep func(at time.Time) bool) {
	name := job.state.Name
	for at, ok, _ := job.timetable.Next(w.cursors[name]); ok && !at.After(time.Now()); at, ok,
		_ = job.timetable.Next(at) {
		w.cursors[name] = at
		if keep(at) {
			w.fires = append(w.fires, common.Fire{
				ID:        common.PlannedFire(job.state.UID, at),
				Job:       name,
				JobUID:    job.state.UID,
				PlannedAt: at,
			})
		}
	}
}

func all(time.Time) bool { return true }

// during runs the watchdog while a story is told.
func (w *world) during(story func()) {
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan error)
	go func() { ended <- w.Watchdog.Run(ctx) }()
	story()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		w.Errorf("it ended with %v", err)
	}
}

// each does something every second for a while.
func (w *world) each(d time.Duration, do func()) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Second) {
		w.change(do)
	}
}

func (w *world) names() string {
	virtualtime.Wait()
	var names []string
	for _, o := range w.Found() {
		names = append(names, o.Job)
	}
	return strings.Join(names, " ")
}

func TestOverdue(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t)
		healthy := w.add(common.Job{Name: "healthy", CronExpr: "* * * * *"})
		w.add(common.Job{Name: "stuck", CronExpr: "5 0 * * *"})
		w.add(common.Job{Name: "tomorrow", CronExpr: "0 0 * * *"})
		w.during(func() {
			w.each(6*time.Minute+10*time.Second, func() { w.take(healthy, all) })
			if got := w.names(); got != "" {
				t.Errorf("at %v: %q are overdue", time.Now(), got)
			}
			w.each(40*time.Second, func() { w.take(healthy, all) }) // within a minute of being overdue
			if got := w.names(); got != "stuck" {
				t.Fatalf("at %v: %q are overdue", time.Now(), got)
			}
			o := w.Found()[0]
			if !o.PlannedAt.Equal(start.Add(5*time.Minute)) || !o.DueAt.Equal(o.PlannedAt) ||
				o.Since.Sub(o.DueAt) > 90*time.Second {
				t.Errorf("overdue: %+v", o)
			}
			conditions := w.Conditions()
			if len(conditions) != 1 || conditions[0].Code != common.ConditionOverdue ||
				conditions[0].Data["first"] != "stuck" || conditions[0].Data["count"] != "1" {
				t.Errorf("conditions %v", conditions)
			}
			// A worker claims it.
			w.change(func() { w.cursors["stuck"] = start.Add(5 * time.Minute) })
			w.each(30*time.Second, func() { w.take(healthy, all) })
			if got := w.names(); got != "" || len(w.Conditions()) != 0 {
				t.Errorf("at %v: %q are overdue", time.Now(), got)
			}
			w.each(time.Hour, func() { w.take(healthy, all) })
		})
		if w.most != 1 {
			t.Errorf("the observer heard of %d", w.most)
		}
		if w.asked > 75 { // once a minute for the one that fires each minute, and each look at the overdue one
			t.Errorf("%d cursors were read", w.asked)
		}
	})
}

// A job that no worker may run has each fire overdue for a few minutes, until it is missed; the problem lasts.
func TestOverdue_NoWorkerMayRunTheJob_TheConditionLastsUntilOneMay(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.reason = &common.Reason{Code: "no_worker", Text: "no eligible worker"}
		job := w.add(common.Job{Name: "gpu", CronExpr: "*/20 * * * *"})
		w.during(func() {
			time.Sleep(22 * time.Minute)
			if got := w.names(); got != "gpu" {
				t.Fatalf("%q are overdue", got)
			}
			began := w.Conditions()[0].From
			w.change(func() { w.take(job, all) }) // it is recorded as missed
			time.Sleep(5 * time.Minute)
			if conditions := w.Conditions(); w.names() != "" || len(conditions) != 1 ||
				conditions[0].Data["count"] != "1" || !conditions[0].From.Equal(began) {
				t.Errorf("overdue: %q, conditions %v", w.names(), conditions)
			}
			time.Sleep(15 * time.Minute) // the next fire is overdue
			if conditions := w.Conditions(); w.names() != "gpu" || len(conditions) != 1 ||
				conditions[0].Data["count"] != "1" {
				t.Errorf("overdue: %q, conditions %v", w.names(), conditions)
			}
			w.change(func() { w.take(job, all); w.reason = nil })
			time.Sleep(time.Minute)
			if conditions := w.Conditions(); len(conditions) != 0 {
				t.Errorf("a worker may run it: %v", conditions)
			}
		})
	})
}

// All was away: what is overdue at the first look and taken before the next is not overdue.
func TestOverdueAfterAnOutage_IsReportedOnlyIfItLasts(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t)
		job := w.add(common.Job{Name: "a", CronExpr: "* * * * *"})
		time.Sleep(8 * time.Hour)
		w.during(func() {
			time.Sleep(3 * time.Second)
			w.each(10*time.Minute, func() { w.take(job, all) })
		})
		if w.most != 0 {
			t.Error("it was overdue")
		}
	})
}

func TestOverdueForAReason(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add(common.Job{
			Name:     "one-by-one",
			CronExpr: "* * * * *",
			CatchUp:  &common.CatchUp{Policy: common.CatchUpAll},
		})
		w.add(common.Job{
			Name:     "side-by-side",
			CronExpr: "* * * * *",
			Overlap:  common.OverlapAllow,
			CatchUp:  &common.CatchUp{Policy: common.CatchUpAll},
		})
		w.busy["one-by-one"], w.busy["side-by-side"] = true, true
		w.reason = &common.Reason{Code: common.ReasonNoSlot}
		w.during(func() {
			time.Sleep(5 * time.Minute)
			if got := w.names(); got != "side-by-side" {
				t.Fatalf("%q are overdue", got)
			}
			if r := w.Found()[0].Reason; r == nil || r.Code != common.ReasonNoSlot {
				t.Errorf("the reason is %v", r)
			}
			w.change(func() { w.busy = nil })
			time.Sleep(time.Minute)
			if got := w.names(); got != "one-by-one side-by-side" {
				t.Errorf("%q are overdue", got)
			}
		})
		if got := w.names(); got != "" {
			t.Errorf("%q are overdue by who is not elected", got)
		}
	})
}

// A job that is edited, paused or deleted while it is overdue is so no longer.
func TestOverdueJobChanges(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"edited": func(w *world) {
			job := w.add(common.Job{Name: "a", CronExpr: "0 0 * * *"})
			job.state.Version, job.state.Cursor, w.cursors["a"] = 2, time.Now(), time.Now()
		},
		"paused": func(w *world) {
			job := w.add(common.Job{Name: "a", CronExpr: "* * * * *", Paused: true})
			job.state.Version = 2
		},
		"deleted":        func(w *world) { delete(w.jobs, "a"); delete(w.cursors, "a") },
		"being deleted":  func(w *world) { delete(w.cursors, "a") },
		"not to be told": func(w *world) { w.sure = errors.New("the clock is wrong") },
	} {
		t.Run(name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.add(common.Job{Name: "a", CronExpr: "* * * * *"})
				w.during(func() {
					time.Sleep(5 * time.Minute)
					if got := w.names(); got != "a" {
						t.Fatalf("%q are overdue", got)
					}
					w.change(func() { change(w) })
					time.Sleep(time.Minute)
					want := ""
					if w.sure != nil {
						want = "a" // it stays as it was last known
					}
					if got := w.names(); got != want {
						t.Errorf("%q are overdue", got)
					}
				})
			})
		})
	}
}

func TestManyOverdue(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i := range 1500 {
			w.add(common.Job{Name: fmt.Sprintf("j%04d", i), CronExpr: "* * * * *"})
		}
		w.during(func() {
			time.Sleep(3 * time.Minute)
			virtualtime.Wait()
			if found := w.Found(); len(found) != common.MaxOverdue || found[0].Job != "j0000" {
				t.Errorf("%d are named", len(found))
			}
			if c := w.Conditions(); len(c) != 1 || c[0].Data["count"] != "1500" {
				t.Errorf("conditions %v", c)
			}
		})
	})
}

// A look at 100,000 jobs costs little, whether they fire often or not.
func BenchmarkPlan(b *testing.B) {
	a := New(Config{Windows: func() *maintenance.Set { return nil }})
	a.watches = map[string]*watch{}
	jobs := make(catalog, 0, 100_000)
	lines := []string{"* * * * *", "*/5 * * * *", "17 * * * *", "30 2 * * *", "25 6 * * 1-5"}
	for i := range cap(jobs) {
		jobs = append(jobs, jobOf(b, common.Job{Name: fmt.Sprintf("job-%06d", i), CronExpr: lines[i%len(lines)]}))
	}
	a.cfg.Catalog = jobs
	now := start.Add(30 * time.Second)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			clear(a.watches)
			a.plan(now)
		}
	})
	b.Run("next", func(b *testing.B) {
		for b.Loop() {
			now = now.Add(every)
			due := a.plan(now)
			cursors := make(map[string]time.Time, len(due))
			for _, job := range due {
				cursors[job.state.Name] = now.Truncate(time.Minute)
			}
			a.take(due, cursors, now)
		}
	})
}

type catalog []planned

func (c catalog) Plans() iter.Seq2[*common.JobState, schedule.Schedule] {
	return func(yield func(*common.JobState, schedule.Schedule) bool) {
		for _, j := range c {
			if !yield(j.state, j.timetable) {
				return
			}
		}
	}
}
func (catalog) Job(string) (common.JobState, bool) { return common.JobState{}, false }

// Jobs that have a reason hide none that has not, however many they are, and do not count.
func TestManyExplainedJobs_HideNoOther(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i := range common.MaxOverdue + 200 {
			name := fmt.Sprintf("j%04d", i)
			w.add(common.Job{Name: name, CronExpr: "* * * * *", CatchUp: &common.CatchUp{Policy: common.CatchUpAll}})
			w.busy[name] = true
		}
		w.add(common.Job{Name: "stuck", CronExpr: "*/2 * * * *"}) // overdue a minute after the others
		w.during(func() {
			time.Sleep(5 * time.Minute)
			if got := w.names(); got != "stuck" {
				t.Errorf("%.100q are overdue", got)
			}
			if c := w.Conditions(); len(c) != 1 || c[0].Data["count"] != "1" {
				t.Errorf("conditions %v", c)
			}
		})
	})
}

// A job whose cursor is in the future fires no more: it is told of until the cursor is brought back.
func TestCursorInFuture_IsReported(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t)
		job := w.add(common.Job{Name: "a", CronExpr: "* * * * *"})
		w.during(func() {
			time.Sleep(90 * time.Second)
			w.change(func() { w.cursors["a"] = start.Add(time.Hour) })
			time.Sleep(3 * time.Minute)
			if found, conditions := w.Found(), w.Conditions(); len(found) != 1 ||
				found[0].Reason.Code != common.ReasonCursorInFuture ||
				len(conditions) != 1 || conditions[0].Code != common.ConditionCursorInFuture ||
				conditions[0].Data["first"] != "a" {
				t.Errorf("found %+v, conditions %+v", found, conditions)
			}
			w.change(func() {
				again := *job.state
				again.Version, again.UID, again.Cursor = 2, "another", time.Now()
				w.jobs["a"], w.cursors["a"] = planned{&again, job.timetable}, time.Now()
			})
			time.Sleep(20 * time.Second)
			if found, conditions := w.Found(), w.Conditions(); len(found)+len(conditions) != 0 {
				t.Errorf("brought back: found %+v, conditions %+v", found, conditions)
			}
		})
	})
}
