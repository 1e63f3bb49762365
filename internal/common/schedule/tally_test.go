package schedule

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The fires of random lines around changes of the clock are counted, and each minute must have as many as stepping
// finds.
func TestTally_EqualsNext(t *testing.T) {
	t.Parallel()
	in, changes := NewInterner(), sampleChanges(t)
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SampledFrom(changes).Draw(rt, "change")
		seconds := rapid.IntRange(0, 4).Draw(rt, "seconds") == 0
		most := 8 * 86400
		if seconds {
			most = 5 * 3600
		}
		from := time.Unix(c.at, rapid.Int64Range(0, 3).Draw(rt, "nanoseconds")).
			Add(-time.Duration(rapid.IntRange(0, most).Draw(rt, "before")) * time.Second)
		end := from.Add(time.Duration(rapid.IntRange(0, most).Draw(rt, "span")) * time.Second)
		tally := NewTally(from, end)
		for range 4 {
			l := drawLine(rt, seconds)
			s, err := in.Parse(Spec{Expr: l.text, Zone: c.zone, Rules: rapid.SampledFrom(allRules).Draw(rt, "rules")})
			if err != nil {
				continue // never
			}
			low, high := from.Add(-1), end
			if rapid.Bool().Draw(rt, "cut") {
				low = low.Add(time.Duration(rapid.IntRange(0, most).Draw(rt, "cut from")) * time.Second)
				high = high.Add(-time.Duration(rapid.IntRange(0, most).Draw(rt, "cut to")) * time.Second)
			}
			want, got := map[int64]int{}, map[int64]int{}
			seconds, seen := map[int64]uint64{}, map[int64]uint64{}
			fires, latest := int64(0), time.Time{}
			for at := low; ; {
				next, ok, err := s.Next(at)
				if err != nil {
					rt.Fatal(err)
				}
				if !ok || !next.Before(high) {
					break
				}
				want[minuteDown(next.Unix())]++
				seconds[minuteDown(next.Unix())] |= 1 << floorMod(next.Unix(), 60)
				at = next
				fires, latest = fires+1, next
			}
			if n, last, err := tally.Count(s, low, high.Add(-1)); err != nil || n != fires || !last.Equal(latest) {
				rt.Fatalf("%q in %s with %v from %v to %v: %d fires, the last at %v, %v; want %d, %v", l.text, c.zone,
					s.zone.rules, low, high, n, last, err, fires, latest)
			}
			if err := tally.Of(s.Same(), low, high, func(start int64, minutes uint64, fires int, in uint64) {
				for i := range int64(60) {
					if minutes>>i&1 == 1 {
						got[start+60*i] += fires
						seen[start+60*i] |= in
					}
				}
			}); err != nil {
				rt.Fatal(err)
			}
			for at, n := range want {
				if got[at] != n || seen[at] != seconds[at] {
					rt.Fatalf("%q in %s with %v from %v to %v: %d fires at %v, want %d (seconds %b, want %b)", l.text,
						c.zone, s.zone.rules,
						low, high, got[at], time.Unix(at, 0).In(s.zone.loc), n, seen[at], seconds[at])
				}
			}
			if len(got) != len(want) {
				rt.Fatalf("%q in %s with %v from %v to %v: fires in %d minutes, want %d", l.text, c.zone, s.zone.rules,
					low, high, len(got), len(want))
			}
		}
	})
}

// Far from any change each local day is examined once, whatever the line.
func TestTally_ExaminesEachDayOnce(t *testing.T) {
	from := time.Date(2026, 5, 4, 10, 0, 30, 0, time.UTC)
	end := from.Add(7 * 24 * time.Hour)
	for _, c := range []struct {
		expr  string
		fires int
		calls int
	}{
		{"* * * * * * *", 7 * 86400, 8*24 + 60 + 60}, // the two partial minutes by the second
		{"* * * * *", 7 * 1440, 8 * 24},
		{"0 9-17 * * MON-FRI", 45, 46},
		{"30 2 1 * *", 0, 0},
	} {
		fires, calls := 0, 0
		err := NewTally(from, end).Of(parse(t, c.expr, "America/New_York").Same(), from.Add(-1), end,
			func(_ int64, minutes uint64, each int, _ uint64) {
				calls++
				for ; minutes != 0; minutes &= minutes - 1 {
					fires += each
				}
			})
		if err != nil || fires != c.fires || calls > c.calls {
			t.Errorf("%s: %d fires in %d calls, %v; want %d in at most %d", c.expr, fires, calls, err, c.fires, c.calls)
		}
	}
	if NewTally(from, end).Of(parse(t, "@every 5m", "UTC").Same(), from, end, nil) == nil {
		t.Error("@every is no cron line")
	}
}

// Count finds the same as stepping, for every kind of schedule and its bounds.
func TestTallyCount(t *testing.T) {
	from := time.Date(2026, 5, 4, 10, 0, 30, 0, time.UTC)
	end := from.Add(7 * 24 * time.Hour)
	in := NewInterner()
	for _, expr := range []string{"* * * * * * *", "*/7 * * * *", "@daily", "@every 5m", "@every 7s",
		"@at 2026-05-06T00:00:00Z", "0 0 1 1 *"} {
		for _, bounds := range [][2]time.Time{{}, {from.Add(time.Hour), end.Add(-time.Hour)},
			{{}, from.Add(36 * time.Hour)}, {from.Add(90 * time.Minute)}} {
			s, err := in.Parse(Spec{Expr: expr, Zone: "Europe/Berlin", From: bounds[0], To: bounds[1]})
			if err != nil {
				t.Fatal(err)
			}
			want, latest, err := s.Passed(from, end, 1<<40)
			if err != nil {
				t.Fatal(err)
			}
			tally := NewTally(from, end.Add(1))
			if n, last, err := tally.Count(s, from, end); err != nil || n != want || !last.Equal(latest) ||
				tally.Asked > 120 {
				t.Errorf("%s within %v: %d fires, the last at %v, %v, %d asked; want %d, %v", expr, bounds, n, last,
					err, tally.Asked, want, latest)
			}
		}
	}
	if n, _, err := NewTally(from, end).Count(Schedule{}, from, end); n != 0 || err != nil {
		t.Errorf("no timetable: %d, %v", n, err)
	}
}
