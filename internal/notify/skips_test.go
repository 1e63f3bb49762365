package notify

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// skipping sets how many of the last fires of job a were skipped.
func (w *world) skipping(skipped int, often bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.skips = map[string]Skips{"a": {Skipped: skipped, Of: 10, Often: often}, "b": {Skipped: 9, Of: 10, Often: true}}
}

// A job that often skips fires is one message, until none of its last fires was skipped: also with another master, and
// whether it fails and recovers meanwhile.
func TestSkippedFires_NotifiedOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", common.EventFailed, common.EventSkipped)
		w.job("b", common.EventFailed) // does not want it
		w.jobs["a"].Notify.To = []string{"hook"}
		stop := w.elected(t)
		w.skipping(2, false)
		after(time.Minute)
		if got := w.told(); got != "" {
			t.Fatalf("few skipped fires: %s", got)
		}
		w.skipping(4, true)
		after(time.Minute)
		if got := w.told(); got != "a:skipped@hook" {
			t.Fatalf("many skipped fires: %s", got)
		}
		if m := w.sent[0]; m.Type != "run.skipped" || m.Subject != "[Carillon] a skips fires: 4 of its last 10" ||
			m.Data.URL != "https://carillon.example.com/jobs/a" || m.Data.Trouble() != "" {
			t.Errorf("sent %+v", m)
		}
		at := time.Now()
		w.ended("a", "failed", 1, at)
		after(time.Minute)
		w.ended("a", "succeeded", 1, at.Add(time.Minute))
		stop()
		stop = w.elected(t)
		w.skipping(1, false)
		after(time.Hour)
		w.skipping(5, true)
		after(time.Hour)
		if got := w.told(); got != "a:failed@hook a:skipped@hook" {
			t.Fatalf("it went on: %s", got)
		}
		w.skipping(0, false)
		after(time.Minute)
		w.skipping(3, true)
		after(time.Minute)
		stop()
		if got := w.told(); got != "a:failed@hook a:skipped@hook a:skipped@hook" {
			t.Errorf("it began again: %s", got)
		}
	})
}

// In quiet hours, and while the last results are unknown, the message waits; it is not lost.
func TestSkippedFires_WaitForQuietHoursAndResults(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", common.EventSkipped)
		w.jobs["a"].Notify.To = []string{"hook"}
		from := time.Now().UTC()
		w.jobs["a"].Notify.Quiet = &common.Quiet{
			From: from.Format("15:04"), To: from.Add(time.Hour).Format("15:04"), Timezone: "UTC",
		}
		stop := w.elected(t)
		w.skipping(4, true)
		after(50 * time.Minute)
		if got := w.told(); got != "" {
			t.Fatalf("in quiet hours: %s", got)
		}
		w.mu.Lock()
		w.away = true
		w.mu.Unlock()
		after(20 * time.Minute)
		if got := w.told(); got != "" {
			t.Fatalf("without results: %s", got)
		}
		w.mu.Lock()
		w.away = false
		w.mu.Unlock()
		after(time.Minute)
		stop()
		if got := w.told(); got != "a:skipped@hook" {
			t.Errorf("afterwards: %s", got)
		}
	})
}
