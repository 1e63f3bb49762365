package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// changeWaits changes the approvals that wait.
func (w *world) changeWaits(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revision++
	change()
	close(w.asked)
	w.asked = make(chan struct{})
}

// waitFor makes a step of a flow wait.
func (w *world) waitFor(flow, step string) {
	w.changeWaits(func() {
		key := flow + "/" + step
		w.waits[key] = Wait{Key: key, Job: flow, UID: "uid-" + flow, Version: w.revision}
	})
}

func (w *world) FollowWaits(ctx context.Context, take func(context.Context, bool, []Wait, []string) error) error {
	seen := map[string]int64{}
	for whole := true; ; whole = false {
		w.mu.Lock()
		var put []Wait
		var gone []string
		for key, wait := range w.waits {
			if seen[key] != wait.Version {
				seen[key] = wait.Version
				put = append(put, wait)
			}
		}
		for key := range seen {
			if _, waits := w.waits[key]; !waits {
				delete(seen, key)
				gone = append(gone, key)
			}
		}
		changed := w.asked
		w.mu.Unlock()
		if err := take(ctx, whole, put, gone); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (w *world) Ask(_ context.Context, wait Wait, notices func(*common.FlowWait) []Notice) (Wait, bool, error) {
	w.mu.Lock()
	broken, version := w.broken, w.waits[wait.Key].Version
	w.mu.Unlock()
	if broken != nil || version != wait.Version {
		return wait, false, broken
	}
	flow, step, _ := strings.Cut(wait.Key, "/")
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	all := notices(&common.FlowWait{Flow: common.FlowNode{Job: flow, Run: "run-of-" + flow, Node: step, UID: wait.UID},
		Fire: "fire-" + step, Text: "Publish?", Since: since, Deadline: new(since.Add(time.Hour))})
	w.changeWaits(func() {
		wait.Version = w.revision
		w.waits[wait.Key] = wait
		for _, n := range all {
			n.Version = w.revision
			w.waiting[n.ID] = n
		}
	})
	return wait, true, nil
}

func TestApproval_EachChannelIsNotifiedOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", "approval")
		w.job("b", "failed")
		w.waitFor("a", "early") // before the master was elected
		stop := w.elected(t)
		w.waitFor("a", "publish")
		w.waitFor("b", "quiet")    // not wanted
		w.waitFor("gone", "quiet") // the flow was deleted
		w.changeWaits(func() {
			w.waits["a/other"] = Wait{Key: "a/other", Job: "a", UID: "earlier", Version: w.revision}
		})
		after(time.Minute)
		if got, want := w.told(), "a:approval@hook a:approval@hook a:approval@post a:approval@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		i := slices.IndexFunc(w.sent, func(m Message) bool { return m.Data.Step == "publish" })
		m := w.sent[i]
		if m.Type != "run.approval" || m.Data.URL != "https://carillon.example.com/runs/run-of-a" ||
			m.Data.Text != "Publish?" || m.Data.Deadline.Sub(*m.Data.Since) != time.Hour || m.Data.Output != "" {
			t.Errorf("sent %+v", m)
		}
		for _, part := range []string{"a waits for approval of step publish", "Question:  Publish?",
			"Deadline:  2026-03-01T13:00:00Z"} {
			if !strings.Contains(m.Text, part) {
				t.Errorf("%q is not in the text %q", part, m.Text)
			}
		}

		stop()
		stop = w.elected(t) // another master: it knows what was notified
		w.job("b", "approval")
		after(time.Minute) // and notifies of what was waiting when the flow began to want it
		stop()
		if got := strings.Count(w.told(), "a:approval"); got != 4 {
			t.Errorf("notified %d times", got)
		}
		if got := strings.Count(w.told(), "b:approval"); got != 2 {
			t.Errorf("told %s", w.told())
		}
	})
}

// Approvals that exceed the limit of a minute are notified in the next one, except for those that were answered.
func TestApproval_ManyAtOnce_WaitForTheirMinute(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", "approval")
		w.waits = map[string]Wait{}
		for i := range 2 * EventsPerMinute {
			key := fmt.Sprintf("a/s%03d", i)
			w.waits[key] = Wait{Key: key, Job: "a", UID: "uid-a", Notified: []string{"post"}, Version: 1}
		}
		stop := w.elected(t)
		after(10 * time.Second)
		told := strings.Count(w.told(), "a:approval@hook")
		if told > EventsPerMinute || told == 0 {
			t.Errorf("notified of %d of %d in a minute", told, 2*EventsPerMinute)
		}
		w.changeWaits(func() { // one of those that were not notified is answered
			for key, wait := range w.waits {
				if !slices.Contains(wait.Notified, "hook") {
					delete(w.waits, key)
					break
				}
			}
		})
		after(5 * time.Minute)
		stop()
		steps := map[string]int{}
		for _, m := range w.sent {
			steps[m.Data.Step]++
		}
		if len(steps) != 2*EventsPerMinute-1 || len(w.sent) != len(steps) {
			t.Errorf("%d notifications of %d steps", len(w.sent), len(steps))
		}
	})
}

func TestApproval_WriteFails_IsRepeated(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", "approval")
		stop := w.elected(t)
		w.mu.Lock()
		w.broken = errors.New("etcd is away")
		w.mu.Unlock()
		w.waitFor("a", "publish")
		after(time.Minute)
		if got := w.told(); got != "" {
			t.Errorf("told %s", got)
		}
		w.mu.Lock()
		w.broken = nil
		w.mu.Unlock()
		after(time.Minute)
		stop()
		if got, want := w.told(), "a:approval@hook a:approval@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// A flow run is notified once, however many of its steps fail; a backfill once for all of its runs.
func TestFlowRunsAndBackfills_AreNotifiedOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		w.job("b", everything...)
		stop := w.elected(t)
		at := time.Now()
		w.ended("a:load", "failed", 1, at)
		w.ended("a:check", "failed", 1, at)
		w.ended("a", "failed", 1, at)
		backfill := w.ended("b@backfill", "failed", 1, at)
		after(time.Minute)
		stop()
		if got, want := w.told(), "a:failed@hook a:failed@post b:failed@hook b:failed@post"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		i := slices.IndexFunc(w.sent, func(m Message) bool { return m.Data.Job == "b" })
		if m := w.sent[i]; !m.Data.Backfill || m.Data.Run != backfill.ID ||
			!strings.Contains(m.Subject, "backfill of b failed") {
			t.Errorf("sent %+v", m)
		}
	})
}
