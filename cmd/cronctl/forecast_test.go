package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/forecast"
)

// Forecast counts the jobs that the fakes have, from a fixed night on.
func (f *fakes) Forecast(ctx context.Context, q common.JobQuery, _, _ time.Time, slots int) (*forecast.Forecast,
	int, error) {
	from := time.Date(2027, 3, 27, 22, 0, 0, 0, time.UTC) // the clocks of Berlin change at 01:00
	states, _, err := f.List(ctx, common.JobQuery{Group: q.Group, Limit: 500})
	if err != nil {
		return nil, 0, err
	}
	in, jobs := schedule.NewInterner(), []forecast.Job{}
	for i := range states {
		timetable, err := in.OfJob(&states[i].Job)
		if err != nil {
			return nil, 0, err
		}
		jobs = append(jobs, forecast.Job{Name: states[i].Name, Group: states[i].Group, Timetable: timetable,
			Slots: states[i].Slots})
	}
	found, err := forecast.Of(ctx, jobs, from, from.Add(6*time.Hour), slots)
	return found, 3, err
}

func TestForecast(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "seconds", "--cron", "30 2 * * *", "--timezone", "Europe/Berlin", "--",
		"true").want(t, exitOK)
	s.run("create", "job", "often", "--cron", "*/5 * 3 * * * *", "--timezone", "UTC", "--", "true").want(t, exitOK)
	out := s.run("forecast").want(t, exitOK, "HOUR", "FIRES", "█", "all", "3 paused jobs were not counted",
		"Peak minutes:", "often 12",
		"Europe/Berlin changes its clocks from 2027-03-28T02:00:00+01:00 to 2027-03-28T03:00:00+02:00; affected "+
			"jobs: 1 fire after the gap (seconds)").out
	// 03:00 of UTC, by the clock of who asks: that is in Tokyo.
	if !strings.Contains(out, "\n2027-03-28 12:00  720    "+strings.Repeat("█", barWidth)+"\n") ||
		!strings.Contains(out, "all               721\n") {
		t.Errorf("%s", out)
	}
	if minutes := s.run("forecast", "--by", "minute", "--to", "2h").want(t, exitOK,
		"MINUTE").out; strings.Count(strings.Split(minutes, "all ")[0], "\n") != 62 {
		t.Errorf("one line for each of 61 minutes, and a head:\n%s", minutes)
	}
	s.run("forecast", "-o", "json").want(t, exitOK, `"buckets"`, `"pileUps"`)
	if hours := s.run("forecast", "--timezone", "Asia/Kolkata").want(t, exitOK).out; !strings.Contains(hours,
		"\n2027-03-28 03:00 ") || !strings.Contains(hours, "\n2027-03-28 08:00  360 ") {
		t.Errorf("by the clocks of India:\n%s", hours)
	}
	s.run("forecast", "--timezone", "Mars").want(t, exitUsage, "time zone")
	s.run("forecast", "--to", "x").want(t, exitUsage)
	s.run("forecast", "--by", "day").want(t, exitUsage)
	s.run("forecast", "some").want(t, exitUsage)
}

// The worker has 8 slots.
func TestForecast_MoreFiresAtOneSecondThanSlots(t *testing.T) {
	s := newStage(t)
	for i := range 9 {
		s.run("create", "job", fmt.Sprintf("job-%d", i), "--cron", "0 23 * * *", "--timezone", "UTC", "--",
			"true").want(t, exitOK)
	}
	s.run("forecast").want(t, exitOK, "9 fires at :00, 8 slots: in 1 minute the fires of one second need more slots",
		"FULLEST SECOND", "9      9 fires at :00")
	s.run("create", "jobs", "-f", file(t, "large.yaml",
		"name: large\ncronExpr: 0 23 * * *\ntimezone: UTC\nslots: 3\ncommand: 'true'\n")).want(t, exitOK)
	s.run("forecast").want(t, exitOK, "10 fires at :00 for 12 slots, 8 slots: in 1 minute")
	s.run("delete", "job", "large", "job-0", "--yes").want(t, exitOK)
	if out := s.run("forecast").want(t, exitOK).out; strings.Contains(out, "slots") {
		t.Errorf("there are as many slots as fires:\n%s", out)
	}
}
