package schedule

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestPrevious(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, expr, zone, from, to string
		at, want                   string // want empty: none
	}{
		{"daily", "30 2 * * *", "UTC", "", "", "2026-06-05T02:30:00Z", "2026-06-04T02:30:00Z"},
		{"between two fires", "30 2 * * *", "UTC", "", "", "2026-06-05T02:30:00.5Z", "2026-06-05T02:30:00Z"},
		{"working days", "0 9 * * 1-5", "UTC", "", "", "2026-06-08T09:00:00Z", "2026-06-05T09:00:00Z"},
		{"after a pause of the line", "0-5 3 * * *", "UTC", "", "", "2026-06-05T03:00:00Z", "2026-06-04T03:05:00Z"},
		{"each second", "* * * * * * *", "UTC", "", "", "2026-06-05T03:00:00Z", "2026-06-05T02:59:59Z"},
		{"leap days", "0 0 29 2 *", "UTC", "", "", "2104-01-01T00:00:00Z", "2096-02-29T00:00:00Z"},
		{"the gap of a night", "30 2 * * *", "Europe/Berlin", "", "", "2026-03-30T02:30:00+02:00",
			"2026-03-29T03:00:00+02:00"},
		{"the overlap of a night", "30 2 * * *", "Europe/Berlin", "", "", "2026-10-26T02:30:00+01:00",
			"2026-10-25T02:30:00+02:00"},
		{"none before the first year", "0 0 1 1 * 2020", "UTC", "", "", "2020-01-01T00:00:00Z", ""},
		{"none before the start", "0 0 * * *", "UTC", "2026-06-05T00:00:00Z", "", "2026-06-05T00:00:00Z", ""},
		{"after the end", "0 0 * * *", "UTC", "", "2026-06-05T12:00:00Z", "2026-07-05T00:00:00Z",
			"2026-06-05T00:00:00Z"},
		{"a period", "@every 90s", "UTC", "", "", "2026-06-05T00:01:30Z", "2026-06-05T00:00:00Z"},
		{"a period from a start", "@every 90s", "UTC", "2026-06-05T00:00:00Z", "", "2026-06-05T00:04:00Z",
			"2026-06-05T00:03:00Z"},
		{"the start of a period", "@every 90s", "UTC", "2026-06-05T00:00:00Z", "", "2026-06-05T00:01:30Z",
			"2026-06-05T00:00:00Z"},
		{"before the start of a period", "@every 90s", "UTC", "2026-06-05T00:00:00Z", "", "2026-06-05T00:00:00Z", ""},
		{"a period after its end", "@every 90s", "UTC", "2026-06-05T00:00:00Z", "2026-06-05T00:02:00Z",
			"2026-06-06T00:00:00Z", "2026-06-05T00:01:30Z"},
		{"once", "@at 2026-06-05T00:00:00Z", "UTC", "", "", "2026-06-06T00:00:00Z", "2026-06-05T00:00:00Z"},
		{"nothing before once", "@at 2026-06-05T00:00:00Z", "UTC", "", "", "2026-06-05T00:00:00Z", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := NewInterner().Parse(Spec{Expr: c.expr, Zone: c.zone, From: instant(t, c.from),
				To: instant(t, c.to)})
			if err != nil {
				t.Fatal(err)
			}
			got, ok, err := s.Previous(instant(t, c.at))
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.want == "" && ok:
				t.Errorf("Previous(%s) = %v, want none", c.at, got)
			case c.want != "" && (!ok || !got.Equal(instant(t, c.want))):
				t.Errorf("Previous(%s) = %v, %v, want %s", c.at, got, ok, c.want)
			}
		})
	}
	if _, ok, err := (Schedule{}).Previous(time.Now()); ok || err != nil {
		t.Error("the zero schedule has no fire")
	}
}

// Previous is the inverse of Next, at random instants near changes of the clock.
func TestPreviousInvertsNext(t *testing.T) {
	t.Parallel()
	in, changes := NewInterner(), sampleChanges(t)
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SampledFrom(changes).Draw(rt, "change")
		l := drawLine(rt, rapid.Bool().Draw(rt, "seconds"))
		s, err := in.Parse(Spec{Expr: l.text, Zone: c.zone, Rules: rapid.SampledFrom(allRules).Draw(rt, "rules")})
		if err != nil {
			return // never
		}
		at := time.Unix(c.at+rapid.Int64Range(-200*86400, 90*86400).Draw(rt, "seconds off"),
			rapid.Int64Range(0, 999_999_999).Draw(rt, "nanoseconds"))
		for range 3 {
			fire, ok, err := s.Next(at)
			if err != nil || !ok {
				return
			}
			following, ok, err := s.Next(fire)
			if err != nil || !ok {
				return
			}
			for _, from := range []time.Time{fire.Add(1), following} {
				if got, ok, err := s.Previous(from); err != nil || !ok || !got.Equal(fire) {
					rt.Fatalf("%q in %s: Previous(%v) = %v, %v, %v; want %v", l.text, c.zone, from, got, ok, err,
						fire)
				}
			}
			if before, ok, _ := s.Previous(fire); ok && before.After(at) {
				rt.Fatalf("%q in %s: Previous(%v) = %v, but the first fire after %v is %v", l.text, c.zone, fire,
					before, at, fire)
			}
			at = following
		}
	})
}

func BenchmarkPrevious(b *testing.B) {
	for _, expr := range []string{"*/5 * * * *", "30 2 * * 1-5", "0-5 3 * * *", "0 0 29 2 *"} {
		s, err := NewInterner().Parse(Spec{Expr: expr, Zone: "Europe/Berlin"})
		if err != nil {
			b.Fatal(err)
		}
		at, _, _ := s.Next(time.Date(2026, 6, 5, 0, 0, 0, 0, time.UTC))
		b.Run(expr, func(b *testing.B) {
			for b.Loop() {
				if _, ok, err := s.Previous(at); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}
