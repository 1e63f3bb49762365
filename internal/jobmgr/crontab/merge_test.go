package crontab

import (
	"slices"
	"strings"
	"testing"
)

func merged(t *testing.T, text string) []Entry {
	t.Helper()
	r := Parse(text, Options{Prefix: "web1", Timezone: "UTC"})
	if n := r.Count(Fault) + r.Count(NotTaken); n > 0 {
		t.Fatalf("%d lines were not read: %+v", n, r.Notices)
	}
	return Merge(r.Entries)
}

func TestMerge_LinesOfOneCommand_BecomeOneJob(t *testing.T) {
	all := merged(t, strings.Join([]string{
		"# working days",
		"*/10 8-18 * * 1-5 /opt/sync --all",
		"0 3 * * * /opt/backup",
		"CRON_TZ=Asia/Shanghai",
		"# every hour",
		"0 * * * * /opt/sync --all",
		"LANG=C",
		"30 * * * * /opt/sync --all",
		"",
	}, "\n"))
	if len(all) != 3 {
		t.Fatalf("%d jobs, want 3: %+v", len(all), all)
	}
	sync := all[0]
	if !slices.Equal(sync.Lines, []int{2, 6}) || sync.Job.CronExpr != "" || sync.Job.Timezone != "" ||
		len(sync.Job.Schedules) != 2 || sync.Job.Title != "" {
		t.Fatalf("%+v", sync)
	}
	first, second := sync.Job.Schedules[0], sync.Job.Schedules[1]
	if first.CronExpr != "*/10 8-18 * * 1-5" || first.Timezone != "UTC" || first.Label != "working days" ||
		second.Timezone != "Asia/Shanghai" || second.Label != "every hour" {
		t.Errorf("%+v, %+v", first, second)
	}
	if all[1].Job.CronExpr != "0 3 * * *" || len(all[1].Job.Schedules) > 0 || all[2].Job.CronExpr != "30 * * * *" {
		t.Errorf("a command of one line, and one with other settings: %+v, %+v", all[1], all[2])
	}
}

func TestMerge_AddedLine_IsTheSameJob(t *testing.T) {
	before := merged(t, "1 * * * * a\n2 * * * * a\n")
	after := merged(t, "0 0 * * * b\n3 * * * * a\n1 * * * * a\n2 * * * * a\n")
	namer := Namer{Imported: map[string]string{Key(before[0].Job.Labels): "a"}}
	if err := namer.Name(&after[1]); err != nil || !after[1].Imported || after[1].Job.Name != "a" {
		t.Errorf("%+v, %v, want the job that was imported before", after[1], err)
	}
}

func TestMerge_JobsOfSingleLines_AreSuperseded(t *testing.T) {
	single := Parse("1 * * * * a\n2 * * * * a\n3 * * * * a\n", Options{Prefix: "web1", Timezone: "UTC"}).Entries
	namer := Namer{Imported: map[string]string{}}
	for i := range single[:2] {
		namer.Imported[Key(single[i].Job.Labels)] = single[i].Job.Name
	}
	all := merged(t, "1 * * * * a\n2 * * * * a\n3 * * * * a\n")
	if err := namer.Name(&all[0]); err != nil || len(all) != 1 || all[0].Job.Name != single[0].Job.Name ||
		!slices.Equal(all[0].Superseded, []string{single[1].Job.Name}) {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestMerge_MoreLinesThanSchedules_BecomeTwoJobs(t *testing.T) {
	var lines strings.Builder
	for i := range 21 {
		lines.WriteString(strings.Repeat("1,", i) + "1 * * * * a\n")
	}
	all := merged(t, lines.String())
	if len(all) != 2 || len(all[0].Job.Schedules) != 20 || all[1].Job.CronExpr == "" {
		t.Errorf("%d jobs: %+v", len(all), all)
	}
}
