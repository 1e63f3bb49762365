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

func TestIntervalOf(t *testing.T) {
	in, at := NewInterner(), time.Date(2026, 6, 8, 9, 0, 0, 0, time.UTC)
	from := at.Add(-time.Hour)
	daily := common.Job{Name: "daily", CronExpr: "0 9 * * 1-5", Timezone: "UTC"}
	first := daily
	first.StartAt = &from
	for _, c := range []struct {
		name string
		job  common.Job
		fire string
		want *common.Interval
	}{
		{"a planned fire", daily, common.PlannedFire("u", at),
			&common.Interval{Start: at.Add(-72 * time.Hour), End: at}},
		{"the first fire", first, common.PlannedFire("u", at), &common.Interval{End: at}},
		{"a manual run", daily, common.TriggeredFire("u", "x"), nil},
		{"a job without a schedule", common.Job{Name: "none"}, common.PlannedFire("u", at), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := in.IntervalOf(&c.job, &common.Record{JobUID: "u", Fire: c.fire, PlannedAt: at})
			if (got == nil) != (c.want == nil) ||
				got != nil && !(got.Start.Equal(c.want.Start) && got.End.Equal(c.want.End)) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestIntervalOf_RunsOfFlowRuns(t *testing.T) {
	in, at := NewInterner(), time.Date(2026, 6, 8, 9, 0, 0, 0, time.UTC)
	daily := common.Job{Name: "daily", CronExpr: "0 9 * * 1-5", Timezone: "UTC"}
	of := common.FlowRun{Head: common.Head{Kind: common.KindFlow, Job: "etl", Run: "f.1", UID: "f",
		Interval: &common.Interval{Start: at.Add(-time.Hour), End: at}}}
	for name, c := range map[string]struct {
		record common.Record
		want   time.Time // start; zero: no interval
	}{
		"a date of a backfill": {common.Record{Job: "daily", Fire: common.PlannedFire("u", at), PlannedAt: at,
			Flow: &common.FlowNode{Kind: common.KindBackfill, Job: "daily@backfill", UID: "u"}},
			at.Add(-72 * time.Hour)},
		"an inline step": {common.Record{Job: "etl:load", Fire: common.NodeFire("f", "f.1", "load"), PlannedAt: at,
			Flow: of.Node("load", 1, "f")}, at.Add(-time.Hour)},
		"a job that a step runs": {common.Record{Job: "daily", Fire: common.NodeFire("u", "f.1", "report"),
			PlannedAt: at, Flow: of.Node("report", 1, "u")}, at.Add(-time.Hour)},
	} {
		got := in.IntervalOf(&daily, &c.record)
		if (got == nil) != c.want.IsZero() || got != nil && !(got.Start.Equal(c.want) && got.End.Equal(at)) {
			t.Errorf("%s: got %+v, want one from %v", name, got, c.want)
		}
	}
}
