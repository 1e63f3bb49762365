package notify

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// escalating makes a job that notifies hook of failures, and post of a trouble that lasts 30 minutes.
func (w *world) escalating(on ...common.Event) {
	w.job("a", on...)
	w.jobs["a"].Notify.To = []string{"hook"}
	w.jobs["a"].Notify.After = map[common.Duration][]string{"30m": {"post"}, "2h": {"post", "boss"}}
	w.channels["boss"] = Channel{Name: "boss", Kind: KindWebhook, Version: 1}
}

func TestNotifier_LastingTrouble_EscalatedOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.escalating("failed") // not of the recovery
		stop := w.elected(t)
		at := time.Now()
		run := w.ended("a", "failed", 1, at)
		after(29 * time.Minute)
		if got := w.told(); got != "a:failed@hook" {
			t.Fatalf("before the time: %s", got)
		}
		stop()
		stop = w.elected(t) // another master
		after(2 * time.Minute)
		if got := w.told(); got != "a:escalated@post a:failed@hook" {
			t.Fatalf("after 30 minutes: %s", got)
		}
		m := w.sent[1]
		if m.Type != "run.escalated" || m.Subject != "[Carillon] a has been in trouble for 30m" ||
			m.Data.URL != "https://carillon.example.com/runs/"+run.ID || m.Data.Trouble() != w.sent[0].Data.Trouble() {
			t.Errorf("sent %+v", m)
		}
		stop()
		stop = w.elected(t)
		after(10 * time.Minute)
		w.ended("a", "succeeded", 1, at.Add(41*time.Minute))
		after(3 * time.Hour) // the second step is not reached
		stop()
		if got := w.told(); got != "a:escalated@post a:failed@hook a:recovered@post" {
			t.Errorf("after the recovery: %s", got)
		}
	})
}

// Acknowledging a failure stops the escalation until that is withdrawn, also while the log store is away, and does not
// concern the next trouble.
func TestNotifier_AcknowledgedTrouble_NotEscalated(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.escalating("failed", "recovered")
		stop := w.elected(t)
		acks := func(acks map[string]Ack, away bool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.acks, w.away = acks, away
		}
		at := time.Now()
		acks(map[string]Ack{"a": {By: "old", At: at.Add(-time.Hour)}}, false) // of an earlier trouble
		w.ended("a", "failed", 1, at)
		after(20 * time.Minute)
		acks(map[string]Ack{"a": {By: "ada", At: time.Now()}}, false)
		after(time.Minute)
		if s := w.states["a"]; s.Acked != "ada" {
			t.Errorf("acknowledged by %q", s.Acked)
		}
		acks(nil, true)
		after(20 * time.Minute)
		if got := w.told(); got != "a:failed@hook" {
			t.Fatalf("acknowledged: %s", got)
		}
		acks(nil, false) // withdrawn
		after(time.Minute)
		if got := w.told(); got != "a:escalated@post a:failed@hook" {
			t.Fatalf("withdrawn: %s", got)
		}
		acks(map[string]Ack{"a": {By: "ada", At: time.Now()}}, false)
		w.ended("a", "succeeded", 1, at.Add(43*time.Minute))
		after(time.Minute)
		w.ended("a", "failed", 1, at.Add(44*time.Minute))
		after(31 * time.Minute)
		stop()
		if got := w.told(); got != "a:escalated@post a:escalated@post a:failed@hook a:failed@hook a:recovered@hook "+
			"a:recovered@post" {
			t.Errorf("the next trouble: %s", got)
		}
	})
}

// An outage of the log store does not keep people from being told.
func TestNotifier_AcknowledgementsUnknown_Escalated(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.escalating("failed")
		w.away = true
		stop := w.elected(t)
		w.ended("a", "failed", 1, time.Now())
		after(3 * time.Hour)
		stop()
		if got := w.told(); got != "a:escalated@boss a:escalated@post a:failed@hook" {
			t.Error(got)
		}
	})
}
