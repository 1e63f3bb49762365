package notify

import (
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// fires puts outcomes of a job's fires into the outboxes, a minute from each other: s was skipped because of its own
// runs, p since the job was paused; f failed, - succeeded.
func (w *world) fires(job string, at *time.Time, fires string) {
	for _, kind := range fires {
		status := map[rune]common.Status{'f': common.StatusFailed, '-': common.StatusSucceeded}[kind]
		if kind == 's' || kind == 'p' {
			status = common.StatusSkipped
		}
		w.ended(job, status, map[bool]int{true: 0, false: 1}[status == common.StatusSkipped], *at)
		if kind == 'p' {
			w.mu.Lock()
			w.outcomes[len(w.outcomes)-1].Run.Reason.Code = "paused"
			w.mu.Unlock()
		}
		*at = at.Add(time.Minute)
	}
	after(time.Minute)
}

func (w *world) skipping(on ...common.Event) {
	w.mute = true
	w.job("a", on...)
	w.jobs["a"].Notify.To = []string{"hook"}
}

// wants changes the events of job a.
func (w *world) wants(on ...common.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	job := w.jobs["a"]
	job.Notify = &common.Notify{On: on, To: job.Notify.To}
	w.jobs["a"] = job
}

// A job that often skips fires is one message, until none of its last fires was skipped, with any master, and whether
// it fails and recovers meanwhile.
func TestSkippedFires_NotifiedOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.skipping(common.EventFailed, common.EventSkipped)
		w.job("b", common.EventFailed) // does not want it
		stop := w.elected(t)
		at, other := time.Now(), time.Now()
		w.fires("b", &other, "ssssssssss")
		w.fires("a", &at, "--s-pppppppp-s-")
		if got := w.told(); got != "" {
			t.Fatalf("few skipped fires: %s", got)
		}
		w.fires("a", &at, "s-s")
		if got := w.told(); got != "a:skipped@hook" {
			t.Fatalf("many skipped fires: %s", got)
		}
		if m := w.sent[0]; m.Type != "run.skipped" || m.Subject != "[Carillon] a skips fires: 3 of its last 5" ||
			m.Data.URL != "https://carillon.example.com/jobs/a" || m.Data.Trouble() != "" {
			t.Errorf("sent %+v", m)
		}
		stop()
		stop = w.elected(t) // another master
		w.fires("a", &at, "sf-ss---------s")
		if got := w.told(); got != "a:failed@hook a:skipped@hook" {
			t.Fatalf("it goes on: %s", got)
		}
		w.fires("a", &at, "----------")
		w.fires("a", &at, "sss")
		stop()
		if got := w.told(); got != "a:failed@hook a:skipped@hook a:skipped@hook" {
			t.Errorf("it has begun again: %s", got)
		}
	})
}

// Outcomes may come in any order, and again: runs end after later fires were skipped.
func TestSkips_AnyOrderOfOutcomes(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	fire := func(minute int, status common.Status) *Outcome {
		return &Outcome{Run: common.Run{
			Job:       "a",
			PlannedAt: noon.Add(time.Duration(minute) * time.Minute),
			Status:    status,
			Reason:    &common.Reason{Code: common.ReasonQueueFull},
		}}
	}
	var s Skips
	for range 2 {
		for _, o := range []*Outcome{
			fire(1, common.StatusSkipped), fire(2, common.StatusSkipped), fire(0, common.StatusSucceeded),
			fire(4, common.StatusSkipped), fire(3, common.StatusSucceeded),
		} {
			s.add(o)
		}
	}
	if !s.At.Equal(noon.Add(4*time.Minute)) || s.Of != 4 || len(s.Fires) != 5 {
		t.Errorf("%+v", s)
	}
	if s.add(fire(1, common.StatusSucceeded)); s.Fires[3].Skipped {
		t.Errorf("a skipped fire that was run later: %+v", s)
	}
	for _, o := range []*Outcome{
		{Run: fire(9, common.StatusSkipped).Run, Late: true},
		{Run: common.Run{Job: "a@backfill", Status: common.StatusSkipped, PlannedAt: noon.Add(time.Hour)}},
		{Run: fire(9, common.StatusSkipped).Run, Step: &StepOf{Job: "f"}},
	} {
		if s.add(o) {
			t.Errorf("%+v is no fire of the job", o)
		}
	}
}

// In quiet hours the message waits, and comes also if the fires are not skipped any more by then.
func TestSkippedFires_InQuietHours_NotifiedAfterwards(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.skipping(common.EventSkipped)
		from := time.Now().UTC()
		w.jobs["a"].Notify.Quiet = &common.Quiet{
			From: from.Format("15:04"), To: from.Add(time.Hour).Format("15:04"), Timezone: "UTC",
		}
		stop := w.elected(t)
		at := time.Now()
		w.fires("a", &at, "sss")
		w.fires("a", &at, "------------")
		if got := w.told(); got != "" {
			t.Fatalf("in quiet hours: %s", got)
		}
		after(time.Hour)
		stop()
		if got := w.told(); got != "a:skipped@hook" {
			t.Errorf("afterwards: %s", got)
		}
		if s := w.states["a"].Skips; !s.zero() {
			t.Errorf("it is over, and remembered: %+v", s)
		}
	})
}

// A channel with a long queue does not keep the others from being notified, and is notified when it has room.
func TestSkippedFires_ChannelWithoutRoom(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.skipping(common.EventSkipped)
		w.jobs["a"].Notify.To = []string{"hook", "post"}
		w.answer = func(c Channel, _ Message) Result {
			if c.Name == "post" {
				return Result{Err: common.Errorf(common.CodeUnavailable, "away")}
			}
			return Result{}
		}
		for range maxBehind {
			now := time.Now()
			id := noticeID(now, strings.Repeat("x", len(w.waiting)))
			w.waiting[id] = Notice{
				ID: id, Channel: "post", Subject: "failed", Status: Waiting, CreatedAt: now, NextAt: now,
			}
		}
		stop := w.elected(t)
		at := time.Now()
		w.fires("a", &at, "sss")
		if got := w.states["a"].Skips.Told; len(got) != 1 || got[0] != "hook" {
			t.Errorf("told %v", got)
		}
		w.mu.Lock()
		clear(w.waiting)
		w.mu.Unlock()
		after(5 * time.Minute)
		stop()
		if got := w.states["a"].Skips.Told; len(got) != 2 {
			t.Errorf("with room: told %v", got)
		}
	})
}

// A job that does not want the event any more, or another one of its name, begins without skipped fires.
func TestSkippedFires_AreForgotten(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.skipping(common.EventFailed, common.EventSkipped)
		stop := w.elected(t)
		at := time.Now()
		w.fires("a", &at, "sss")
		w.wants(common.EventFailed)
		after(time.Minute)
		if s := w.states["a"].Skips; !s.zero() {
			t.Errorf("not wanted any more: %+v", s)
		}
		w.wants(common.EventFailed, common.EventSkipped)
		w.fires("a", &at, "sss")
		stop()
		if got := w.told(); got != "a:skipped@hook a:skipped@hook" {
			t.Errorf("wanted again: %s", got)
		}
	})
}
