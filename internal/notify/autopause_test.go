package notify

import (
	"errors"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// autoPaused is a job that is paused after a number of failures.
func (w *world) autoPaused(name string, failures int, on ...common.Event) {
	w.job(name, on...)
	job := w.jobs[name]
	job.AutoPause = &common.AutoPause{Failures: failures}
	if len(on) == 0 {
		job.Notify = nil
	}
	w.jobs[name] = job
}

func (w *world) pauseNote(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if job := w.jobs[name]; job.Paused {
		return job.PauseNote
	}
	return ""
}

func (w *world) resume(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	job := w.jobs[name]
	w.revision++
	job.Paused, job.PauseNote, job.Version = false, "", w.revision
	w.jobs[name] = job
}

// Each line is a story: what the fires of a job with autoPause after three failures end as, and its note then.
func TestAutoPause_ConsecutiveFailures_PauseTheJob(t *testing.T) {
	for _, c := range []struct {
		name string
		ends []common.Status
		note string
	}{
		{"two failures", []common.Status{"failed", "timed_out"}, ""},
		{"three failures", []common.Status{"failed", "timed_out", "lost"}, "auto-paused after 3 failures"},
		{"a success between", []common.Status{"failed", "failed", "succeeded", "failed", "failed"}, ""},
		{"fires that did not run are none", []common.Status{"failed", "missed", "missed", "skipped", "failed"}, ""},
		{"nor do they end the series", []common.Status{"failed", "missed", "failed", "skipped", "failed"},
			"auto-paused after 3 failures"},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				w := newWorld()
				w.autoPaused("a", 3)
				stop := w.elected(t)
				at := time.Now()
				for i, end := range c.ends {
					w.ended("a", end, 1, at.Add(time.Duration(i)*time.Minute))
					after(time.Minute)
				}
				stop()
				if got := w.pauseNote("a"); got != c.note {
					t.Errorf("the note is %q, want %q", got, c.note)
				}
				if w.told() != "" {
					t.Errorf("told %s", w.told())
				}
			})
		})
	}
}

// The pause is notified once, with the failure. A failure after the job was resumed pauses it again; a success resets
// the count.
func TestAutoPause_ResumedJob(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.autoPaused("a", 2, "failed", "recovered", "paused")
		stop := w.elected(t)
		ends := func(status common.Status) {
			w.ended("a", status, 1, time.Now())
			after(time.Minute)
		}
		resume := func() { w.resume("a") }
		ends("failed")
		ends("failed")
		if got, want := w.told(), "a:failed@hook a:failed@post a:paused@hook a:paused@post"; got != want {
			t.Fatalf("told %s, want %s", got, want)
		}
		if got, want := w.sent[2].Subject, "[Carillon] a was paused: it failed 2 times in a row"; got != want {
			t.Errorf("the subject is %q, want %q", got, want)
		}
		ends("failed") // a run that had begun before the pause
		if w.pauses != 1 {
			t.Errorf("paused %d times", w.pauses)
		}
		resume()
		ends("failed")
		if got, want := w.pauseNote("a"), "auto-paused after 4 failures"; got != want {
			t.Errorf("the note is %q, want %q", got, want)
		}
		resume()
		ends("succeeded")
		ends("failed")
		if got := w.pauseNote("a"); got != "" {
			t.Errorf("it is paused: %s", got)
		}
		stop()
	})
}

// A master that dies after it has paused the job, and before that is notified, is succeeded by one that notifies it.
func TestAutoPause_MasterDiesAfterThePause(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.autoPaused("a", 1, "paused")
		w.broken = errors.New("etcd is away")
		n, at := w.notifier(), time.Now()
		run := w.ended("a", "failed", 1, at)
		if err := n.settleAll(t.Context(), []Outcome{{Run: run, Revision: w.revision}}); err == nil {
			t.Fatal("it was written")
		}
		if got, want := w.pauseNote("a"), "auto-paused after 1 failure"; got != want {
			t.Fatalf("the note is %q, want %q", got, want)
		}
		w.broken = nil
		stop := w.elected(t)
		if err := w.notifier().settleAll(t.Context(), []Outcome{{Run: run, Revision: w.revision}}); err != nil {
			t.Fatal(err)
		}
		after(time.Minute)
		stop()
		if got, want := w.told(), "a:paused@hook a:paused@post"; got != want || w.pauses != 1 {
			t.Errorf("told %s, want %s; %d pauses", got, want, w.pauses)
		}
	})
}

// A job that was edited meanwhile is judged by its new definition.
func TestAutoPause_JobEditedMeanwhile(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.autoPaused("a", 1)
		run := w.ended("a", "failed", 1, time.Now())
		job := w.jobs["a"]
		w.revision++
		job.Version = w.revision
		w.jobs["a"], w.stale = job, true // until it is read at the new version
		if err := w.notifier().settleAll(t.Context(), []Outcome{{Run: run, Revision: w.revision}}); err != nil {
			t.Fatal(err)
		}
		if w.pauseNote("a") == "" || w.pauses != 2 {
			t.Errorf("the note is %q after %d requests", w.pauseNote("a"), w.pauses)
		}
	})
}

// A job that cannot be paused does not hold up the notifications of others, nor is its pause notified.
func TestAutoPause_RefusedPause_OthersAreNotified(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.autoPaused("a", 1, "failed", "paused")
		w.job("b", "failed")
		w.unpausable = true
		stop := w.elected(t)
		w.ended("a", "failed", 1, time.Now())
		w.ended("b", "failed", 1, time.Now())
		after(time.Minute)
		stop()
		if got, want := w.told(), "a:failed@hook a:failed@post b:failed@hook b:failed@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}
