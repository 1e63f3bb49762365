package notify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// As cron mails it: what each run has printed, whether it failed or not, and nothing of a run that printed nothing.
func TestNotifier_Output_NotifiedOncePerRun(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", common.EventOutput)
		stop := w.elected(t)
		at := time.Now()
		w.ended("a", "failed", 1, at) // another attempt follows
		w.ended("a", "succeeded", 2, at)
		after(10 * time.Second)
		w.mute = true
		w.ended("a", "succeeded", 1, at.Add(time.Minute))
		w.ended("a", "failed", 1, at.Add(2*time.Minute))
		after(time.Minute)
		stop()
		w.place.Revision = 0 // the outcomes are read again
		stop = w.elected(t)
		after(time.Minute)
		stop()
		if got, want := w.told(), "a:output@hook a:output@hook a:output@post a:output@post"; got != want {
			t.Fatalf("told %s, want %s", got, want)
		}
		m := w.sent[slices.IndexFunc(w.sent, func(m Message) bool { return m.Data.Attempt == 1 })]
		if m.Type != "run.output" || m.Data.Output != "the end" || m.Data.FirstAt != nil || m.Data.Trouble() != "" ||
			!strings.HasPrefix(m.Subject, "[Carillon] a failed and printed output") ||
			!strings.Contains(m.Text, "\nEnd of the output:\n\nthe end\n") {
			t.Errorf("sent %+v", m)
		}
	})
}

// The message of a failure has the output, too: it is not sent twice.
func TestNotifier_OutputOfNotifiedFailure_OneMessage(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", common.EventFailed, common.EventRecovered, common.EventOutput)
		stop := w.elected(t)
		at := time.Now()
		for i, status := range []common.Status{"failed", "failed", "succeeded"} { // the second failure is only counted
			w.ended("a", status, 1, at.Add(time.Duration(i)*time.Minute))
			after(time.Minute)
		}
		stop()
		want := "a:failed@hook a:failed@post a:output@hook a:output@hook a:output@post a:output@post " +
			"a:recovered@hook a:recovered@post"
		if got := w.told(); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// Output that floods the channels goes into a summary, and does not keep a failure from being notified.
func TestNotifier_MuchOutput_Summarized(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		const jobs = 250
		for i := range jobs {
			w.job(fmt.Sprintf("job-%03d", i), common.EventOutput)
		}
		w.job("important", everything...)
		stop := w.elected(t)
		at := time.Now().Truncate(time.Minute).Add(time.Minute)
		after(time.Until(at))
		for i := range jobs {
			w.ended(fmt.Sprintf("job-%03d", i), "succeeded", 1, at)
		}
		w.ended("important", "failed", 1, at)
		after(5 * time.Minute)
		stop()
		single, summaries, named, failures := 0, 0, int64(0), 0
		for _, m := range w.sent {
			switch m.Data.Event {
			case "output@hook":
				single++
			case SubjectPrinted + "@hook":
				summaries, named = summaries+1, named+m.Data.Count
				if !strings.Contains(m.Subject, "150 more jobs have printed output") || m.Type != "cluster.summary" {
					t.Errorf("summary %q of type %s", m.Subject, m.Type)
				}
			case "failed@hook":
				failures++
			}
		}
		if single != EventsPerMinute || summaries != 1 || named != jobs-EventsPerMinute || failures != 1 {
			t.Errorf("%d single, %d summaries of %d, %d failures", single, summaries, named, failures)
		}
		for _, s := range w.states {
			if len(s.Printed) > 0 {
				t.Errorf("%s is still held for %v", s.Job, s.Printed)
			}
		}
	})
}

// A message about output waits for the log store to have it, at most five minutes, and does not count as a failed try.
func TestNotifier_OutputNotStoredYet_Waits(t *testing.T) {
	for missing, want := range map[int]string{6: "the end", 1000: ""} {
		virtualtime.Test(t, func(t *testing.T) {
			w := newWorld()
			w.job("a", common.EventOutput)
			w.missing = missing
			stop := w.elected(t)
			at := time.Now()
			w.ended("a", "succeeded", 1, at)
			after(6 * time.Minute)
			stop()
			if len(w.sent) != 2 || w.sent[0].Data.Output != want {
				t.Fatalf("%d sent: %+v", len(w.sent), w.sent)
			}
			for _, n := range w.done {
				took := n.TriedAt.Sub(at)
				if n.Attempts != 1 || want != "" && took > time.Minute || want == "" && took < 5*time.Minute {
					t.Errorf("%d tries, the first after %v", n.Attempts, took)
				}
			}
		})
	}
}
