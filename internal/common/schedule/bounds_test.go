package schedule

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common"
)

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		name, expr, from, to, after string
		want                        string // the fires, up to five
	}{
		{"no bounds", "0 * * * *", "", "", "2026-03-01T10:00:00Z", "11:00:00 12:00:00 13:00:00 14:00:00 15:00:00"},
		{"a start that is a fire", "0 * * * *", "2026-03-01T12:00:00Z", "", "2026-03-01T10:00:00Z",
			"12:00:00 13:00:00 14:00:00 15:00:00 16:00:00"},
		{"a start in between", "0 * * * *", "2026-03-01T12:00:00.000000001Z", "", "2026-03-01T10:00:00Z",
			"13:00:00 14:00:00 15:00:00 16:00:00 17:00:00"},
		{"a start that is over", "0 * * * *", "2026-03-01T09:00:00Z", "", "2026-03-01T14:00:00Z",
			"15:00:00 16:00:00 17:00:00 18:00:00 19:00:00"},
		{"an end that is a fire", "0 * * * *", "", "2026-03-01T12:00:00Z", "2026-03-01T10:00:00Z", "11:00:00 12:00:00"},
		{"an end in between", "0 * * * *", "", "2026-03-01T11:59:59Z", "2026-03-01T10:00:00Z", "11:00:00"},
		{"an end that is over", "0 * * * *", "", "2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z", ""},
		{"a single instant", "0 * * * *", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z", "2026-03-01T10:00:00Z",
			"12:00:00"},
		{"every, from its start", "@every 90m", "2026-03-01T12:10:00Z", "", "2026-03-01T10:00:00Z",
			"12:10:00 13:40:00 15:10:00 16:40:00 18:10:00"},
		{"every, in step with its start", "@every 90m", "2026-03-01T07:10:00Z", "", "2026-03-01T10:15:00Z",
			"11:40:00 13:10:00 14:40:00 16:10:00 17:40:00"},
		{"every, right after a fire", "@every 90m", "2026-03-01T07:10:00Z", "2026-03-01T13:10:00Z",
			"2026-03-01T10:10:00Z", "11:40:00 13:10:00"},
		{"every, right before a fire", "@every 90m", "2026-03-01T07:10:00Z", "2026-03-01T11:40:00Z",
			"2026-03-01T10:09:59.999999999Z", "10:10:00 11:40:00"},
		{"every, with an end alone", "@every 90m", "", "2026-03-01T13:00:00Z", "2026-03-01T10:00:00Z",
			"11:30:00 13:00:00"},
		{"at, inside", "@at 2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z",
			"2026-03-01T10:00:00Z", "12:00:00"},
		{"at, before the start", "@at 2026-03-01T12:00:00Z", "2026-03-01T12:00:01Z", "", "2026-03-01T10:00:00Z", ""},
		{"at, after the end", "@at 2026-03-01T12:00:00Z", "", "2026-03-01T11:59:59Z", "2026-03-01T10:00:00Z", ""},
	} {
		s, err := NewInterner().Parse(Spec{Expr: c.expr, Zone: "UTC", From: instant(t, c.from), To: instant(t, c.to)})
		if err != nil {
			t.Fatal(err)
		}
		fires, _ := s.Preview(instant(t, c.after), 5)
		var got []string
		for _, f := range fires {
			got = append(got, f.Format("15:04:05.999999999"))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// With bounds a schedule has the same fires as without them, as far as they lie between the bounds.
func TestBounds_OnlyRemoveFires(t *testing.T) {
	in := NewInterner()
	base := time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		spec := Spec{
			Expr: rapid.SampledFrom([]string{"*/7 * * * *", "30 2 * * *", "0 9 * * MON", "@at 2026-03-08T07:00:00Z"}).
				Draw(t, "expr"),
			Zone: "America/New_York",
		}
		whole, err := in.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		draw := func(name string) time.Time {
			return base.Add(time.Duration(rapid.Int64Range(0, 3*86400).Draw(t, name)) * time.Second)
		}
		spec.From, spec.To = draw("from"), draw("to")
		part, err := in.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		after := draw("after")
		all, _ := whole.Preview(after, 1000)
		want := slices.DeleteFunc(all, func(f time.Time) bool { return f.Before(spec.From) || f.After(spec.To) })
		if got, _ := part.Preview(after, 1000); !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestAtFiresOnce(t *testing.T) {
	at := instant(t, "2026-12-01T01:00:00Z")
	s := parse(t, "@at 2026-12-01T09:00:00+08:00", "Asia/Shanghai")
	fires, _ := s.Preview(at.Add(-time.Hour), 10)
	if len(fires) != 1 || !fires[0].Equal(at) {
		t.Fatalf("fires %v", fires)
	}
	for _, after := range []time.Time{at, at.Add(1), at.Add(time.Hour), latest} {
		if next, ok, err := s.Next(after); ok || err != nil {
			t.Errorf("again at %v, %v", next, err)
		}
	}
	if count, last, err := s.Passed(at.Add(-1), latest, 100); count != 1 || !last.Equal(at) || err != nil {
		t.Errorf("passed %d, the last at %v, %v", count, last, err)
	}
}

func TestBoundsOfAJob(t *testing.T) {
	start, end := instant(t, "2026-03-01T12:00:00Z"), instant(t, "2026-03-01T13:00:00Z")
	s, err := NewInterner().OfJob(&common.Job{
		CronExpr: "@every 30m",
		Timezone: "Asia/Tokyo",
		StartAt:  &start,
		EndAt:    &end,
	})
	if err != nil {
		t.Fatal(err)
	}
	long := start.Add(-time.Hour)
	if count, last, err := s.Passed(long, end.Add(time.Hour), 100); count != 3 || !last.Equal(end) || err != nil {
		t.Errorf("passed %d, the last at %v, %v", count, last, err)
	}
	if next, ok, err := s.Upcoming(long, start.Add(time.Minute)); !ok || err != nil ||
		next.Format(time.RFC3339) != "2026-03-01T21:30:00+09:00" {
		t.Errorf("upcoming %v, %v, %v", next, ok, err)
	}
	if next, ok, err := s.Upcoming(long, long); !ok || err != nil || !next.Equal(start) {
		t.Errorf("upcoming %v, %v, %v", next, ok, err)
	}
	if next, ok, err := s.Upcoming(long, end); ok || err != nil {
		t.Errorf("upcoming %v, %v", next, err)
	}
}

func TestParseNew_EndInThePast_IsRejected(t *testing.T) {
	now := instant(t, "2026-03-01T12:00:00Z")
	for _, c := range []struct{ name, expr, from, to, field, text string }{
		{"the end is over", "0 * * * *", "", "2026-03-01T11:00:00Z", FieldEnd, "2026-03-01T12:00:00+01:00 is over"},
		{"the end is now", "@every 1m", "", "2026-03-01T12:00:00Z", FieldEnd, "2026-03-01T13:00:00+01:00 is over"},
		{"no fire left before the end", "0 0 * * *", "", "2026-03-01T22:00:00Z", FieldExpression,
			"after 2026-03-01T13:00:00+01:00, up to 2026-03-01T23:00:00+01:00"},
		{"no fire after the start", "0 0 1 1 * 2027", "2027-06-01T00:00:00Z", "", FieldExpression,
			"from 2027-06-01T02:00:00+02:00 on"},
		{"no fire in between", "0 0 1 1 *", "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z", FieldExpression,
			"from 2026-06-01T02:00:00+02:00 on, up to 2026-07-01T02:00:00+02:00"},
		{"no bounds", "0 0 1 1 * 2025", "", "", FieldExpression, "after 2026-03-01T13:00:00+01:00"},
	} {
		spec := Spec{Expr: c.expr, Zone: "Europe/Berlin", From: instant(t, c.from), To: instant(t, c.to)}
		_, err := NewInterner().ParseNew(spec, now)
		refusal, ok := errors.AsType[*Error](err)
		if !ok || refusal.Code != CodePast || refusal.Field != c.field || !strings.Contains(refusal.Message, c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := NewInterner().Parse(spec); err != nil {
			t.Errorf("%s: a stored job is broken by it: %v", c.name, err)
		}
	}
	if _, err := NewInterner().ParseNew(Spec{
		Expr: "@daily",
		Zone: "UTC",
		From: now.AddDate(1, 0, 0),
	}, now); err != nil {
		t.Errorf("a start in the future: %v", err)
	}
}

// Passed, by division, returns the same as repeated calls of Next.
func TestPassed_Every_EqualsStepping(t *testing.T) {
	in := NewInterner()
	base := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) time.Time {
			return base.Add(time.Duration(rapid.Int64Range(0, 7200_000).Draw(t, name)) * time.Millisecond)
		}
		spec := Spec{
			Expr: rapid.SampledFrom([]string{"@every 1s", "@every 90s", "@every 1h1ms"}).Draw(t, "expr"),
			Zone: "UTC",
		}
		if rapid.Bool().Draw(t, "starts") {
			spec.From = draw("start")
		}
		if rapid.Bool().Draw(t, "ends") {
			spec.To = draw("end")
		}
		s, err := in.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		from, to, most := draw("from"), draw("to"), rapid.Int64Range(0, 50).Draw(t, "most")
		var count int64
		var last time.Time
		for at := from; count < most; count++ {
			next, ok, err := s.Next(at)
			if err != nil {
				t.Fatal(err)
			}
			if !ok || next.After(to) {
				break
			}
			at, last = next, next
		}
		if n, l, err := s.Passed(from, to, most); n != count || !l.Equal(last) || err != nil {
			t.Fatalf("passed %d, the last at %v, %v; stepping says %d, %v", n, l, err, count, last)
		}
	})
	s := parse(t, "@every 1s", "UTC")
	if n, last, err := s.Passed(base, base.AddDate(50, 0, 0),
		1<<62); n != int64(base.AddDate(50, 0, 0).Sub(base)/time.Second) || !last.Equal(base.AddDate(50, 0, 0)) ||
		err != nil {
		t.Errorf("fifty years of seconds: %d, %v, %v", n, last, err)
	}
}
