package housekeeping

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/runlog"
)

// after returns when all goroutines have done their work of this time.
func after(d time.Duration) {
	time.Sleep(d)
	virtualtime.Wait()
}

// during looks at a keeper while it works.
func (h *house) during(t *testing.T, look func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- h.Run(ctx) }()
	look()
	cancel()
	<-ended
}

// A clock that is far beyond what it was trusted last deletes nothing before it has gone on
// from there for an hour: a wrong year empties no history.
func TestClock_IsSuspect(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		noted time.Time
		ahead time.Duration
		runs  []time.Time
	}{
		"two months ahead": {noon, 61 * day, each(100, time.Hour)},
		"nothing noted, an old run": {time.Time{}, 0,
			append([]time.Time{noon.Add(-31 * day)}, each(10, time.Hour)...)},
		"nothing noted, a wrong clock": {time.Time{}, 61 * day, each(100, time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				store := &shelf{runs: map[string][]time.Time{"a": c.runs}}
				h := newHouse(store, rules{"a": {}})
				h.page.at = c.noted
				h.ahead.Store(int64(c.ahead))
				h.during(t, func() {
					after(59 * time.Minute)
					if got := len(store.runs["a"]); got != len(c.runs) {
						t.Fatalf("%d of %d runs are left", got, len(c.runs))
					}
					if a := store.asked; a.Now.IsZero() || a != (runlog.Tidy{Now: a.Now}) {
						t.Errorf("tidied by %+v", a)
					}
					got := h.Conditions()
					if len(got) != 1 || got[0].Code != common.ConditionHousekeeping ||
						!strings.Contains(got[0].Text, "the clock shows") {
						t.Errorf("conditions %v", got)
					}
					after(5 * time.Minute)
					if got := len(store.runs["a"]); got == len(c.runs) || got == 0 {
						t.Errorf("%d of %d runs are left after an hour", got, len(c.runs))
					}
					if got := h.Conditions(); len(got) != 0 {
						t.Errorf("conditions %v", got)
					}
				})
				if n := strings.Count(h.log.String(), "clock_suspect"); n != 1 {
					t.Errorf("it was said %d times", n)
				}
				if h.page.at.Before(noon.Add(c.ahead)) {
					t.Errorf("noted %v", h.page.at)
				}
			})
		})
	}
}

// A clock that is set meanwhile begins its hour again, and one that is right again goes on at once.
func TestClockIsSet(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		runs := append([]time.Time{noon.Add(-31 * day)}, each(10, time.Hour)...)
		store := &shelf{runs: map[string][]time.Time{"a": runs}}
		h := newHouse(store, rules{"a": {}})
		h.ahead.Store(int64(400 * day))
		h.during(t, func() {
			after(50 * time.Minute)
			h.ahead.Store(int64(100 * day))
			after(50 * time.Minute)
			if got := len(store.runs["a"]); got != len(runs) {
				t.Fatalf("%d runs are left", got)
			}
			h.ahead.Store(int64(0))
			after(2 * time.Minute)
			if got := len(store.runs["a"]); got != len(runs)-1 {
				t.Errorf("%d runs are left, want %d", got, len(runs)-1)
			}
		})
	})
}

// Where nothing was noted and nothing is old there is nothing to doubt; a clock that goes as it
// should is trusted, and noted now and then. So is one that was set back.
func TestClock_IsTrusted(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		store := &shelf{runs: map[string][]time.Time{"a": each(10, time.Hour)}}
		h := newHouse(store, rules{"a": {Runs: 5}})
		h.page.at = time.Time{}
		h.during(t, func() {
			after(time.Minute)
			if got := len(store.runs["a"]); got != 5 {
				t.Errorf("%d runs are left, want 5", got)
			}
			after(time.Hour)
			if h.page.wrote < 5 || h.page.wrote > 8 {
				t.Errorf("noted %d times in an hour", h.page.wrote)
			}
			h.ahead.Store(int64(-30 * 24 * time.Hour))
			after(2 * time.Minute)
			if !h.page.at.Before(noon) {
				t.Errorf("noted %v", h.page.at)
			}
		})
		if strings.Contains(h.log.String(), "clock_suspect") {
			t.Errorf("the log says:\n%s", h.log.String())
		}
	})
}

// A backfill on the first day has runs of past dates, which have just ended.
func TestClock_RunsOfPastDates_AreNoReasonForDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		ended   time.Time
		suspect bool
	}{"ended now": {noon, false}, "ended two days ago": {noon.Add(-48 * time.Hour), true}} {
		t.Run(name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				store := &shelf{runs: map[string][]time.Time{"a": each(3*pageOfRuns, 24*time.Hour)}, ended: c.ended}
				h := newHouse(store, rules{"a": {Runs: 5}})
				h.page.at = time.Time{}
				h.during(t, func() {
					after(time.Minute)
					if got := len(h.Conditions()) > 0; got != c.suspect {
						t.Errorf("conditions: %v", h.Conditions())
					}
				})
				if got := h.page.at.IsZero(); got != c.suspect {
					t.Errorf("trusted until %v", h.page.at)
				}
			})
		})
	}
}

// What was noted and cannot be read is no reason to believe anything.
func TestStoredTimeUnreadable_ClockIsNotTrusted(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		store := &shelf{runs: map[string][]time.Time{"a": each(1000, time.Hour)}}
		h := newHouse(store, rules{"a": {}})
		h.page.fault = errors.New("no etcd")
		h.run(t, time.Hour)
		if len(store.calls) > 0 || h.told.failures == 0 {
			t.Errorf("called %v, %d failed", store.calls, h.told.failures)
		}
	})
}
