package check

import (
	"testing"
)

// restore is one of etcd: the snapshot at 25, the stop from 41 to 42, held from 44 to 46.
func (w *world) restore() {
	all := []Event{
		{Kind: EtcdAway, At: boot(41), Until: boot(44)},
		{Kind: EtcdForgot, At: boot(25), Until: boot(42), Wall: wall(42)},
		{Kind: EtcdHeld, At: boot(44), Until: boot(46)},
	}
	w.Journal = append(w.Journal, all...)
}

// recovered is the history around it: one run beside the gap that recovery writes for the fires of 30 and 40, and
// what the caller adds; nothing of the snapshot is done again.
func recovered(more func(w *world)) *world {
	w := newWorld()
	w.job.Overlap = Allow
	w.restore()
	w.ran(10)
	w.skipped(20)
	more(w)
	w.gap(20, 50, 3).Reason = &Reason{Code: restored}
	w.ran(60)
	return w
}

func (w *world) waits(id string) { w.did(Undelivered, 40.9, 0).Run = id }

func TestCheckRestored_CorrectRuns_NoViolation(t *testing.T) {
	for name, story := range map[string]func(*world){
		"nothing ran": func(*world) {},
		"a run between snapshot and stop keeps its entry beside the gap": func(w *world) { w.ran(30) },
		"a command that the stop met has no entry": func(w *world) {
			w.begin(40, 40, 46, 1)
		},
		"a queued fire was replaced after the snapshot, and its trigger is skipped": func(w *world) {
			w.told(20, 1, "skipped", "cron", 0).Reason = &Reason{Code: restored}
		},
		"an outcome that waited in etcd is gone": func(w *world) {
			w.waits(w.begin(30, 30, 33, 1))
			w.end(30, 33, 1, 0)
		},
		"a first attempt is gone and its retry is not": func(w *world) {
			w.job.RetryMax = 1
			w.waits(w.begin(30, 30, 31, 1))
			w.end(30, 31, 1, 3)
			w.begin(30, 32, 33, 2)
			w.end(30, 33, 2, 0)
			w.told(30, 2, "succeeded", "retry", 0)
		},
		"a failure is not retried": func(w *world) {
			w.job.RetryMax = 1
			w.begin(30, 30, 33, 1)
			w.end(30, 33, 1, 3)
			w.told(30, 1, "failed", "cron", 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if r := recovered(story).check(); len(r.Violations) > 0 {
				t.Errorf("%+v", r.Violations)
			}
		})
	}
	t.Run("a run of the snapshot whose outcome is gone is lost and not run again", func(t *testing.T) {
		w := newWorld()
		w.restore()
		w.ran(10)
		w.waits(w.begin(20, 24, 30, 1))
		w.end(20, 30, 1, 0)
		w.told(20, 1, "lost", "cron", 0).Reason = &Reason{Code: claimedTwice}
		w.gap(20, 50, 3).Reason = &Reason{Code: restored}
		w.ran(60)
		if r := w.check(); len(r.Violations) > 0 {
			t.Errorf("%+v", r.Violations)
		}
	})
}

func TestCheckRestored_BrokenRules_AreViolations(t *testing.T) {
	for name, c := range map[string]struct {
		rule  Rule
		story func(*world)
	}{
		"an outcome that the log store had is gone": {Silent, func(w *world) {
			w.begin(30, 30, 33, 1)
			w.end(30, 33, 1, 0)
		}},
		"a fire runs again after the restore": {Doubled, func(w *world) {
			w.ran(30)
			w.line(Start, 47, 30, 1, 0, 0, 0)
		}},
		"a fire that was passed over runs": {Twice, func(w *world) {
			w.begin(40, 47, 48, 1)
			w.end(40, 48, 1, 0)
			w.told(40, 1, "succeeded", "cron", 0)
		}},
		"a fire after the stop has two entries": {Twice, func(w *world) { w.skipped(50) }},
		"a fire after the stop has the end of a trigger beside its own": {Twice, func(w *world) {
			w.skipped(50)
			w.told(50, 1, "skipped", "cron", 0).Reason = &Reason{Code: restored}
		}},
		"a fire has two entries of its own beside the gap": {Twice, func(w *world) {
			w.ran(30)
			w.skipped(30)
		}},
		"a command starts before the restore is accepted": {Held, func(w *world) { w.begin(40, 45, 46, 1) }},
		"a command without a record goes on": {Survivor, func(w *world) {
			w.begin(40, 40, 58, 1)
		}},
		"two commands meet": {Overlaps, func(w *world) {
			w.job.Overlap = Skip
			w.begin(40, 40, 48, 1)
			w.line(Met, 47, 50, 1, 0, 0, 0)
		}},
		"a run of the snapshot is lost whose outcome the log store had": {Outcome, func(w *world) {
			w.begin(30, 24, 33, 1)
			w.end(30, 33, 1, 0)
			w.told(30, 1, "lost", "cron", 0).Reason = &Reason{Code: claimedTwice}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if r := recovered(c.story).check(); r.Count(c.rule) == 0 {
				t.Errorf("%s was not found; found was %+v", c.rule, r.Violations)
			}
		})
	}
	t.Run("a gap without a restore", func(t *testing.T) {
		w := newWorld().story(func(w *world) { w.ran(30) })
		w.Runs[3].Reason = &Reason{Code: restored}
		if r := w.check(); r.Count(Strays) == 0 {
			t.Errorf("it was not found; found was %+v", r.Violations)
		}
	})
	t.Run("a fire without any entry", func(t *testing.T) {
		w := newWorld()
		w.restore()
		w.ran(10)
		w.skipped(20)
		w.gap(20, 40, 2).Reason = &Reason{Code: restored}
		w.ran(60)
		if r := w.check(); r.Count(Silent) == 0 {
			t.Errorf("it was not found; found was %+v", r.Violations)
		}
	})
}
