package jobmgr_test

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/jobmgr"
)

// A new schedule begins when it is saved, and the due fires of the old one are accounted for in the same
// transaction.
func TestScheduleChange_AccountsForDueFires(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	edit := func(change func(*common.Job)) func(common.Job) common.Job {
		return func(j common.Job) common.Job { change(&j); return j }
	}
	for _, c := range []struct {
		name   string
		line   string
		after  time.Duration // of the save
		edit   func(common.Job) common.Job
		moves  bool
		missed int64
		last   time.Duration // of the fires passed
	}{
		{"none-passed", "0 * * * *", 30 * time.Minute, edit(func(j *common.Job) { j.CronExpr = "@daily" }), true, 0, 0},
		{"one-passed", "0 * * * *", 90 * time.Minute, edit(func(j *common.Job) {
			j.CronExpr = "@daily"
		}), true, 1, time.Hour},
		{"one-passed-just-now", "0 * * * *", time.Hour, edit(func(j *common.Job) {
			j.CronExpr = "@daily"
		}), true, 1, time.Hour},
		{"many-passed", "* * * * *", 10*time.Minute + time.Second, edit(func(j *common.Job) {
			j.CronExpr = "@daily"
		}), true, 10, 10 * time.Minute},
		{"another-zone", "* * * * *", 3 * time.Minute, edit(func(j *common.Job) {
			j.Timezone = "Asia/Shanghai"
		}), true, 3, 3 * time.Minute},
		{"another-dst", "* * * * *", time.Minute, edit(func(j *common.Job) {
			j.DST = &common.DST{Gap: "skip"}
		}), true, 1, time.Minute},
		{"schedule-removed", "@every 7m", 15 * time.Minute, edit(func(j *common.Job) {
			j.CronExpr = ""
		}), true, 2, 14 * time.Minute},
		{"schedule-added", "", 15 * time.Minute, edit(func(j *common.Job) { j.CronExpr = "* * * * *" }), true, 0, 0},
		{"schedule-added-to-another", "*/5 * * * *", 11 * time.Minute, edit(func(j *common.Job) {
			j.Schedules = []common.JobSchedule{{CronExpr: "*/5 * * * *", Timezone: "UTC"}, {CronExpr: "@daily"}}
			j.CronExpr, j.Timezone = "", ""
		}), true, 2, 10 * time.Minute},
		{"schedules-of-one", "*/5 * * * *", 11 * time.Minute, edit(func(j *common.Job) {
			j.Schedules = []common.JobSchedule{{CronExpr: "*/5 * * * *", Timezone: "UTC", Label: "the same"}}
			j.CronExpr, j.Timezone = "", ""
		}), false, 0, 0},
		{"command-alone", "* * * * *", 10 * time.Minute, edit(func(j *common.Job) {
			j.Command = "false"
		}), false, 0, 0},
		{"a-clock-behind", "* * * * *", -10 * time.Minute, edit(func(j *common.Job) {
			j.CronExpr = "@daily"
		}), false, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &story{TB: t, client: s.client, clock: s.clock, catalog: s.catalog, store: s.store}
			s.clock.set(noon)
			job := common.Job{Name: c.name, CronExpr: c.line, Timezone: "UTC", Command: "true"}
			old := s.put(job)
			s.clock.forward(c.after)
			state := s.put(c.edit(job))
			cursor := noon
			if c.moves {
				cursor = s.clock.now()
			}
			if !state.Cursor.Equal(cursor) || !s.cursor(c.name).Equal(cursor) {
				t.Fatalf("cursor returned %v, stored %v, want %v", state.Cursor, s.cursor(c.name), cursor)
			}
			out := s.outcomes(old.UID)
			if c.missed == 0 {
				if len(out) != 0 {
					t.Fatalf("accounted for %+v", out)
				}
				return
			}
			if len(out) != 1 || out[0].Status != common.StatusMissed || out[0].Reason.Code != "edited" ||
				out[0].Job != c.name ||
				out[0].JobVersion != old.Version || !out[0].PlannedAt.Equal(noon.Add(c.last)) || out[0].Attempt != 0 {
				t.Fatalf("accounted for %+v", out)
			}
			switch gap := out[0].Gap; {
			case c.missed == 1:
				if gap != nil || out[0].ID != common.RunID(common.PlannedFire(old.UID, noon.Add(c.last)), 0) {
					t.Fatalf("one fire: %+v", out[0])
				}
			case gap == nil || *gap != common.Gap{
				From:  noon,
				To:    noon.Add(c.last),
				Count: c.missed,
			} || out[0].ID != common.GapID(old.UID, noon):
				t.Fatalf("gap %+v of %+v", gap, out[0])
			}
			if changes := s.changes(c.name); len(changes) != 2 {
				t.Fatalf("%d changes", len(changes))
			}
		})
	}
}

// The gap has more fires than are counted: the entry covers all of them.
func TestGap_TooLongToCount_CoversAllFires(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := common.Job{Name: "a", CronExpr: "@every 1s", Timezone: "UTC", Command: "true"}
	old := s.put(job)
	s.clock.forward((jobmgr.MostCounted + 1000) * time.Second)
	job.CronExpr = "@daily"
	state := s.put(job)
	out := s.outcomes(old.UID)
	if len(out) != 1 || out[0].Gap == nil || !out[0].Gap.To.Equal(state.Cursor) ||
		out[0].Gap.Count != jobmgr.MostCounted ||
		out[0].Reason.Data["count"] != "at_least" {
		t.Fatalf("the cursor passed to %v, accounted for %+v", state.Cursor, out)
	}
}

// Due fires are accounted for when the job is deleted, future ones are not.
func TestDeleteAccountsForThePlan(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	many, none := s.put(minutely("many")), s.put(minutely("none"))
	s.clock.forward(59 * time.Second)
	s.remove("none")
	s.clock.forward(time.Hour)
	s.remove("many")
	if out := s.outcomes(none.UID); len(out) != 0 {
		t.Fatalf("no fire was passed, accounted for %+v", out)
	}
	out := s.outcomes(many.UID)
	if len(out) != 1 || out[0].Gap == nil || out[0].Gap.Count != 60 || out[0].Reason.Code != "deleted" ||
		out[0].Status != common.StatusMissed {
		t.Fatalf("accounted for %+v", out)
	}
}
