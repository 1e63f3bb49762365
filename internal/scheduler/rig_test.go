package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/platform/virtualtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// meter records the metrics of the loop.
type meter struct {
	mu      sync.Mutex
	planned int
	ready   int
	jumps   []time.Duration
}

func (m *meter) Planned(jobs int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.planned = jobs
}

func (m *meter) QueueDepth(_ string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready = n
}

func (m *meter) ClockJump(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jumps = append(m.jumps, by)
}

func (m *meter) jobs() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.planned
}

func (m *meter) queue() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ready
}

func (m *meter) clockJumps() []time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.jumps)
}

// rig is a loop in a synctest bubble, with an adjustable wall clock.
type rig struct {
	*testing.T
	loop   *Loop
	meter  *meter
	offset atomic.Int64 // of the wall clock, in nanoseconds
	parse  *schedule.Interner
	terms  common.Terms

	mu     sync.Mutex
	action func(*Fire, time.Time) Action // nil: this worker claims all fires
	ranked int                           // how often fires were ranked
}

func (r *rig) rank(f *Fire, now time.Time) Action {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ranked++; r.action == nil {
		return Action{}
	}
	return r.action(f, now)
}

// bubble runs a test of a running loop in a synctest bubble. It starts at midnight of 2000-01-01
// UTC, and time advances only when all goroutines wait.
func bubble(t *testing.T, story func(r *rig)) {
	t.Helper()
	virtualtime.Test(t, func(t *testing.T) {
		r := &rig{T: t, meter: &meter{}, parse: schedule.NewInterner()}
		r.loop = New(slog.New(slog.DiscardHandler), r.meter, r.wall, NewTimer(), r.rank)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := r.loop.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		defer running.Wait()
		defer cancel()
		story(r)
	})
}

func (r *rig) wall() time.Time { return time.Now().Add(time.Duration(r.offset.Load())).Round(0) }

// job returns a job that is planned from the cursor.
func (r *rig) job(name, expr string, cursor time.Time) Job {
	r.Helper()
	timetable, err := r.parse.Parse(schedule.Spec{Expr: expr, Zone: "UTC", Name: name})
	if err != nil {
		r.Fatalf("%s: %v", expr, err)
	}
	return Job{Name: name, UID: "uid-" + name, Version: 1, Cursor: cursor, Schedule: timetable, Terms: &r.terms}
}

func (r *rig) put(jobs ...Job)         { r.news(Jobs{Put: jobs}) }
func (r *rig) whole(jobs ...Job)       { r.news(Jobs{Whole: true, Put: jobs}) }
func (r *rig) gone(names ...string)    { r.news(Jobs{Gone: names}) }
func (r *rig) trigger(list ...Trigger) { r.triggers(Triggers{Put: list}) }

func (r *rig) news(u Jobs) {
	r.Helper()
	if err := r.loop.Jobs(r.Context(), u); err != nil {
		r.Fatal(err)
	}
	virtualtime.Wait()
}

func (r *rig) triggers(u Triggers) {
	r.Helper()
	if err := r.loop.Triggers(r.Context(), u); err != nil {
		r.Fatal(err)
	}
	virtualtime.Wait()
}

func (r *rig) settle(s Settled) {
	r.Helper()
	if err := r.loop.Settle(r.Context(), s); err != nil {
		r.Fatal(err)
	}
	virtualtime.Wait()
}

// done settles a fire of the plan as claimed.
func (r *rig) done(f Fire) {
	r.Helper()
	r.settle(Settled{Fire: f, Cursor: f.At})
}

func (r *rig) ended(run, job string) {
	r.Helper()
	if err := r.loop.Ended(r.Context(), run, job); err != nil {
		r.Fatal(err)
	}
	virtualtime.Wait()
}

// within waits for a fire, up to and including the limit.
func (r *rig) within(limit time.Duration) Fire {
	r.Helper()
	select {
	case f := <-r.loop.Fires():
		return f
	case <-time.After(limit + time.Nanosecond):
		r.Fatalf("no fire within %v", limit)
		return Fire{}
	}
}

// now receives a fire that must be available at once.
func (r *rig) now() Fire {
	r.Helper()
	virtualtime.Wait()
	select {
	case f := <-r.loop.Fires():
		return f
	default:
		r.Fatal("no fire is due")
		return Fire{}
	}
}

// quiet checks that no fire is sent for a time.
func (r *rig) quiet(d time.Duration) {
	r.Helper()
	select {
	case f := <-r.loop.Fires():
		r.Fatalf("%s is sent for %v at %v", f.Job, f.At, r.wall())
	case <-time.After(d):
	}
}

func (r *rig) expect(f Fire, job string, at time.Time) {
	r.Helper()
	if f.Job != job || !f.At.Equal(at) {
		r.Fatalf("sent %s for %v, want %s for %v", f.Job, f.At, job, at)
	}
}

func (r *rig) executing() []string {
	r.Helper()
	table, err := r.loop.Executing(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	var lines []string
	for _, e := range table {
		lines = append(lines, fmt.Sprintf("%s of %s since %s", e.Run, e.Job, e.Since.UTC().Format(time.TimeOnly)))
	}
	slices.Sort(lines)
	return lines
}
