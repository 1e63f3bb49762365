package conformance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

func filters(t *testing.T, s Store, size Size) {
	all := anyRuns(size.pick(400, 120))
	write(t, s, runlog.Batch{Runs: all})

	ctx := t.Context()
	check := func(t rapid.TB, q runlog.Query) {
		got, err := listed(ctx, s, q)
		if err != nil {
			t.Fatalf("list %+v: %v", q, err)
		}
		want := naive(all, q)
		if !slices.EqualFunc(got, want, func(a, b common.Run) bool { return a.ID == b.ID }) {
			t.Fatalf("list %+v:\ngot  %s\nwant %s", q, ids(got), ids(want))
		}
	}
	for _, q := range []runlog.Query{
		{}, {Limit: 1}, {Job: "backup"}, {JobUID: "u2"}, {Group: "ops"}, {Fire: "u1.1"}, {Fire: "u1.1/"},
		{Fire: all[3].ID}, // a run that is not a gap entry
		{Worker: "w1"}, {Cause: common.CauseManual},
		{Statuses: outcomes()}, {Statuses: []common.Status{common.StatusFailed}},
		{Statuses: []common.Status{common.StatusFailed, common.StatusFailed, common.StatusRunning}},
		{Statuses: []common.Status{common.StatusRunning}}, {Statuses: []common.Status{"no such"}},
		{From: moment(4)}, {To: moment(4)}, {From: moment(4), To: moment(5)}, {From: moment(5), To: moment(4)},
		{Job: "\xff"}, {Worker: "w1' OR '1'='1"}, {Job: "$ne"}, {Job: "REPORT"}, {Job: "report%"},
		{Before: &runlog.Position{PlannedAt: base.Add(-time.Hour)}},
		{Before: &runlog.Position{PlannedAt: base.Add(99 * time.Hour)}},
		{Before: &runlog.Position{PlannedAt: moment(4), ID: "\xff"}, Job: "none"},
		{ExitCode: new(0)}, {ExitCode: new(3)}, {ExitCode: new(3), Limit: 2}, {ExitCode: new(-1)},
		{ExitCode: new(1 << 40)},
		{Text: "REP"}, {Text: "report-2"}, {Text: "disk full"}, {Text: "ärger"}, {Text: "ÄRGER"}, {Text: "ARGER"},
		{Text: "每"}, {Text: "u1.1"},
		{Text: "\u212a"}, {Text: "%"}, {Text: "_"}, {Text: "a.b"}, {Text: ".*"}, {Text: "\\"}, {Text: "' OR ''='"},
		{Text: "\xff"}, {Text: "\x00"},
		{Text: "disk", FoundBy: jobOf}, {Text: "BACKUP", FoundBy: jobOf}, {
			Text:     "disk",
			FoundBy:  jobOf,
			Limit:    2,
			ExitCode: new(3),
		},
		{Oldest: true}, {Limit: 1, Oldest: true}, {
			Job:    "backup",
			From:   moment(4),
			Limit:  1,
			Oldest: true,
		}, {From: moment(4), To: moment(5), Oldest: true}, {Fire: "u1.1", Oldest: true},
		{
			Before: &runlog.Position{PlannedAt: base.Add(-time.Hour)},
			Oldest: true,
		}, {Before: &runlog.Position{PlannedAt: base.Add(99 * time.Hour)}, Oldest: true},
		{Before: new(runlog.PositionOf(&all[3])), From: moment(2), Oldest: true},
		{
			Statuses: []common.Status{common.StatusFailed, common.StatusKilled},
			Limit:    5,
			Oldest:   true,
		}, {Text: "disk", Limit: 3, Oldest: true},
		{Text: "north", Limit: 3}, {Text: "not in any run", Limit: 3}, {Text: "disk", Job: "backup", ExitCode: new(3)},
	} {
		check(t, q)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, runlog.Query{
			Job:      maybe(t, "job", append(jobs, "none")),
			JobUID:   maybe(t, "uid", uids),
			Group:    maybe(t, "group", groups),
			Fire:     maybe(t, "fire", append(fires, "u9.1")),
			Worker:   maybe(t, "worker", workers),
			Cause:    common.Cause(maybe(t, "cause", []string{"cron", "manual", "retry"})),
			Statuses: rapid.SliceOfN(rapid.SampledFrom(common.Statuses[:]), 0, 4).Draw(t, "statuses"),
			ExitCode: maybeExit(t),
			Text:     maybe(t, "text", []string{"Disk", "NORTH", "每晚", "b", ".1", "none such"}),
			From:     maybeMoment(t, "from"),
			To:       maybeMoment(t, "to"),
			Before:   maybePlace(t, all),
			Limit:    rapid.IntRange(0, 20).Draw(t, "limit"),
			Oldest:   rapid.Bool().Draw(t, "oldest"),
		})
	})
}

// jobOf returns the only field that some callers may search in.
func jobOf(r *common.Run) string { return r.Job }

// maybe draws a value, or, four times out of five, none: so that lists are not empty.
func maybe(t *rapid.T, name string, values []string) string {
	if rapid.IntRange(0, 4).Draw(t, name+"?") != 0 {
		return ""
	}
	return rapid.SampledFrom(values).Draw(t, name)
}

func maybeExit(t *rapid.T) *int {
	if rapid.IntRange(0, 4).Draw(t, "exit?") != 0 {
		return nil
	}
	return new(rapid.SampledFrom(exits).Draw(t, "exit"))
}

func maybeMoment(t *rapid.T, name string) time.Time {
	if rapid.IntRange(0, 3).Draw(t, name+"?") != 0 {
		return time.Time{}
	}
	return moment(rapid.IntRange(0, moments-1).Draw(t, name))
}

func maybePlace(t *rapid.T, all []common.Run) *runlog.Position {
	if !rapid.Bool().Draw(t, "before?") {
		return nil
	}
	return new(runlog.PositionOf(&all[rapid.IntRange(0, len(all)-1).Draw(t, "before")]))
}

// rare checks that a rare run among very many is found, however often the list ends early on the way.
func rare(t *testing.T, s Store, size Size) {
	const batch = 2000
	count := size.pick(12*batch, 150)
	oldest := ended("rare.1", base.Add(-time.Hour))
	oldest.Job, oldest.JobUID, oldest.Group, oldest.Worker, oldest.ExitCode = "backup", "u2", "ops", "w2", new(3)
	oldest.Status, oldest.Cause, oldest.Note = common.StatusFailed, common.CauseManual, "the Needle"
	newer := oldest
	newer.ID, newer.PlannedAt = "rare.2", base.Add(time.Duration(count/3))
	write(t, s, runlog.Batch{Runs: []common.Run{oldest, newer}})
	for part := range slices.Chunk(hay(count), batch) {
		write(t, s, runlog.Batch{Runs: part})
	}
	for _, q := range []runlog.Query{
		{Text: "needle"}, {JobUID: "u2"}, {Group: "ops"}, {ExitCode: new(3)}, {Cause: common.CauseManual},
		{Job: "backup"}, {Worker: "w2"},
		{Statuses: []common.Status{common.StatusFailed}, Text: "needle"}, {Job: "backup", Text: "NEEDLE", Group: "ops"},
		{Text: "needle", From: base.Add(-time.Hour), To: base.Add(time.Hour)},
		{ExitCode: new(3), Cause: common.CauseManual, Group: "ops", JobUID: "u2"},
	} {
		for _, limit := range []int{2, 50} {
			q.Limit = limit
			for _, want := range [][]common.Run{{newer, oldest}, {oldest, newer}} {
				got, err := listed(t.Context(), s, q)
				if err != nil {
					t.Fatalf("list %+v: %v", q, err)
				}
				same(t, fmt.Sprintf("list %+v", q), got, want)
				q.Oldest = true
			}
			q.Oldest = false
		}
	}
}

// hay returns runs without a match.
func hay(n int) []common.Run {
	runs := make([]common.Run, n)
	for i := range runs {
		runs[i] = ended(fmt.Sprintf("u1.%06d", i), base.Add(time.Duration(i)))
		runs[i].Group, runs[i].Worker, runs[i].ExitCode = "data", "w1", new(0)
	}
	return runs
}
