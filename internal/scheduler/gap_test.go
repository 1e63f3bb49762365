package scheduler

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"carillon/internal/common"
)

// entry is an entry of the ledger of a test: the outcome of one or more fires.
type entry struct {
	what  string // cause of a run, or paused or late
	first int    // in minutes since midnight
	last  int
}

func (e entry) String() string {
	if e.first == e.last {
		return fmt.Sprintf("%s %d", e.what, e.first)
	}
	return fmt.Sprintf("%s %d-%d", e.what, e.first, e.last)
}

// follow decides on fires until none is due any more, and returns the ledger.
func (r *rig) follow(start time.Time) (ledger []string) {
	r.Helper()
	minute := func(at time.Time) int { return int(at.Sub(start) / time.Minute) }
	for {
		select {
		case f := <-r.loop.Fires():
			d, err := Decide(f, r.wall())
			if err != nil || d.Nothing() {
				r.Fatalf("decided %+v, %v", d, err)
			}
			if d.Passed > 0 {
				what := "late"
				if d.Paused {
					what = "paused"
				}
				count, last, err := f.Schedule.Passed(f.Cursor, d.LastPassed, 1<<20)
				if err != nil || count != d.Passed || !last.Equal(d.LastPassed) {
					r.Fatalf("passed %d up to %v, there are %d up to %v", d.Passed, d.LastPassed, count, last)
				}
				ledger = append(ledger, entry{what, minute(f.At), minute(d.LastPassed)}.String())
			}
			if d.Run {
				before := f.Cursor
				if d.Passed > 0 {
					before = d.LastPassed
				}
				if next, _, err := f.Schedule.Next(before); err != nil || !next.Equal(d.To) {
					r.Fatalf("%v is claimed, but %v is not accounted for", d.To, next)
				}
				ledger = append(ledger, entry{string(d.Cause), minute(d.To), minute(d.To)}.String())
			}
			if err := r.loop.Settle(r.Context(), Settled{Fire: f, Cursor: d.To}); err != nil {
				r.Fatal(err)
			}
		case <-time.After(time.Nanosecond):
			return ledger
		}
	}
}

// No worker ran for three hours. Every fire of the gap is accounted for once, according to
// the policy, and the job continues as before.
func TestCatchUp_GapOfThreeHours_AccountsForEveryFire(t *testing.T) {
	window := func(d time.Duration, most int) func(*common.Terms) {
		return func(t *common.Terms) { t.Window, t.Max = d, most }
	}
	none, latest, all := policy(common.CatchUpNone), policy(common.CatchUpLatest), policy(common.CatchUpAll)
	cron := func(minutes ...int) (lines []string) {
		for _, m := range minutes {
			lines = append(lines, fmt.Sprintf("cron %d", m))
		}
		return lines
	}
	catchUp := func(minutes ...int) (lines []string) {
		for _, m := range minutes {
			lines = append(lines, fmt.Sprintf("catchup %d", m))
		}
		return lines
	}
	lines := func(parts ...any) (all []string) {
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				all = append(all, p)
			case []string:
				all = append(all, p...)
			}
		}
		return all
	}
	for _, c := range []struct {
		name  string
		expr  string
		terms []func(*common.Terms)
		want  []string
	}{
		{"none", "* * * * *", []func(*common.Terms){none}, lines("late 1-179", cron(180))},
		{"none, seldom", "7 * * * *", []func(*common.Terms){none}, lines("late 7-127")},
		{"none, patient", "7 * * * *", []func(*common.Terms){none, func(t *common.Terms) {
			t.StartDeadline = time.Hour
		}},
			lines("late 7-67", cron(127))},
		{"latest", "* * * * *", []func(*common.Terms){latest}, lines("late 1-179", cron(180))},
		{"latest, seldom", "7 * * * *", []func(*common.Terms){latest}, lines("late 7-67", catchUp(127))},
		{"latest, beyond the window", "7 * * * *", []func(*common.Terms){latest, window(50*time.Minute, 1)},
			lines("late 7-127")},
		{"latest, once a day", "7 1 * * *", []func(*common.Terms){latest, window(2*time.Hour, 1)}, catchUp(67)},
		{"all", "* * * * *", []func(*common.Terms){all}, lines("late 1-119", "late 120-170",
			catchUp(171, 172, 173, 174, 175, 176, 177, 178, 179, 180))},
		{"all, few", "*/20 * * * *", []func(*common.Terms){all},
			lines("late 20-100", catchUp(120, 140, 160, 180))},
		{"all, the last two", "*/20 * * * *", []func(*common.Terms){all, window(2*time.Hour, 2)},
			lines("late 20-40", "late 60-140", catchUp(160, 180))},
		{"latest, a window below the deadline", "*/20 * * * *", []func(*common.Terms){latest, window(time.Minute, 1),
			func(t *common.Terms) { t.StartDeadline = 10 * time.Minute }}, lines("late 20-160", cron(180))},
		{"latest, not late yet", "55 * * * *", []func(*common.Terms){latest, window(time.Minute, 1)},
			lines("late 55-115", cron(175))},
		{"all, a window below the deadline", "* * * * *", []func(*common.Terms){all, window(3*time.Minute, 10)},
			lines("late 1-174", catchUp(175, 176, 177, 178, 179, 180))},
		{"all, nothing in the window", "7 * * * *", []func(*common.Terms){all, window(30*time.Minute, 10)},
			lines("late 7-127")},
		{"a pause in the gap", "*/20 * * * *",
			[]func(*common.Terms){all, paused(time.Date(2000, 1, 1, 2, 20, 0, 0, time.UTC))},
			lines("paused 20-120", catchUp(140, 160, 180))},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				start := r.wall()
				time.Sleep(3 * time.Hour)
				j := with(r.job("a", c.expr, start), c.terms...)
				r.whole(j)
				if got := r.follow(start); fmt.Sprint(got) != fmt.Sprint(c.want) {
					r.Fatalf("got  %v\nwant %v", got, c.want)
				}
				if next, _, err := j.Schedule.Next(r.wall()); err != nil || next.Sub(r.wall()) > 12*time.Hour {
					return
				}
				f := r.within(12 * time.Hour) // then it continues
				if d, err := Decide(f, r.wall()); err != nil || !d.Run || d.Cause != common.CauseCron ||
					d.Passed != 0 || !d.To.Equal(f.At) {
					r.Fatalf("afterwards %+v, %v", d, err)
				}
			})
		})
	}
}

// With jitter as well, every fire of a gap is accounted for once, in planned order,
// and none before it is due.
func TestCatchUp_WithJitter_AccountsForEveryFire(t *testing.T) {
	for _, p := range []common.CatchUpPolicy{common.CatchUpNone, common.CatchUpLatest, common.CatchUpAll} {
		for _, most := range []time.Duration{30 * time.Second, 7 * time.Minute, 2 * time.Hour} {
			t.Run(fmt.Sprint(p, " ", most), func(t *testing.T) {
				bubble(t, func(r *rig) {
					start := r.wall()
					time.Sleep(3 * time.Hour)
					r.whole(with(r.job("a", "0 * * * * * *", start), policy(p), jitter(most)))
					cursor := start
					for end := r.wall().Add(time.Hour); r.wall().Before(end); {
						f := r.within(most + time.Minute)
						if !f.Cursor.Equal(cursor) || r.wall().Before(f.Due) {
							r.Fatalf("from %v at %v, want from %v at %v or later", f.Cursor, r.wall(), cursor, f.Due)
						}
						d, err := Decide(f, r.wall())
						if err != nil || d.Nothing() {
							r.Fatalf("decided %+v, %v", d, err)
						}
						if due := d.To.Add(common.Delay(f.Terms.Jitter, f.UID, d.To)); due.After(r.wall()) {
							r.Fatalf("%v is decided at %v, but due at %v", d.To, r.wall(), due)
						}
						cursor = d.To
						r.settle(Settled{Fire: f, Cursor: cursor})
					}
				})
			})
		}
	}
}

// The memory for passing missed fires does not depend on their number.
func TestCatchUp_MillionMissedFires_NeedsNoMemory(t *testing.T) {
	const missed = 1_000_000
	for _, p := range []common.CatchUpPolicy{common.CatchUpNone, common.CatchUpLatest, common.CatchUpAll} {
		t.Run(string(p), func(t *testing.T) {
			f := fireAt(t, "* * * * * * *", noon, terms(policy(p)))
			now := noon.Add(missed * time.Second)
			plan := newPlan(func(job string, err error) { t.Fatal(job, err) })
			plan.putJob(Job{Name: "a", UID: "u", Version: 1, Cursor: noon, Schedule: f.Schedule, Terms: f.Terms})
			var accounted int64
			decisions := 0
			before := allocated()
			for {
				fires := markSent(plan, now)
				if len(fires) == 0 {
					break
				}
				d, err := Decide(fires[0], now)
				if err != nil {
					t.Fatal(err)
				}
				decisions++
				if accounted += d.Passed; d.Run {
					accounted++
				}
				plan.settleJob(Settled{Fire: fires[0], Cursor: d.To})
			}
			took := allocated() - before
			if accounted != missed || decisions > 2*missed/mostPassed+1000 {
				t.Fatalf("%d fires accounted for in %d decisions", accounted, decisions)
			}
			if each := took / uint64(decisions); each > 4096 {
				t.Fatalf("%d bytes in each of %d decisions", each, decisions)
			}
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// A worker whose clock was a day ahead when it started does not take the fires of that day for those of an outage, once
// its clock is right.
func TestClockIsSetBack_FiresAreNotThoseOfAnOutage(t *testing.T) {
	bubble(t, func(r *rig) {
		r.offset.Store(int64(day))
		r.whole(with(r.job("a", "0 * * * * * *", r.wall())))
		r.offset.Store(0)
		time.Sleep(2 * maxSleep) // the jump is noticed
		r.put(with(r.job("b", "0 * * * * * *", r.wall())))
		f := r.within(2 * time.Minute)
		if f.FoundTogether() || !f.Late.IsZero() {
			r.Fatalf("%+v was found together with others until %v", f.At, f.Late)
		}
	})
}

// A jump ahead is an outage: all fires of the time between became due at once.
func TestClockJumpsAhead_FiresAreThoseOfAnOutage(t *testing.T) {
	bubble(t, func(r *rig) {
		r.whole(with(r.job("a", "0 * * * * * *", r.wall())))
		time.Sleep(time.Minute / 2)
		r.offset.Store(int64(time.Hour))
		f := r.within(time.Minute)
		if d, err := Decide(f, r.wall()); err != nil || !f.FoundTogether() || !d.Run || d.Passed < 58 {
			r.Fatalf("%+v, %v", d, err)
		}
	})
}
