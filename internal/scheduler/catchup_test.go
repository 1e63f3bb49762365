package scheduler

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

func TestDecide(t *testing.T) {
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for _, c := range []struct {
		name   string
		expr   string
		cursor time.Duration // before noon
		now    time.Duration // after noon
		want   Decision
		to     time.Duration // after noon
		passed time.Duration // the last one passed, after noon
	}{
		{name: "in time", expr: "0 * * * *", cursor: time.Hour, want: Decision{Run: true, Cause: common.CauseCron}},
		{name: "the clock went back", expr: "0 * * * *", cursor: time.Hour, now: -30 * time.Minute, want: Decision{Run: true, Cause: common.CauseCron}},
		{name: "late, but within the deadline", expr: "* * * * *", cursor: time.Minute, now: StartDeadline,
			want: Decision{Run: true, Cause: common.CauseCron}},
		{name: "just past the deadline", expr: "0 * * * *", cursor: time.Hour, now: StartDeadline + 1,
			want: Decision{Run: true, Cause: common.CauseCatchUp}},
		{name: "the only one, within the window", expr: "0 12 * * *", cursor: day, now: Window,
			want: Decision{Run: true, Cause: common.CauseCatchUp}},
		{name: "the only one, beyond the window", expr: "0 12 * * *", cursor: day, now: Window + 1,
			want: Decision{Passed: 1}},
		{name: "the last of several is merely late", expr: "*/10 * * * *", cursor: 10 * time.Minute, now: 31 * time.Minute,
			want: Decision{Run: true, Cause: common.CauseCron, Passed: 3}, to: 30 * time.Minute, passed: 20 * time.Minute},
		{name: "the last of several is to be caught up", expr: "*/10 * * * *", cursor: 10 * time.Minute, now: 39 * time.Minute,
			want: Decision{Run: true, Cause: common.CauseCatchUp, Passed: 3}, to: 30 * time.Minute, passed: 20 * time.Minute},
		{name: "all beyond the window", expr: "0 12 * * *", cursor: day, now: 2*day + 2*time.Hour,
			want: Decision{Passed: 3}, to: 2 * day, passed: 2 * day},
		{name: "a long gap, in parts", expr: "* * * * *", cursor: time.Minute, now: 30 * day,
			want: Decision{Passed: mostPassed}, to: (mostPassed - 1) * time.Minute, passed: (mostPassed - 1) * time.Minute},
		{name: "its last part leaves what may be run", expr: "* * * * *", cursor: time.Minute, now: (mostPassed - 1) * time.Minute,
			want: Decision{Passed: mostPassed - 1}, to: (mostPassed - 2) * time.Minute, passed: (mostPassed - 2) * time.Minute},
		{name: "a part that is full though all is recent", expr: "* * * * * * *", cursor: time.Second, now: (mostPassed + 600) * time.Second,
			want: Decision{Passed: mostPassed - 1}, to: (mostPassed - 2) * time.Second, passed: (mostPassed - 2) * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			timetable, err := schedule.NewInterner().Parse(schedule.Spec{Expr: c.expr, Zone: "UTC"})
			if err != nil {
				t.Fatal(err)
			}
			c.want.To = noon.Add(c.to)
			if c.want.Passed > 0 {
				c.want.LastPassed = noon.Add(c.passed)
			}
			got, err := Decide(Fire{Cursor: noon.Add(-c.cursor), At: noon, Schedule: timetable}, noon.Add(c.now))
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

// However long the gap: every fire up to now is passed or run once, and the last
// one runs if it is within the window.
func TestDecisionsAccountForEveryFire(t *testing.T) {
	start := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, gap := range []time.Duration{time.Second, 299 * time.Second, 301 * time.Second, time.Hour, mostPassed * time.Second,
		(mostPassed + 1) * time.Second, 3 * mostPassed * time.Second} {
		t.Run(gap.String(), func(t *testing.T) {
			timetable, err := schedule.NewInterner().Parse(schedule.Spec{Expr: "* * * * * * *", Zone: "UTC"})
			if err != nil {
				t.Fatal(err)
			}
			now := start.Add(gap)
			var seen int64
			var lastRun time.Time
			for cursor := start; ; {
				at, _, err := timetable.Next(cursor)
				if err != nil {
					t.Fatal(err)
				}
				if at.After(now) {
					break
				}
				d, err := Decide(Fire{Cursor: cursor, At: at, Schedule: timetable}, now)
				if err != nil {
					t.Fatal(err)
				}
				seen += d.Passed
				if d.Run {
					seen++
					lastRun = d.To
				}
				if want := int64(d.To.Sub(start) / time.Second); seen != want {
					t.Fatalf("%d fires accounted for up to %v, want %d", seen, d.To, want)
				}
				cursor = d.To
			}
			if !lastRun.Equal(now) {
				t.Fatalf("the last fire that ran is that of %v, want %v", lastRun, now)
			}
		})
	}
}
