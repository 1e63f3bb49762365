package notify

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// toldOf counts the notifications of a job's event.
func (w *world) toldOf(job string, event common.Event) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.sent {
		if m.Data.Job == job && strings.HasPrefix(string(m.Data.Event), string(event)+"@") {
			n++
		}
	}
	return n
}

func codes(n *Notifier) (codes []string) {
	for _, c := range n.Conditions() {
		codes = append(codes, c.Code)
	}
	return codes
}

// A long gap is read page by page. Pages that were read stay read when the history fails in between
// or another master is elected; and it is a condition as long as it lasts.
func TestGap_HistoryFailsInBetween_ReadsEachPageOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		for i := range 4 {
			w.job(fmt.Sprintf("job-%d", i), everything...)
		}
		stop := w.elected(t)
		at := time.Now()
		after(time.Minute)
		stop()
		const each = 21
		for i := range 4 {
			for k := range each {
				status := common.StatusSucceeded
				if k == each/2 {
					status = common.StatusFailed
				}
				w.ended(fmt.Sprintf("job-%d", i), status, 1, at.Add(time.Duration(k+1)*time.Second))
			}
		}
		w.compacted, w.outcomes, w.away = w.revision, nil, true
		for range 3 { // elections in between
			n, stop := w.electedNotifier(t)
			after(20 * time.Second)
			if got := codes(n); len(got) != 1 || got[0] != common.ConditionNotifyBehind {
				t.Errorf("conditions %v while it is behind", got)
			}
			stop()
			if got := codes(n); got != nil {
				t.Errorf("conditions %v of a master that is not elected", got)
			}
		}
		n, stop := w.electedNotifier(t)
		after(5 * time.Minute)
		if got := codes(n); got != nil {
			t.Errorf("conditions %v after the gap", got)
		}
		stop()
		for i := range 4 {
			name := fmt.Sprintf("job-%d", i)
			for _, event := range []common.Event{common.EventFailed, common.EventRecovered} {
				if told := w.toldOf(name, event); told != 2 {
					t.Errorf("%s of %s was sent %d times, want once on each of 2 channels", event, name, told)
				}
			}
		}
		// 11 pages per job, each failed once, and one interrupted by an election.
		if pages := 4 * 11; w.pages > 2*pages+8 {
			t.Errorf("%d pages were asked for, want about %d", w.pages, 2*pages)
		}
	})
}

// A watch that fails permanently is a condition within a minute, with its reason, which ends when
// the watch succeeds.
func TestConditions_WatchRefused_SaysStuckWithinAMinute(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		n, stop := w.electedNotifier(t)
		defer stop()
		after(10 * time.Minute) // without outcomes there is no condition
		if got := n.Conditions(); got != nil {
			t.Fatalf("conditions %+v of an idle notifier", got)
		}
		w.mu.Lock()
		w.deaf = errors.New("invalid auth token")
		w.mu.Unlock()
		w.ended("a", "failed", 1, time.Now())
		after(time.Minute)
		if got := n.Conditions(); len(got) != 1 || got[0].Code != common.ConditionNotifyStuck ||
			got[0].Data["error"] != "invalid auth token" {
			t.Fatalf("conditions %+v after a minute without a watch", got)
		}
		w.mu.Lock()
		w.deaf = nil
		w.mu.Unlock()
		after(time.Minute)
		if got := n.Conditions(); got != nil {
			t.Errorf("conditions %+v when the watch is back", got)
		}
		if told := w.toldOf("a", common.EventFailed); told != 2 {
			t.Errorf("told %d times, want once on each of 2 channels", told)
		}
	})
}
