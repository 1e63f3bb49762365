package schedule

import (
	"slices"
	"testing"
	"time"
	"unsafe"
)

func TestNextAtClockChanges(t *testing.T) {
	for _, c := range []struct {
		name, expr, zone string
		rules            Rules
		after            string
		want             []string
	}{
		{"gap: first instant after it", "30 2 * * *", "America/New_York", Rules{}, "2026-03-07T12:00:00-05:00",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"}},
		{"gap: several fire once", "*/15 2 * * *", "America/New_York", Rules{}, "2026-03-07T12:00:00-05:00",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"}},
		{"gap: together with a real fire", "30 2,3 * * *", "America/New_York", Rules{}, "2026-03-07T12:00:00-05:00",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-08T03:30:00-04:00", "2026-03-09T02:30:00-04:00"}},
		{"gap: coincides with a real fire", "0 2,3 * * *", "America/New_York", Rules{}, "2026-03-07T12:00:00-05:00",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"}},
		{"gap: skip", "30 2 * * *", "America/New_York", Rules{Gap: GapSkip}, "2026-03-07T12:00:00-05:00",
			[]string{"2026-03-09T02:30:00-04:00"}},
		{"gap: all hours follow real time", "0 * * * *", "America/New_York", Rules{}, "2026-03-08T00:30:00-05:00",
			[]string{"2026-03-08T01:00:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-08T04:00:00-04:00"}},
		{"overlap: first", "30 1 * * *", "America/New_York", Rules{}, "2026-10-31T12:00:00-04:00",
			[]string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"}},
		{"overlap: second", "30 1 * * *", "America/New_York", Rules{Overlap: OverlapSecond},
			"2026-10-31T12:00:00-04:00",
			[]string{"2026-11-01T01:30:00-05:00", "2026-11-02T01:30:00-05:00"}},
		{"overlap: second, yearly, from far away", "30 1 1 11 *", "America/New_York", Rules{Overlap: OverlapSecond},
			"2026-08-01T00:00:00-04:00",
			[]string{"2026-11-01T01:30:00-05:00", "2027-11-01T01:30:00-04:00"}},
		{"overlap: both", "30 1 * * *", "America/New_York", Rules{Overlap: OverlapBoth}, "2026-10-31T12:00:00-04:00",
			[]string{"2026-11-01T01:30:00-04:00", "2026-11-01T01:30:00-05:00", "2026-11-02T01:30:00-05:00"}},
		{"overlap: all hours go on", "0 * * * *", "America/New_York", Rules{}, "2026-11-01T00:30:00-04:00",
			[]string{"2026-11-01T01:00:00-04:00", "2026-11-01T01:00:00-05:00", "2026-11-01T02:00:00-05:00"}},
		{"overlap: a period of minutes", "*/30 0-2 * * *", "America/New_York", Rules{}, "2026-11-01T00:30:00-04:00",
			[]string{"2026-11-01T01:00:00-04:00", "2026-11-01T01:30:00-04:00", "2026-11-01T01:00:00-05:00",
				"2026-11-01T01:30:00-05:00", "2026-11-01T02:00:00-05:00"}},
		{"overlap: a period of hours", "30 */1,1 1-30 * *", "America/New_York", Rules{}, "2026-11-01T00:30:00-04:00",
			[]string{"2026-11-01T01:30:00-04:00", "2026-11-01T01:30:00-05:00"}},
		{"overlap: a period by H", "H/30 1 * * *", "America/New_York", Rules{}, "2026-11-01T01:15:00-04:00",
			[]string{"2026-11-01T01:41:00-04:00", "2026-11-01T01:11:00-05:00"}},
		{"overlap: the minutes of a period as a list", "0,30 0-2 * * *", "America/New_York", Rules{},
			"2026-11-01T00:30:00-04:00", []string{"2026-11-01T01:00:00-04:00", "2026-11-01T01:30:00-04:00",
				"2026-11-01T02:00:00-05:00"}},
		{"overlap: a period, the first pass only", "*/30 0-2 * * *", "America/New_York", Rules{Overlap: OverlapFirst},
			"2026-11-01T00:30:00-04:00", []string{"2026-11-01T01:00:00-04:00", "2026-11-01T01:30:00-04:00",
				"2026-11-01T02:00:00-05:00"}},
		{"overlap: a period, the second pass only", "*/30 0-2 * * *", "America/New_York", Rules{Overlap: OverlapSecond},
			"2026-11-01T00:30:00-04:00", []string{"2026-11-01T01:00:00-05:00", "2026-11-01T01:30:00-05:00",
				"2026-11-01T02:00:00-05:00"}},
		{"half an hour", "15 2 * * *", "Australia/Lord_Howe", Rules{}, "2026-10-03T12:00:00+10:30",
			[]string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"two hours", "30 1 * * *", "Antarctica/Troll", Rules{}, "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T01:30:00+02:00"}},
		{"midnight", "0 0 * * *", "America/Havana", Rules{}, "2026-03-07T12:00:00-05:00",
			[]string{"2026-03-08T01:00:00-04:00", "2026-03-09T00:00:00-04:00"}},
		{"a whole day does not exist", "0 9 * * *", "Pacific/Apia", Rules{}, "2011-12-28T12:00:00-10:00",
			[]string{"2011-12-29T09:00:00-10:00", "2011-12-31T09:00:00+14:00"}},
		{"an offset with seconds", "30 0 7 1 *", "Africa/Monrovia", Rules{}, "1972-01-06T12:00:00-00:44",
			[]string{"1972-01-07T00:44:30Z"}},
		{"last day of a leap year", "0 0 31 12 *", "America/New_York", Rules{}, "2040-12-30T23:59:59-05:00",
			[]string{"2040-12-31T00:00:00-05:00", "2041-12-31T00:00:00-05:00"}},
		{"last day of a leap year comes once", "0 0 31 12 *", "Australia/Sydney", Rules{Overlap: OverlapSecond},
			"2040-12-30T12:00:00+11:00",
			[]string{"2040-12-31T00:00:00+11:00", "2041-12-31T00:00:00+11:00"}},
	} {
		s, err := NewInterner().Parse(Spec{Expr: c.expr, Zone: c.zone, Rules: c.rules})
		if err != nil {
			t.Fatal(err)
		}
		after, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		fires, _ := s.Preview(after, len(c.want))
		var got []string
		for _, f := range fires {
			got = append(got, f.Format(time.RFC3339))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// The engine alone, used with a zone, returns the same hour forever here.
func TestNext_HourlyInSpring_Fires23Times(t *testing.T) {
	s := parse(t, "0 * * * *", "America/New_York")
	at, n := time.Date(2026, 3, 8, 4, 59, 0, 0, time.UTC), 0
	for ; n < 100; n++ {
		next, ok, err := s.Next(at)
		if err != nil || !ok {
			t.Fatal(err)
		}
		if at = next; at.Day() != 8 {
			break
		}
	}
	if n != 23 {
		t.Errorf("got %d fires on the day", n)
	}
}

func TestNext_NoFireLeft_ReportsNone(t *testing.T) {
	for expr, after := range map[string]time.Time{
		"0 0 1 1 * 2027":           time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
		"@at 2026-12-01T09:00:00Z": time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC),
		"* * * * *":                time.Date(2099, 12, 31, 23, 59, 0, 0, time.UTC),
		"0 0 29 2 *":               time.Date(2096, 2, 29, 0, 0, 0, 0, time.UTC),
		"@every 1h":                time.Date(2099, 12, 31, 23, 59, 0, 0, time.UTC),
	} {
		if next, ok, err := parse(t, expr, "UTC").Next(after); ok || err != nil {
			t.Errorf("%s: got %v %v", expr, next, err)
		}
		if _, ok, err := parse(t, expr, "UTC").Next(after.Add(-time.Second)); expr[0] != '@' && (!ok || err != nil) {
			t.Errorf("%s: nothing a second earlier: %v", expr, err)
		}
	}
	far := time.Unix(1<<60, 0)
	if _, ok, _ := parse(t, "* * * * *", "America/New_York").Next(far); ok {
		t.Error("a fire in the far future")
	}
	if next, ok, _ := parse(t, "@yearly", "America/New_York").Next(time.Time{}); !ok || next.Year() != 1970 {
		t.Errorf("from the zero time: %v", next)
	}
}

func TestEveryAndAt(t *testing.T) {
	after := time.Date(2026, 3, 8, 6, 30, 0, 123, time.UTC)
	next, ok, err := parse(t, "@every 90m", "America/New_York").Next(after)
	if err != nil || !ok || !next.Equal(after.Add(90*time.Minute)) || next.Location().String() != "America/New_York" {
		t.Errorf("@every: got %v", next)
	}
	at := parse(t, "@at 2026-12-01T09:00:00+08:00", "Asia/Shanghai")
	if next, ok, _ := at.Next(after); !ok || next.Format(time.RFC3339) != "2026-12-01T09:00:00+08:00" {
		t.Errorf("@at: got %v", next)
	}
}

func TestScheduleIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Schedule{}); size > 24 {
		t.Errorf("a Schedule has %d bytes; a million jobs hold one", size)
	}
	if _, ok, err := (Schedule{}).Next(time.Now()); ok || err != nil || !(Schedule{}).IsZero() {
		t.Error("the zero Schedule fires")
	}
}

func TestEnginePanic_ReturnsAnError(t *testing.T) {
	s := parse(t, "0 0 * * *", "UTC")
	s.expr.mu.Lock()
	s.expr.engine, s.expr.count = nil, 0
	s.expr.mu.Unlock()
	after := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, ok, err := s.Next(after); ok || err == nil {
		t.Error("a panic of the engine is not reported")
	}
	if _, ok, err := s.Next(after); ok || err == nil {
		t.Error("the second question hangs or forgets")
	}
	if _, err := engineParse("not a line"); err == nil {
		t.Error("the engine's refusal is swallowed")
	}
}
