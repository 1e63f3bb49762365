package watchdog

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// A fire that the cursor passed and that is nowhere is told of, once.
func TestFireWithoutEntry(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t)
		job := w.add(common.Job{Name: "a", CronExpr: "* * * * *"})
		lost := start.Add(10 * time.Minute)
		w.during(func() {
			w.each(15*time.Minute, func() { w.take(job, func(at time.Time) bool { return !at.Equal(lost) }) })
			virtualtime.Wait()
			conditions := w.Conditions()
			if len(conditions) != 1 || conditions[0].Code != common.ConditionNoEntry ||
				conditions[0].Data["job"] != "a" ||
				conditions[0].Data["plannedAt"] != "2000-01-01T00:10:00Z" {
				t.Errorf("conditions %v", conditions)
			}
			w.each(30*time.Hour, func() { w.take(job, all) })
			if got := w.Conditions(); len(got) != 0 {
				t.Errorf("told of for ever: %v", got)
			}
		})
		if w.missed != 1 || strings.Count(w.log.String(),
			"fire_without_entry job=a uid=uid-a planned_at=2000-01-01T00:10:00") != 1 {
			t.Errorf("%d are missed:\n%s", w.missed, w.log.String())
		}
	})
}

// While the log store is away the ledger is not asked; what had waited is looked at afterwards.
func TestLogStoreAway_LedgerIsCheckedLater(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t)
		job := w.add(common.Job{Name: "a", CronExpr: "* * * * *"})
		lost := start.Add(10 * time.Minute)
		w.during(func() {
			w.each(10*time.Minute+30*time.Second, func() {
				w.take(job, func(at time.Time) bool { return !at.Equal(lost) })
			})
			asked := 0
			w.change(func() { w.away, asked = true, w.listed })
			w.each(10*time.Minute, func() { w.take(job, all) })
			w.change(func() {
				if w.listed != asked || asked == 0 {
					t.Errorf("asked %d times, then %d", asked, w.listed)
				}
				w.away = false
			})
			w.each(5*time.Minute, func() { w.take(job, all) })
		})
		if w.missed != 1 {
			t.Errorf("%d are missed:\n%s", w.missed, w.log.String())
		}
	})
}

// A disaster is told in few lines, and remembered in few bytes.
func TestManyWithoutEntry(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t)
		job := w.add(common.Job{Name: "a", CronExpr: "* * * * * * *"})
		w.during(func() {
			w.each(time.Hour, func() { w.take(job, func(time.Time) bool { return false }) })
			virtualtime.Wait()
			if c := w.Conditions(); len(c) != 1 || c[0].Data["count"] != strconv.Itoa(w.missed) {
				t.Errorf("%d are missed, conditions %v", w.missed, c)
			}
		})
		if lines := strings.Count(w.log.String(), "fire_without_entry"); w.missed < 3000 || lines > 250 ||
			len(w.missing.found) > 7 {
			t.Errorf("%d are missed, in %d lines; %d are remembered", w.missed, lines, len(w.missing.found))
		}
		// The cursor moves at the same moments as the check looks: before it or after it.
		if !regexp.MustCompile(`fires=7[45] last_planned_at=2000-01-01T00:`).MatchString(w.log.String()) {
			t.Errorf("the log says:\n%.1000s", w.log.String())
		}
	})
}

// None of these is a fire without an entry.
func TestExplainedFires_AreNotReported(t *testing.T) {
	gapped := func(w *world, job planned) {
		// Every tenth fire is passed over together with the three before it, as one entry.
		cursor := w.cursors["a"]
		if m := time.Now().Minute() % 10; m < 7 && m > 0 {
			w.take(job, all)
		} else if m == 0 && time.Since(cursor) > 4*time.Minute {
			to := time.Now().Truncate(time.Minute)
			w.fires = append(w.fires, common.Fire{
				ID:        common.GapID(job.state.UID, cursor),
				Job:       "a",
				JobUID:    job.state.UID,
				PlannedAt: to,
				Gap:       &common.Gap{From: cursor, To: to, Count: 4},
			})
			w.cursors["a"] = to
		}
	}
	none := func(time.Time) bool { return false }
	for _, c := range []struct {
		name string
		job  common.Job
		tick func(w *world, job planned) // each second
	}{
		{"every fire has its entry", common.Job{CronExpr: "* * * * *"}, func(w *world, job planned) {
			w.take(job, all)
		}},
		{"one a second", common.Job{CronExpr: "* * * * * * *"}, func(w *world, job planned) { w.take(job, all) }},
		{"an interval", common.Job{CronExpr: "@every 90s"}, func(w *world, job planned) { w.take(job, all) }},
		{"gaps", common.Job{CronExpr: "* * * * *"}, gapped},
		{"kept by number", common.Job{
			CronExpr:  "* * * * *",
			Retention: &common.Retention{Runs: 1},
		}, func(w *world, job planned) { w.take(job, none) }},
		{"paused", common.Job{
			CronExpr:   "* * * * *",
			Paused:     true,
			PauseUntil: new(start.Add(time.Minute)),
		}, func(w *world, job planned) { w.take(job, none) }},
		{"the store is away", common.Job{CronExpr: "* * * * *"}, func(w *world, job planned) {
			w.partial = true
			w.take(job, none)
		}},
		{"another version is there", common.Job{CronExpr: "* * * * *"}, func(w *world, job planned) {
			w.alike = false
			w.take(job, none)
		}},
		{"the clock is not known", common.Job{CronExpr: "* * * * *"}, func(w *world, job planned) {
			w.sure = errors.New("who knows")
			w.take(job, none)
		}},
		{"edited all the time", common.Job{CronExpr: "* * * * *"}, func(w *world, job planned) {
			changed := *job.state
			changed.Version = w.jobs["a"].state.Version + 1
			w.jobs["a"] = planned{&changed, job.timetable}
			w.take(job, none)
		}},
		{"entries come late", common.Job{CronExpr: "* * * * *"}, func(w *world, job planned) {
			w.take(job, none)
			for at := w.cursors["a"].Add(-2 * time.Minute); at.After(start); at = at.Add(-time.Hour) {
				w.fires = append(w.fires, common.Fire{
					ID:        common.PlannedFire(job.state.UID, at),
					Job:       "a",
					JobUID:    job.state.UID,
					PlannedAt: at,
				})
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				w := newWorld(t)
				c.job.Name = "a"
				job := w.add(c.job)
				w.during(func() { w.each(time.Hour, func() { c.tick(w, job) }) })
				if w.missed != 0 {
					t.Errorf("%d alarms:\n%s", w.missed, w.log.String())
				}
			})
		})
	}
}

// What was passed long ago may be gone from the store: only what is younger is looked at.
func TestOldFires_AreNotChecked(t *testing.T) {
	now := start.Add(3 * time.Hour)
	for expr, want := range map[string]int{"* * * * *": 30, "@every 7m": 4, "0 0 1 1 *": 0} {
		s := stretch{job: jobOf(t, common.Job{Name: "a", CronExpr: expr}), from: start, to: now}
		fires := s.fires(now)
		if len(fires) != want {
			t.Errorf("%s: %d fires, want %d", expr, len(fires), want)
		}
		for _, at := range fires {
			if expr == "@every 7m" && at.Sub(start)%(7*time.Minute) != 0 || at.Before(now.Add(-30*time.Minute)) ||
				at.After(now) {
				t.Errorf("%s: %v", expr, at)
			}
		}
	}
}
