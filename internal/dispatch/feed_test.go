package dispatch

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

func TestFeed(t *testing.T) {
	feed := NewFeed(schedule.NewInterner(), slog.New(slog.DiscardHandler))
	cursor := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	state := func(name, expr string, grace common.Duration) common.JobState {
		return common.JobState{Version: 5, Cursor: cursor, StoredJob: common.StoredJob{UID: "uid-" + name,
			Job: common.Job{Name: name, Group: "g", CronExpr: expr, Timezone: "UTC", KillGrace: grace}}}
	}
	news := feed.Jobs(true, []common.JobState{state("a", "* * * * *", ""), state("broken", "* * *", ""),
		state("b", "*/1 * * * *", "10s"),
		state("manual", "", "5s")}, []string{"gone"}, []string{"bad"})
	if !news.Whole || !slices.Equal(news.Gone, []string{"gone", "bad", "broken"}) || len(news.Put) != 3 {
		t.Fatalf("news %+v", news)
	}
	a, b, manual := news.Put[0], news.Put[1], news.Put[2]
	if a.Name != "a" || a.UID != "uid-a" || a.Group != "g" || a.Version != 5 || !a.Cursor.Equal(cursor) {
		t.Fatalf("job %+v", a)
	}
	if a.Terms != b.Terms || a.Terms == manual.Terms || a.Terms.KillGrace != common.DefaultKillGrace ||
		manual.Terms.KillGrace != 5*time.Second {
		t.Fatalf("terms %+v, %+v, %+v", a.Terms, b.Terms, manual.Terms)
	}
	if a.Schedule != b.Schedule || a.Schedule.IsZero() || !manual.Schedule.IsZero() {
		t.Fatal("equal timetables are not shared, or there is one too many")
	}
}

// An unknown value does not fall back to the default: the job needs a feature that no worker has, and the other jobs
// are planned.
func TestFeed_NewerValues_NeedUnknownFeatures(t *testing.T) {
	feed := NewFeed(schedule.NewInterner(), slog.New(slog.DiscardHandler))
	state := func(name string, change func(*common.StoredJob)) common.JobState {
		s := common.StoredJob{UID: "uid-" + name, Job: common.Job{Name: name, CronExpr: "* * * * *", Timezone: "UTC"}}
		change(&s)
		return common.JobState{Version: 5, StoredJob: s}
	}
	news := feed.Jobs(true, []common.JobState{
		state("plain", func(*common.StoredJob) {}),
		state("overlap", func(s *common.StoredJob) { s.Overlap = "merge" }),
		state("noted", func(s *common.StoredJob) { s.Overlap, s.Needs = "merge", []string{"merge"} }),
		state("detach", func(s *common.StoredJob) { s.OnLost = common.LostDetach }),
		// it has no timetable that could be planned
		state("dst", func(s *common.StoredJob) { s.DST = &common.DST{Gap: "both"} }),
		state("last", func(*common.StoredJob) {}),
	}, nil, nil)
	var got []string
	for _, j := range news.Put {
		got = append(got, j.Name+" "+j.Terms.Needs)
	}
	if !slices.Equal(got, []string{"plain ", "overlap overlap=merge", "noted merge", "detach detach", "last "}) ||
		!slices.Equal(news.Gone, []string{"dst"}) {
		t.Fatalf("put %q, gone %q", got, news.Gone)
	}
}
