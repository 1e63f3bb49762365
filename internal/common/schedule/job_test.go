package schedule

import (
	"testing"
	"time"

	"carillon/internal/common"
)

func TestUpcoming(t *testing.T) {
	in := NewInterner()
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for _, c := range []struct{ line, cursor, now, want string }{
		{"0 * * * *", "2026-03-01T10:00:00Z", "2026-03-01T12:30:00Z", "2026-03-01T13:00:00Z"},
		{"0 * * * *", "2026-03-01T13:00:00Z", "2026-03-01T12:59:59Z", "2026-03-01T14:00:00Z"},
		{"@every 90s", "2026-03-01T10:00:10Z", "2026-03-01T10:05:00Z", "2026-03-01T10:06:10Z"},
		{"@every 90s", "2026-03-01T10:00:10Z", "2026-03-01T10:01:40Z", "2026-03-01T10:03:10Z"},
		{"@every 90s", "2026-03-01T10:00:10Z", "2026-03-01T10:00:00Z", "2026-03-01T10:01:40Z"},
	} {
		s, err := in.OfJob(&common.Job{CronExpr: c.line, Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		got, ok, err := s.Upcoming(at(c.cursor), at(c.now))
		if err != nil || !ok || !got.Equal(at(c.want)) {
			t.Errorf("%s from %s at %s: %v, %v, %v; want %s", c.line, c.cursor, c.now, got, ok, err, c.want)
		}
	}
	if _, ok, err := (Schedule{}).Upcoming(at("2026-03-01T10:00:00Z"), at("2026-03-01T10:00:00Z")); ok || err != nil {
		t.Errorf("no timetable: %v, %v", ok, err)
	}
}

func TestPassed(t *testing.T) {
	s, err := NewInterner().OfJob(&common.Job{CronExpr: "*/10 * * * *", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		to    time.Duration
		most  int64
		count int64
		last  time.Duration
	}{
		{9 * time.Minute, 100, 0, 0},
		{10 * time.Minute, 100, 1, 10 * time.Minute},
		{59 * time.Minute, 100, 5, 50 * time.Minute},
		{24 * time.Hour, 7, 7, 70 * time.Minute},
	} {
		count, last, err := s.Passed(from, from.Add(c.to), c.most)
		if err != nil || count != c.count || count > 0 && !last.Equal(from.Add(c.last)) {
			t.Errorf("up to %v: %d, %v, %v; want %d, %v", c.to, count, last, err, c.count, c.last)
		}
	}
}
