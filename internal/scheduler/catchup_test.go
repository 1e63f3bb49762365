package scheduler

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

const (
	deadline = 5 * time.Minute
	day      = 24 * time.Hour
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func terms(change ...func(*common.Terms)) *common.Terms {
	t := (&common.Job{}).Terms()
	for _, c := range change {
		c(&t)
	}
	return &t
}

func policy(p common.CatchUpPolicy) func(*common.Terms) {
	return func(t *common.Terms) { t.CatchUp = p }
}

func fireAt(t *testing.T, expr string, cursor time.Time, terms *common.Terms) Fire {
	t.Helper()
	timetable, err := schedule.NewInterner().Parse(schedule.Spec{Expr: expr, Zone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	at, ok, err := timetable.Next(cursor)
	if !ok || err != nil {
		t.Fatalf("%s does not fire after %v: %v", expr, cursor, err)
	}
	return Fire{
		UID:      "u",
		Cursor:   cursor,
		At:       at.UTC(),
		Due:      at.Add(common.Delay(terms.Jitter, "u", at)).UTC(),
		Schedule: timetable,
		Terms:    terms,
	}
}

func TestDecide(t *testing.T) {
	latest, none, all := policy(common.CatchUpLatest), policy(common.CatchUpNone), policy(common.CatchUpAll)
	for _, c := range []struct {
		name   string
		expr   string
		terms  []func(*common.Terms)
		cursor time.Duration // before noon
		now    time.Duration // after noon
		want   Decision
		to     time.Duration // after noon
		passed time.Duration // the last one passed, after noon
	}{
		{name: "in time", expr: "0 * * * *", cursor: time.Hour, want: Decision{Run: true, Cause: common.CauseCron}},
		{
			name:   "the clock went back",
			expr:   "0 * * * *",
			cursor: time.Hour,
			now:    -30 * time.Minute,
			want:   Decision{Run: true, Cause: common.CauseCron},
		},
		{name: "late, but within the deadline", expr: "* * * * *", cursor: time.Minute, now: deadline,
			want: Decision{Run: true, Cause: common.CauseCron}},
		{name: "just past the deadline", expr: "0 * * * *", cursor: time.Hour, now: deadline + 1,
			want: Decision{Run: true, Cause: common.CauseCatchUp}},
		{name: "a deadline of its own", expr: "0 * * * *", cursor: time.Hour, now: 11 * time.Second,
			terms: []func(*common.Terms){none, func(t *common.Terms) { t.StartDeadline = 10 * time.Second }},
			want:  Decision{Passed: 1}},
		{name: "the only one, within the window", expr: "0 12 * * *", cursor: day, now: time.Hour,
			want: Decision{Run: true, Cause: common.CauseCatchUp}},
		{name: "the only one, beyond the window", expr: "0 12 * * *", cursor: day, now: time.Hour + 1,
			want: Decision{Passed: 1}},
		{
			name:   "the last of several is merely late",
			expr:   "*/10 * * * *",
			cursor: 10 * time.Minute,
			now:    31 * time.Minute,
			want:   Decision{Run: true, Cause: common.CauseCron, Passed: 3},
			to:     30 * time.Minute,
			passed: 20 * time.Minute,
		},
		{
			name:   "the last of several is to be caught up",
			expr:   "*/10 * * * *",
			cursor: 10 * time.Minute,
			now:    39 * time.Minute,
			want:   Decision{Run: true, Cause: common.CauseCatchUp, Passed: 3},
			to:     30 * time.Minute,
			passed: 20 * time.Minute,
		},
		{name: "all beyond the window", expr: "0 12 * * *", cursor: day, now: 2*day + 2*time.Hour,
			want: Decision{Passed: 3}, to: 2 * day, passed: 2 * day},
		{name: "a long gap, in parts", expr: "* * * * *", cursor: time.Minute, now: 30 * day,
			want: Decision{Passed: mostPassed}, to: (mostPassed - 1) * time.Minute,
			passed: (mostPassed - 1) * time.Minute},
		{
			name:   "its last part leaves what may be run",
			expr:   "* * * * *",
			cursor: time.Minute,
			now:    (mostPassed - 1) * time.Minute,
			want:   Decision{Passed: mostPassed - 1},
			to:     (mostPassed - 2) * time.Minute,
			passed: (mostPassed - 2) * time.Minute,
		},
		{
			name:   "none: what is past its deadline goes by, what is merely late stays",
			expr:   "* * * * *",
			cursor: time.Minute,
			now:    10 * time.Minute,
			terms:  []func(*common.Terms){none},
			want:   Decision{Passed: 5},
			to:     4 * time.Minute,
			passed: 4 * time.Minute,
		},
		{name: "none: its own jitter makes it late", expr: "0 12 * * *", cursor: day, now: deadline + 2*time.Hour,
			terms: []func(*common.Terms){none, func(t *common.Terms) {
				t.Jitter = 2 * time.Hour
			}}, want: Decision{Passed: 1}},
		{name: "all: the oldest first", expr: "*/10 * * * *", cursor: 10 * time.Minute, now: 39 * time.Minute,
			terms: []func(*common.Terms){all}, want: Decision{Run: true, Cause: common.CauseCatchUp}},
		{
			name:   "all: not those beyond the window",
			expr:   "*/10 * * * *",
			cursor: 10 * time.Minute,
			now:    75 * time.Minute,
			terms:  []func(*common.Terms){all},
			want:   Decision{Passed: 2},
			to:     10 * time.Minute,
			passed: 10 * time.Minute,
		},
		{name: "all: not more than max", expr: "*/10 * * * *", cursor: 10 * time.Minute, now: 39 * time.Minute,
			terms: []func(*common.Terms){all, func(t *common.Terms) {
				t.Max = 2
			}}, want: Decision{Passed: 2}, to: 10 * time.Minute, passed: 10 * time.Minute},
		{
			name:   "a policy of a newer version, in time",
			expr:   "0 * * * *",
			cursor: time.Hour,
			terms:  []func(*common.Terms){policy("newer")},
			want:   Decision{Run: true, Cause: common.CauseCron},
		},
		{name: "a pause that has ended", expr: "*/10 * * * *", cursor: 10 * time.Minute, now: 39 * time.Minute,
			terms: []func(*common.Terms){func(t *common.Terms) {
				t.Paused, t.PausedUntil = true, noon.Add(30*time.Minute).UnixNano()
			}},
			want: Decision{Passed: 3, Paused: true}, to: 20 * time.Minute, passed: 20 * time.Minute},
		{name: "a fire after a pause that has ended", expr: "*/10 * * * *", cursor: 10 * time.Minute, now: time.Minute,
			terms: []func(*common.Terms){latest, func(t *common.Terms) {
				t.Paused, t.PausedUntil = true, noon.Add(-time.Minute).UnixNano()
			}},
			want: Decision{Run: true, Cause: common.CauseCron}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.To = noon.Add(c.to)
			if c.want.Passed > 0 {
				c.want.LastPassed = noon.Add(c.passed)
			}
			got, err := Decide(fireAt(t, c.expr, noon.Add(-c.cursor), terms(c.terms...)), noon.Add(c.now))
			if err != nil {
				t.Fatal(err)
			}
			got.To, got.LastPassed = got.To.UTC(), got.LastPassed.UTC()
			if got != c.want {
				t.Fatalf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// Fires that no worker could claim pass at their deadline on workers that saw them
// become due; workers that start later leave fires that are still to be caught up.
func TestExpire(t *testing.T) {
	f := fireAt(t, "*/10 * * * *", noon.Add(-10*time.Minute), terms())
	for _, c := range []struct {
		name   string
		now    time.Duration
		inTime bool
		want   int64
	}{
		{"before the deadline", deadline, true, 0},
		{"seen in time", deadline + 1, true, 1},
		{"found late", deadline + 1, false, 0},
		{"found late, with a later one", 12 * time.Minute, false, 1},
		{"found late, beyond the window", 2 * time.Hour, false, 12},
	} {
		d, err := Expire(f, noon.Add(c.now), c.inTime)
		if err != nil {
			t.Fatal(err)
		}
		if d.Run || d.Passed != c.want || d.Nothing() != (c.want == 0) {
			t.Errorf("%s: %+v, want %d passed", c.name, d, c.want)
		}
	}
}

// A catch-up policy of a newer version is left to workers that support it.
func TestDecide_UnknownPolicy_LeavesTheFire(t *testing.T) {
	f := fireAt(t, "*/10 * * * *", noon.Add(-10*time.Minute), terms(policy("newer")))
	now := noon.Add(2 * time.Hour)
	if d, err := Decide(f, now); err != nil || !d.Nothing() {
		t.Errorf("decided %+v, %v", d, err)
	}
	if d, err := Expire(f, now, false); err != nil || !d.Nothing() {
		t.Errorf("expired, found late: %+v, %v", d, err)
	}
	if d, err := Expire(f, now, true); err != nil || d.Passed != 12 { // no worker was eligible
		t.Errorf("expired, seen in time: %+v, %v", d, err)
	}
}

// Fires of a pause pass as paused, whether they were seen in time or not.
func TestExpire_PausedFiresPass(t *testing.T) {
	f := fireAt(t, "*/10 * * * *", noon.Add(-10*time.Minute), terms(paused(noon.Add(15*time.Minute))))
	f.Due = noon.Add(15 * time.Minute)
	for _, inTime := range []bool{true, false} {
		d, err := Expire(f, noon.Add(15*time.Minute+deadline+1), inTime)
		if err != nil || !d.Paused || d.Passed != 2 || d.Run || !d.To.Equal(noon.Add(10*time.Minute)) {
			t.Errorf("in time %t: %+v, %v", inTime, d, err)
		}
	}
}

// However long the gap, and whatever the policy: every fire up to now is passed or run
// once, in order, and exactly those that the policy selects run.
func TestDecide_AccountsForEveryFireOnce(t *testing.T) {
	for _, p := range []common.CatchUpPolicy{common.CatchUpNone, common.CatchUpLatest, common.CatchUpAll} {
		for _, gap := range []time.Duration{time.Second, 299 * time.Second, 301 * time.Second, time.Hour,
			mostPassed * time.Second,
			(mostPassed + 1) * time.Second, 3 * mostPassed * time.Second} {
			t.Run(string(p)+" "+gap.String(), func(t *testing.T) {
				now := noon.Add(gap)
				f := fireAt(t, "* * * * * * *", noon, terms(policy(p)))
				var seen, caughtUp int64
				var lastRun time.Time
				for cursor := noon; ; {
					at, _, err := f.Schedule.Next(cursor)
					if err != nil {
						t.Fatal(err)
					}
					if at.After(now) {
						break
					}
					f.Cursor, f.At, f.Due = cursor, at, at
					d, err := Decide(f, now)
					if err != nil {
						t.Fatal(err)
					}
					seen += d.Passed
					if d.Run {
						seen++
						lastRun = d.To
					}
					if d.Cause == common.CauseCatchUp {
						caughtUp++
					}
					if want := int64(d.To.Sub(noon) / time.Second); seen != want {
						t.Fatalf("%d fires accounted for up to %v, want %d", seen, d.To, want)
					}
					cursor = d.To
				}
				if !lastRun.Equal(now) {
					t.Fatalf("the last fire that ran was planned for %v, want %v", lastRun, now)
				}
				late := max(0, int64((gap-deadline)/time.Second)-1)
				if want := map[common.CatchUpPolicy]int64{common.CatchUpAll: min(late,
					common.DefaultCatchUpMax)}[p]; caughtUp < want || caughtUp > want+1 {
					t.Fatalf("%d fires were caught up, want %d", caughtUp, want)
				}
			})
		}
	}
}
