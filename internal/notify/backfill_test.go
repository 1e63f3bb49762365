package notify

import (
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// A backfill that failed is one message, whatever the fires of its job do before and afterwards. It belongs to no
// trouble: an alert of its own stays open until a person closes it.
func TestBackfill_Failed_IsOneMessage(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		w.job("b", everything...)
		stop := w.elected(t)
		at := time.Now()
		w.ended("a", "failed", 1, at)
		after(time.Minute)
		w.ended("a@backfill", "failed", 1, at)
		w.ended("b@backfill", "failed", 1, at)
		after(time.Minute)
		w.ended("b", "succeeded", 1, at.Add(2*time.Minute))
		w.ended("a@backfill", "succeeded", 1, at.Add(2*time.Minute))
		after(time.Minute)
		if got, want := w.told(), "a:failed@hook a:failed@hook a:failed@post a:failed@post b:failed@hook "+
			"b:failed@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		for _, m := range w.sent {
			if m.Data.Backfill != (m.Data.Trouble() == "") || m.Data.Backfill != (m.Data.Count == 0) {
				t.Errorf("sent %+v", m.Data)
			}
			if m.Data.Backfill && m.Data.URL != "https://carillon.example.com/backfills/"+m.Data.Run {
				t.Errorf("a message leads to %s", m.Data.URL)
			}
		}
		w.ended("a", "succeeded", 1, at.Add(3*time.Minute))
		after(time.Minute)
		stop()
		if told := w.toldOf("a", common.EventRecovered); told != 2 {
			t.Errorf("the recovery of the trouble was sent %d times, want once on each of 2 channels", told)
		}
	})
}

// A backfill that fails in quiet hours is listed once in the morning, as a trouble and not as a recovery.
func TestBackfill_FailsInQuietHours_IsInTheDigest(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.quiet("a", false, everything...)
		stop := w.elected(t)
		at := time.Now() // midnight
		w.ended("a@backfill", "failed", 1, at)
		after(time.Hour)
		w.ended("a", "succeeded", 1, at.Add(time.Hour))
		after(7 * time.Hour)
		if got, want := w.told(), ":digest@hook :digest@post"; got != want {
			t.Fatalf("told %s, want %s", got, want)
		}
		if d := w.sent[0].Data; !slices.Equal(d.Jobs, []string{"a"}) || d.Digest.Recovered > 0 {
			t.Errorf("the digest: %+v, %+v", d, d.Digest)
		}
		if s := w.state("a"); !s.BackfillAt.IsZero() || len(s.Quiet) > 0 {
			t.Errorf("it is listed again: %+v", s)
		}
		stop()
	})
}

// A trouble that begins and ends in the quiet hours after a backfill has failed does not make that a recovery.
func TestBackfill_FailsBeforeATroubleInQuietHours_IsInTheDigest(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.quiet("a", false, everything...)
		stop := w.elected(t)
		at := time.Now() // midnight
		w.ended("a@backfill", "failed", 1, at)
		after(time.Hour)
		w.ended("a", "failed", 1, at.Add(time.Hour))
		after(time.Hour)
		w.ended("a", "succeeded", 1, at.Add(2*time.Hour))
		after(6 * time.Hour)
		stop()
		if got, want := w.told(), ":digest@hook :digest@post"; got != want {
			t.Fatalf("told %s, want %s", got, want)
		}
		if d := w.sent[0].Data; !slices.Equal(d.Jobs, []string{"a"}) || d.Digest.Recovered > 0 {
			t.Errorf("the digest: %+v, %+v", d, d.Digest)
		}
	})
}

// exhaust uses up the limit of the minute.
func exhaust(n *Notifier) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.budget.take(time.Now()) {
	}
}

// A failure that is notified by itself repeats earlier ones of its trouble that are held for a summary. A failed
// backfill is no part of a trouble: neither of them repeats the other.
func TestBackfill_FailsBeyondTheLimit_StaysInTheSummary(t *testing.T) {
	for _, order := range [][]string{{"a@backfill", "a"}, {"a", "a@backfill"}} {
		t.Run(order[0]+" first", func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				w := newWorld()
				w.job("a", everything...)
				n, stop := w.electedNotifier(t)
				at := time.Now()
				exhaust(n)
				w.ended(order[0], "failed", 1, at)
				virtualtime.Wait()
				n.mu.Lock()
				n.budget = budget{} // there is room again, before the next summary
				n.mu.Unlock()
				w.ended(order[1], "failed", 1, at.Add(time.Second))
				after(5 * time.Minute)
				stop()
				if got, want := w.told(), ":summary@hook :summary@post a:failed@hook a:failed@post"; got != want {
					t.Errorf("told %s, want %s", got, want)
				}
			})
		})
	}
}

// Beyond the limits a failed backfill is in the summary of jobs in trouble.
func TestBackfill_FailsBeyondTheLimit_IsInTheSummary(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		n, stop := w.electedNotifier(t)
		exhaust(n)
		w.ended("a@backfill", "failed", 1, time.Now())
		after(5 * time.Minute)
		stop()
		if got, want := w.told(), ":summary@hook :summary@post"; got != want {
			t.Fatalf("told %s, want %s", got, want)
		}
		if d := w.sent[0].Data; !slices.Equal(d.Jobs, []string{"a"}) || d.FirstAt.IsZero() {
			t.Errorf("the summary: %+v", d)
		}
	})
}

// The failure of a backfill is no fire: it does not pause the job.
func TestBackfill_Failed_DoesNotCountForAutoPause(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.autoPaused("a", 2, everything...)
		stop := w.elected(t)
		at := time.Now()
		w.ended("a", "failed", 1, at)
		after(time.Minute)
		w.ended("a@backfill", "failed", 1, at.Add(time.Minute))
		after(time.Minute)
		w.ended("a@backfill", "succeeded", 1, at.Add(2*time.Minute)) // nor does its success end the series
		after(time.Minute)
		if note := w.pauseNote("a"); note != "" {
			t.Errorf("a backfill has paused its job: %s", note)
		}
		w.ended("a", "failed", 1, at.Add(3*time.Minute))
		after(time.Minute)
		stop()
		if note := w.pauseNote("a"); note != pauseNote(2) {
			t.Errorf("the note is %q after two failures in a row", note)
		}
	})
}

// Nor does it pause a job again that a user has resumed after a series of failures.
func TestBackfill_FailsAfterTheJobWasResumed_DoesNotPauseIt(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.autoPaused("a", 2, everything...)
		stop := w.elected(t)
		at := time.Now()
		for i := range 2 {
			w.ended("a", "failed", 1, at.Add(time.Duration(i)*time.Minute))
			after(time.Minute)
		}
		if note := w.pauseNote("a"); note != pauseNote(2) {
			t.Fatalf("the note is %q after two failures in a row", note)
		}
		w.resume("a")
		w.ended("a@backfill", "failed", 1, at.Add(2*time.Minute))
		after(time.Minute)
		stop()
		if note := w.pauseNote("a"); note != "" {
			t.Errorf("a backfill has paused its job: %s", note)
		}
	})
}

// A backfill that failed while the notifier could not read is found in the history.
func TestBackfill_FailsInAGap_IsNotified(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		job := w.jobs["a"]
		job.CronExpr = "0 3 * * *"
		w.jobs["a"] = job
		stop := w.elected(t)
		at := time.Now()
		after(time.Minute)
		stop()
		for i := range 4 {
			w.ended("a@backfill", "failed", 1, at.Add(time.Duration(i+1)*time.Second))
		}
		w.compacted, w.outcomes = w.revision, nil
		stop = w.elected(t)
		after(5 * time.Minute)
		stop()
		if told := w.toldOf("a", common.EventFailed); told != 8 {
			t.Errorf("4 failed backfills in a gap were sent %d times on 2 channels", told)
		}
	})
}
