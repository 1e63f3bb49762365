package notify

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

func (w *world) quiet(name string, urgent bool, on ...common.Event) {
	w.job(name, on...)
	w.jobs[name].Notify.Quiet = &common.Quiet{From: "22:00", To: "07:00", Timezone: "UTC"}
	w.jobs[name].Notify.Urgent = urgent
}

// What happens at night is one digest per channel in the morning, but for urgent failures.
func TestNotifier_QuietHours_OneDigestPerChannel(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.quiet("fails", false, everything...)
		w.jobs["fails"].Notify.After = map[common.Duration][]string{"30m": {"boss"}}
		w.channels["boss"] = Channel{Name: "boss", Kind: KindWebhook, Version: 1}
		w.quiet("flaps", false, everything...)
		w.quiet("prints", true, common.EventOutput)
		w.quiet("urgent", true, everything...)
		stop := w.elected(t)
		at := time.Now() // midnight
		if at.UTC().Hour() != 0 {
			t.Fatalf("it is %v", at)
		}
		for _, job := range []string{"fails", "flaps", "urgent"} {
			w.ended(job, "failed", 1, at)
		}
		w.ended("prints", "succeeded", 1, at)
		after(90 * time.Minute)
		w.ended("fails", "failed", 1, at.Add(90*time.Minute)) // worth a reminder by day
		w.ended("flaps", "succeeded", 1, at.Add(90*time.Minute))
		w.ended("prints", "succeeded", 1, at.Add(90*time.Minute))
		stop()
		stop = w.elected(t)
		after(5 * time.Hour)
		if got := w.told(); got != "urgent:failed@hook urgent:failed@post" {
			t.Fatalf("at night: %s", got)
		}
		after(35 * time.Minute) // it is past seven
		if got, want := w.told(), ":digest@hook :digest@post fails:escalated@boss urgent:failed@hook "+
			"urgent:failed@post"; got != want {
			t.Fatalf("in the morning: %s, want %s", got, want)
		}
		m := w.sent[slices.IndexFunc(w.sent, func(m Message) bool { return m.Data.Event == "digest@hook" })]
		if m.Type != "cluster.digest" || !slices.Equal(m.Data.Jobs, []string{"fails"}) ||
			!slices.Equal(m.Data.Digest.RecoveredJob, []string{"flaps"}) ||
			!slices.Equal(m.Data.Digest.PrintedJob, []string{"prints"}) ||
			m.Subject != "[Carillon] after quiet hours: 1 job is in trouble, 1 job has recovered, "+
				"1 job has printed output" {
			t.Errorf("%+v", m)
		}
		w.ended("fails", "succeeded", 1, at.Add(8*time.Hour))
		after(time.Minute)
		stop()
		if got := w.told(); got != ":digest@hook :digest@post fails:escalated@boss fails:recovered@boss "+
			"fails:recovered@hook fails:recovered@post urgent:failed@hook urgent:failed@post" {
			t.Errorf("by day: %s", got)
		}
		for _, s := range w.states {
			if len(s.Quiet)+len(s.Muted) > 0 {
				t.Errorf("%s still waits: %+v", s.Job, s)
			}
		}
	})
}

// Ten thousand jobs that fail in one minute make a bounded number of messages, which name the rest by number.
func TestNotifier_TenThousandFailures_FewMessages(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		const jobs = 10_000
		for i := range jobs {
			w.job(fmt.Sprintf("job-%05d", i), everything...)
		}
		stop := w.elected(t)
		at := time.Now()
		for i := range jobs {
			w.ended(fmt.Sprintf("job-%05d", i), "failed", 1, at)
			if i%(jobs/50) == 0 {
				after(time.Second)
			}
		}
		after(5 * time.Minute)
		stop()
		single, summaries, named := 0, 0, int64(0)
		for _, m := range w.sent {
			switch m.Data.Event {
			case "failed@hook":
				single++
			case SubjectSummary + "@hook":
				summaries, named = summaries+1, named+m.Data.Count
			}
		}
		// The failures may fall into two minutes, and a summary may be written every 15 seconds meanwhile.
		if single > 2*EventsPerMinute || summaries > 8 || int64(single)+named != jobs ||
			len(w.sent) > 2*(single+summaries) {
			t.Errorf("%d single, %d summaries of %d, %d messages", single, summaries, named, len(w.sent))
		}
	})
}

// A message is on its way within two seconds of the outcome, with the output if the log store has it by then.
func TestNotifier_MessageOnItsWay_InTwoSeconds(t *testing.T) {
	for missing, want := range map[int]struct {
		most   time.Duration
		output string
	}{0: {time.Second, "the end"}, 2: {1600 * time.Millisecond, "the end"}, 1000: {2100 * time.Millisecond, ""}} {
		virtualtime.Test(t, func(t *testing.T) {
			w := newWorld()
			w.job("a", everything...)
			w.jobs["a"].Notify.To = []string{"hook"}
			w.missing = missing
			stop := w.elected(t)
			at := time.Now()
			w.ended("a", "failed", 1, at)
			after(time.Minute)
			stop()
			if len(w.done) != 1 || len(w.sent) != 1 {
				t.Fatalf("%d sent", len(w.sent))
			}
			for _, n := range w.done {
				took := n.TriedAt.Sub(at)
				if took > want.most || w.sent[0].Data.Output != want.output || n.Attempts != 1 {
					t.Errorf("%d reads without output: after %v with %q", missing, took, w.sent[0].Data.Output)
				}
			}
		})
	}
}
