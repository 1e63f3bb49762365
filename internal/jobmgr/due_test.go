package jobmgr_test

import (
	"fmt"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// behind puts jobs whose cursors are at a time in the past.
func (s *story) behind(n int, expr string, cursor time.Time) {
	s.Helper()
	for i := range n {
		job := minutely(fmt.Sprintf("job-%03d", i))
		job.CronExpr = expr
		s.put(job)
		s.raw(common.CursorKey(job.Name), common.TimeKey(cursor))
	}
	eventually(s, "the catalog has the jobs", s.store.UpToDate)
}

// The due fires of each of many jobs are counted, even if there are millions.
func TestDue_ManyJobsADayBehind_CountsAllFires(t *testing.T) {
	t.Parallel()
	const jobs = 30
	s := newStory(t)
	s.behind(jobs, "* * * * * * *", noon.Add(-24*time.Hour))
	fires, whole, err := s.store.Due(t.Context(), &runlog.FireQuery{Now: noon, To: noon.Add(1), Limit: 100})
	if err != nil || !whole || len(fires) != jobs {
		t.Fatal(len(fires), whole, err)
	}
	for _, f := range fires {
		if f.Gap == nil || f.Gap.Count != 86400 || !f.Gap.To.Equal(noon) || f.Reason.Data["count"] != "" {
			t.Fatalf("%+v, %+v, %+v", f, f.Gap, f.Reason)
		}
	}
}

// Fires of several schedules at the same instant count once, also where they are not listed one by one.
func TestDue_SeveralSchedules_CountsEachInstantOnce(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := minutely("several")
	start := noon.Add(-24 * time.Hour)
	job.CronExpr, job.Timezone = "", ""
	job.Schedules = []common.JobSchedule{{CronExpr: "*/2 * * * *", Timezone: "UTC"},
		{CronExpr: "*/3 * * * *", Timezone: "Europe/Berlin"}, {CronExpr: "@every 4m", Timezone: "UTC", StartAt: &start}}
	s.put(job)
	s.raw(common.CursorKey(job.Name), common.TimeKey(start))
	eventually(s, "the catalog has the job", s.store.UpToDate)
	fires, whole, err := s.store.Due(t.Context(), &runlog.FireQuery{Now: noon, To: noon.Add(1), Limit: 100})
	if err != nil || !whole || len(fires) != 1 || fires[0].Gap == nil || fires[0].Gap.Count != 960 {
		t.Fatalf("%+v, %v, %v, want one entry for 960 fires", fires, whole, err)
	}
}

// Planned fires have the label of the schedule that they belong to.
func TestPlanned_SeveralSchedules_HaveLabels(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := minutely("labelled")
	job.CronExpr, job.Timezone = "", ""
	job.Schedules = []common.JobSchedule{{CronExpr: "0 * * * *", Timezone: "UTC", Label: "hourly"},
		{CronExpr: "*/30 * * * *", Timezone: "UTC", Label: "half past"}}
	s.put(job)
	eventually(s, "the catalog has the job", s.store.UpToDate)
	fires, _, err := s.store.Planned(t.Context(), &runlog.FireQuery{Now: noon, To: noon.Add(2*time.Hour + 1),
		Limit: 100})
	if err != nil || len(fires) != 4 {
		t.Fatalf("%+v, %v", fires, err)
	}
	for _, f := range fires {
		want := "half past"
		if f.PlannedAt.Minute() == 0 {
			want = "hourly"
		}
		if f.Schedule != want {
			t.Errorf("the fire at %v belongs to %q", f.PlannedAt, f.Schedule)
		}
	}
}

// Fires that take too much effort to count become one entry with a lower bound.
func TestDue_TooManyHours_CountsAtLeast(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	from := noon.AddDate(-50, 0, 0)
	s.behind(4, "0 * * * *", from)
	fires, whole, err := s.store.Due(t.Context(), &runlog.FireQuery{Now: noon, To: noon.Add(1), Limit: 100})
	if err != nil || !whole || len(fires) != 4 {
		t.Fatal(len(fires), whole, err)
	}
	counted := 0
	for _, f := range fires {
		switch {
		case f.Gap == nil || !f.Gap.To.Equal(noon):
			t.Fatalf("%+v, %+v", f, f.Gap)
		case f.Reason.Data["count"] != common.CountAtLeast && f.Gap.Count == int64(noon.Sub(from)/time.Hour):
			counted++
		case f.Reason.Data["count"] != common.CountAtLeast || f.Gap.Count != 6:
			t.Fatalf("%+v, %+v", f.Gap, f.Reason)
		}
	}
	if counted != 2 {
		t.Errorf("%d of 4 jobs were counted, want 2", counted)
	}
}

// BenchmarkDue lists the due fires of 100 jobs that fire each second and are a day behind.
func BenchmarkDue(b *testing.B) {
	s := newStory(b)
	s.behind(100, "* * * * * * *", noon.Add(-24*time.Hour))
	q := runlog.FireQuery{Now: noon, To: noon.Add(1), Limit: 100}
	for b.Loop() {
		if fires, _, err := s.store.Due(b.Context(), &q); err != nil || len(fires) != 100 {
			b.Fatal(len(fires), err)
		}
	}
}
