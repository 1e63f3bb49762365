package housekeeping

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/runlog"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestExpiries(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		name   string
		runs   int64
		oldest time.Duration // ago
		r      common.Retention
		gone   bool
		want   []runlog.Expiry
	}{
		{
			name:   "younger than the default",
			runs:   5,
			oldest: 29 * day,
		},
		{
			name:   "older than the default",
			runs:   5,
			oldest: 31 * day,
			want:   []runlog.Expiry{{Before: noon.Add(-30 * day), Newest: true}},
		},
		{
			name:   "old, and the only one",
			runs:   1,
			oldest: 31 * day,
		},
		{
			name:   "old, the only one, of a deleted job",
			runs:   1,
			oldest: 31 * day,
			gone:   true,
			want:   []runlog.Expiry{{Before: noon.Add(-30 * day)}},
		},
		{
			name:   "kept longer",
			runs:   5,
			oldest: 31 * day,
			r:      common.Retention{Age: "40d"},
		},
		{
			name:   "kept shorter",
			runs:   5,
			oldest: 2 * time.Hour,
			r:      common.Retention{Age: "1h"},
			want:   []runlog.Expiry{{Before: noon.Add(-time.Hour), Newest: true}},
		},
		{
			name:   "as many as are kept",
			runs:   5,
			oldest: day,
			r:      common.Retention{Runs: 5},
		},
		{
			name:   "one more",
			runs:   6,
			oldest: day,
			r:      common.Retention{Runs: 5},
			want:   []runlog.Expiry{{Keep: 5, Newest: true}},
		},
		{
			name:   "few, but old",
			runs:   5,
			oldest: 31 * day,
			r:      common.Retention{Runs: 5},
			want:   []runlog.Expiry{{Before: noon.Add(-30 * day), Newest: true}},
		},
		{
			name:   "many, and old",
			runs:   6,
			oldest: 31 * day,
			r:      common.Retention{Runs: 5},
			want:   []runlog.Expiry{{Before: noon.Add(-30 * day), Newest: true}, {Keep: 5, Newest: true}},
		},
		{
			name:   "kept for a minute",
			runs:   5,
			oldest: 2 * time.Hour,
			r:      common.Retention{Age: "1m"},
			want:   []runlog.Expiry{{Before: noon.Add(-time.Minute), Newest: true}},
		},
	} {
		for i := range c.want {
			c.want[i].Job, c.want[i].Ended = "a", noon.Add(-15*time.Minute)
			if before := c.want[i].Before; !before.IsZero() && before.Before(c.want[i].Ended) {
				c.want[i].Ended = before // the age counts from the end of a run
			}
		}
		got := expiries(runlog.Kept{Job: "a", Runs: c.runs, Oldest: noon.Add(-c.oldest)}, c.r, !c.gone, noon)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// shelf is a store that holds the times of runs. Each call takes a while.
type shelf struct {
	runs  map[string][]time.Time // of each job, the oldest first
	ended time.Time              // of all runs; zero: when they were planned
	takes time.Duration
	per   time.Duration // and this for each run that goes
	fault *atomic.Pointer[error]
	tidy  []runlog.Tidied // answers, one after the other
	asked runlog.Tidy
	calls []string
	busy  time.Duration
	asks  []runlog.Expiry
}

func (s *shelf) work(ctx context.Context, call string, d time.Duration) error {
	s.calls = append(s.calls, call)
	s.busy += d
	if !sleep(ctx, d) {
		return context.Cause(ctx)
	}
	if s.fault != nil && s.fault.Load() != nil {
		return *s.fault.Load()
	}
	return nil
}

func (s *shelf) Kept(ctx context.Context, after string, limit int) (page []runlog.Kept, err error) {
	for _, job := range slices.Sorted(maps.Keys(s.runs)) {
		if runs := s.runs[job]; job > after && len(page) < limit && len(runs) > 0 {
			page = append(page, runlog.Kept{Job: job, Runs: int64(len(runs)), Oldest: runs[0]})
		}
	}
	return page, s.work(ctx, "kept", s.takes)
}

func (s *shelf) Runs(_ context.Context, q runlog.Query) (found runlog.Found, err error) {
	for _, at := range s.runs[q.Job] {
		run := common.Run{ID: at.String(), Job: q.Job, PlannedAt: at, EndedAt: &at}
		if !s.ended.IsZero() {
			run.EndedAt = &s.ended
		}
		if at.Before(q.To) && (q.Before == nil || at.After(q.Before.PlannedAt)) && len(found.Runs) < q.Limit {
			found.Runs = append(found.Runs, run)
		}
	}
	return found, nil
}

func (s *shelf) Expire(ctx context.Context, e runlog.Expiry) (gone runlog.Expired, err error) {
	s.asks = append(s.asks, e)
	runs := s.runs[e.Job]
	drop := 0
	for drop < len(runs) && drop <= e.Limit && (runs[drop].Before(e.Before) || e.Keep > 0 && len(runs)-drop > e.Keep) &&
		!(e.Newest && drop == len(runs)-1) {
		drop++
	}
	gone.Runs = min(drop, e.Limit)
	gone.Chunks, gone.Bytes, gone.More = gone.Runs, int64(100*gone.Runs), drop > e.Limit
	s.runs[e.Job] = runs[gone.Runs:]
	return gone, s.work(ctx, "expire "+e.Job, s.takes+time.Duration(gone.Runs)*s.per)
}

func (s *shelf) Tidy(ctx context.Context, t runlog.Tidy) (done runlog.Tidied, err error) {
	if s.asked = t; len(s.tidy) > 0 {
		done, s.tidy = s.tidy[0], s.tidy[1:]
	}
	return done, s.work(ctx, "tidy", s.takes)
}

type told struct {
	mu                     sync.Mutex
	runs, passes, failures int
	bytes, freed           int64
}

func (o *told) Expired(runs int, bytes int64)   { o.runs += runs; o.bytes += bytes }
func (o *told) Tidied(_, _, _ int, freed int64) { o.freed += freed }

func (o *told) failed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failures
}

func (o *told) Kept(_ time.Duration, failed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.passes++
	if failed {
		o.failures++
	}
}

// rules say what jobs there are.
type rules map[string]common.Retention

func (r rules) Retention(name string) (common.Retention, bool, error) {
	if name == "damaged" {
		return common.Retention{}, true, errors.New("it does not decode")
	}
	rule, exists := r[name]
	return rule, exists, nil
}

// house is a keeper in a bubble.
type house struct {
	audit chain
	locks lockTimes
	*Keeper
	store *shelf
	told  told
	log   bytes.Buffer
	sure  error        // why nothing may go
	ahead atomic.Int64 // how far the clock is
	page  *page
	// backfills are those that have not ended, by job.
	backfills backfills
}

type backfills map[string]string

func (b backfills) RunningBackfill(_ context.Context, job string) (string, error) { return b[job], nil }

// Runs of a backfill that has not ended do not count for the number of runs of their job.
func TestHousekeeping_RunningBackfill_IsKeptApart(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		store := &shelf{runs: map[string][]time.Time{}}
		for i := range 9 {
			for _, job := range []string{"a", "b"} {
				store.runs[job] = append(store.runs[job], noon.Add(-time.Duration(20-i)*time.Hour))
			}
		}
		h := newHouse(store, rules{"a": {Runs: 5}, "b": {Runs: 5}})
		h.backfills["a"] = "u1.b1.1"
		h.run(t, 10*time.Minute)
		apart := map[string]string{}
		for _, e := range store.asks {
			apart[e.Job] = e.Apart
		}
		if want := map[string]string{"a": "u1.b1.1", "b": ""}; !maps.Equal(apart, want) {
			t.Errorf("kept apart: %v, want %v", apart, want)
		}
	})
}

// page is a stored trusted time.
type page struct {
	at    time.Time
	fault error
	wrote int
}

func (p *page) Read(context.Context) (Trusted, error) {
	return Trusted{Until: p.at}, p.fault
}
func (p *page) Write(_ context.Context, t Trusted) error {
	p.at = t.Until
	p.wrote++
	return nil
}

// auditKept is how long the house keeps the audit.
const auditKept = 90 * 24 * time.Hour

// chain lets go of the first seven links.
type chain struct{ before time.Time }

func (c *chain) Expire(_ context.Context, before time.Time) (int64, error) {
	c.before = before
	return 7, nil
}

// lockTimes remembers the times up to which locks were expired.
type lockTimes []time.Time

func (e *lockTimes) Expire(_ context.Context, before time.Time) (int, error) {
	*e = append(*e, before)
	return 1, nil
}

func TestReleasedLocksGoAfterAWeek(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		h := newHouse(&shelf{}, rules{})
		h.run(t, 3*time.Hour-time.Minute)
		if len(h.locks) != 3 {
			t.Fatalf("locks were expired at %v", h.locks)
		}
		for i, before := range h.locks {
			if kept := noon.Sub(before); kept > locksKept || kept < locksKept-time.Duration(i+1)*2*time.Hour {
				t.Errorf("locks released before %v were deleted", before)
			}
		}
	})
}

func newHouse(store *shelf, jobs rules) *house {
	h := &house{store: store, page: &page{at: noon}, backfills: backfills{}}
	if store.takes == 0 {
		store.takes = time.Millisecond
	}
	h.Keeper = New(Config{
		Store:     store,
		Jobs:      jobs,
		Backfills: h.backfills,
		Now: func() (time.Time, error) {
			return noon.Add(time.Since(bubble) + time.Duration(h.ahead.Load())), h.sure
		},
		TrustedTime: h.page,
		Audit:       &h.audit,
		Locks:       &h.locks,
		AuditKept:   auditKept,
		Log:         slog.New(slog.NewTextHandler(&h.log, nil)),
		Observer:    &h.told,
	})
	return h
}

// bubble is when each bubble's time begins.
var bubble = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (h *house) run(t *testing.T, d time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := h.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
}

// every gives n times, the newest of them now.
func each(n int, d time.Duration) (times []time.Time) {
	for i := range n {
		times = append(times, noon.Add(-time.Duration(n-1-i)*d))
	}
	return times
}

func TestEverythingGetsToItsBound(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		store := &shelf{runs: map[string][]time.Time{
			"aged":    each(1000, time.Hour),
			"counted": each(1000, time.Minute),
			"damaged": each(2000, time.Hour),
			"deleted": each(1000, time.Hour),
			"longer":  each(2000, time.Hour),
			"old":     {noon.Add(-3000 * time.Hour), noon.Add(-2000 * time.Hour)},
		}, tidy: []runlog.Tidied{{Counted: 3, More: true}, {Repaired: 1, Expired: 2, Freed: 4096}}}
		h := newHouse(store, rules{"aged": {}, "counted": {Runs: 10}, "longer": {Age: "1500h"}, "old": {}})
		h.run(t, 55*time.Second)
		for job, want := range map[string]int{
			"aged":    720,
			"counted": 10,
			"damaged": 2000,
			"deleted": 720,
			"longer":  1500,
			"old":     1,
		} {
			if got := len(store.runs[job]); got < want-1 || got > want+1 { // time went on meanwhile
				t.Errorf("%d runs of job %q are left, want %d", got, job, want)
			}
		}
		if h.told.passes != 1 || h.told.failures != 0 || h.told.runs < 2000 || h.told.bytes != 100*int64(h.told.runs) ||
			h.told.freed != 4096 {
			t.Errorf("told %+v", &h.told)
		}
		if n := strings.Count(h.log.String(), "housekeeping_done"); n != 1 {
			t.Errorf("the log has %d lines:\n%s", n, h.log.String())
		}
		for _, want := range []string{fmt.Sprintf("runs=%d", h.told.runs), "jobs=5", "most_of=counted",
			"rollups_counted=3", "rollups_repaired=1", "entries_expired=2", "bytes_freed=4096"} {
			if !strings.Contains(h.log.String(), want) {
				t.Errorf("the log lacks %s:\n%s", want, h.log.String())
			}
		}
		if !slices.Equal(store.calls[:3], []string{"tidy", "tidy", "kept"}) {
			t.Errorf("runs went before they were counted: %v", store.calls[:3])
		}
		for _, e := range store.asks {
			if exists := e.Job != "deleted"; e.Newest != exists {
				t.Errorf("asked for %+v", e)
			}
		}
		if a := store.asked; a.Now.Sub(a.Hours) != runlog.HoursKept || a.Now.Sub(a.Days) != runlog.DaysKept ||
			a.Now.Sub(a.Changes) != auditKept || !h.audit.before.Equal(a.Changes) || a.Sealed != 7 {
			t.Errorf("tidied by %+v", a)
		}
	})
}

// A fifth of the time is worked at most, in pieces that are no longer than they should be.
func TestPace(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		store := &shelf{runs: map[string][]time.Time{"a": each(100_000, time.Hour)}, per: time.Millisecond}
		h := newHouse(store, rules{"a": {}})
		h.run(t, first+4*time.Minute)
		if left := len(store.runs["a"]); left < 10_000 || left > 60_000 {
			t.Errorf("%d are left", left)
		}
		if store.busy > 4*time.Minute/5+time.Second || store.busy < 40*time.Second {
			t.Errorf("it worked for %v", store.busy)
		}
		for i, e := range store.asks {
			if i > 5 && e.Limit > 100 {
				t.Fatalf("piece %d was of %d runs", i, e.Limit)
			}
		}
	})
}

// A job with much to delete lets the others have their turn.
func TestLargeJob_LeavesTurnsToOthers(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		store := &shelf{
			runs: map[string][]time.Time{"a": each(400_000, time.Hour), "b": each(1000, time.Hour)},
			per:  time.Millisecond,
		}
		h := newHouse(store, rules{"a": {}, "b": {}})
		h.run(t, first+time.Minute)
		if len(store.runs["a"]) < 300_000 || len(store.runs["b"]) > 721 {
			t.Errorf("%d and %d are left", len(store.runs["a"]), len(store.runs["b"]))
		}
	})
}

// Many jobs are looked at page by page, and one without anything to delete costs nothing else.
func TestManyJobs(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		store, jobs := &shelf{runs: map[string][]time.Time{}}, rules{}
		for i := range 1000 {
			name := fmt.Sprintf("j%04d", i)
			store.runs[name], jobs[name] = each(1, 0), common.Retention{}
		}
		store.runs["j0999"] = each(1000, time.Hour)
		h := newHouse(store, jobs)
		h.run(t, first+time.Second)
		var expired []string
		for _, call := range store.calls {
			if strings.HasPrefix(call, "expire") {
				expired = append(expired, call)
			}
		}
		if !slices.Equal(expired, []string{"expire j0999", "expire j0999"}) || len(store.runs["j0999"]) > 721 {
			t.Errorf("called %v", expired)
		}
		if h.log.Len() > 0 && strings.Count(h.log.String(), "\n") != 1 {
			t.Errorf("the log says:\n%s", h.log.String())
		}
	})
}

// A store that takes long to say what it holds is asked seldom.
func TestSlowStore_IsQueriedSeldom(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		store := &shelf{runs: map[string][]time.Time{"a": each(10, time.Hour)}, takes: 5 * time.Second}
		h := newHouse(store, rules{"a": {}})
		h.run(t, time.Hour)
		asked := 0
		for _, call := range store.calls {
			if strings.HasPrefix(call, "kept") {
				asked++
			}
		}
		if asked < 8 || asked > 14 { // two pages, each ten minutes
			t.Errorf("asked %d times in an hour", asked)
		}
	})
}

// Where the time or the jobs are not known for sure, nothing goes.
func TestUncertainTimeOrJobs_DeletesNothing(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		store := &shelf{runs: map[string][]time.Time{"a": each(1000, time.Hour)}}
		h := newHouse(store, rules{})
		h.sure = errors.New("the clock is wrong")
		h.run(t, time.Hour)
		if len(store.calls) > 0 || h.told.failures == 0 {
			t.Errorf("called %v, %d failed", store.calls, h.told.failures)
		}
	})
}

// What fails is tried again, with backoff; within a minute it is a condition, which ends within a minute of its cause.
func TestStoreFails(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		var fault atomic.Pointer[error]
		fault.Store(new(errors.New("no disk")))
		store := &shelf{runs: map[string][]time.Time{"a": each(1000, time.Hour)}, fault: &fault}
		h := newHouse(store, rules{"a": {}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- h.Run(ctx) }()
		time.Sleep(first + failingFor - time.Second)
		if got := h.Conditions(); len(got) != 0 {
			t.Errorf("told of too soon: %v", got)
		}
		time.Sleep(30 * time.Second)
		got := h.Conditions()
		if len(got) != 1 || got[0].Code != common.ConditionHousekeeping || !strings.Contains(got[0].Text, "no disk") {
			t.Errorf("conditions %v", got)
		}
		if n := h.told.failed(); n > 6 {
			t.Errorf("tried %d times", n)
		}
		fault.Store(nil)
		time.Sleep(time.Minute + time.Second)
		if got := h.Conditions(); len(got) != 0 {
			t.Errorf("it fails still: %v", got)
		}
		cancel()
		<-ended
		if left := len(store.runs["a"]); left > 721 {
			t.Errorf("it does not go on: %d are left", left)
		}
	})
}

// It stops in the middle of a piece, and the next elected master continues.
func TestTermEnds(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		store := &shelf{runs: map[string][]time.Time{"a": each(100_000, time.Hour)}, takes: 30 * time.Second}
		h := newHouse(store, rules{"a": {}})
		began := time.Now()
		h.run(t, first+15*time.Second)
		if took := time.Since(began); took != first+15*time.Second {
			t.Errorf("it went on for %v", took)
		}
		if h.told.failures != 0 || strings.Contains(h.log.String(), "failed") {
			t.Errorf("to be told to stop is no failure:\n%s", h.log.String())
		}
		store.takes = time.Millisecond
		h.run(t, time.Minute)
		if left := len(store.runs["a"]); left > 721 {
			t.Errorf("%d are left", left)
		}
	})
}
