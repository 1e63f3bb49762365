package notify

import (
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// crashed puts the outcome of a short run of a replica into the outboxes.
func (w *world) crashed(job string, restarts int) {
	w.mu.Lock()
	w.revision++
	fire := common.ReplicaFire("uid-"+job, "000", time.Now())
	run := common.Run{ID: common.RunID(fire, 1), Job: job, JobUID: "uid-" + job, Fire: fire, Attempt: 1,
		PlannedAt: time.Now(), Cause: common.CauseDaemon, Status: common.StatusFailed, Restarts: restarts,
		EndedAt: new(time.Now().UTC())}
	w.runs[run.ID] = run
	w.outcomes = append(w.outcomes, Outcome{Run: run, Revision: w.revision})
	close(w.news)
	w.news = make(chan struct{})
	w.mu.Unlock()
}

// has sets the replicas that etcd holds.
func (w *world) has(replicas ...common.Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.replicas = replicas
}

func TestCrashLoop_IsNotifiedOnceAnHour_AndRecovers(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("a", everything...)
		job := w.jobs["a"]
		job.Daemon = &common.Daemon{Count: 2}
		w.jobs["a"] = job
		running := func(since time.Time, restarts int) common.Run {
			return common.Run{ID: "r" + since.String(), Job: "a", JobUID: "uid-a", Status: common.StatusRunning,
				Cause: common.CauseDaemon, ClaimedAt: &since, Restarts: restarts}
		}
		waiting := common.Run{ID: "w", Job: "a", JobUID: "uid-a", Status: common.StatusWaiting, Restarts: 9}
		other := running(time.Now(), 0)
		w.has(other, waiting)
		stop := w.elected(t)
		count := func() int { return strings.Count(w.told(), "a:failed@hook") }
		for i, want := range []int{0, 0, 1, 1, 1} {
			w.crashed("a", i+1)
			if after(time.Minute); count() != want {
				t.Errorf("told %d times after %d short runs", count(), i+1)
			}
		}
		for range 26 { // for more than two hours
			after(5 * time.Minute)
			w.crashed("a", 9)
		}
		if after(30 * time.Second); count() != 3 {
			t.Errorf("told %d times in two hours: %s", count(), w.told())
		}
		if m := w.sent[0]; !strings.Contains(m.Subject, "a keeps restarting: 3 short runs in a row") {
			t.Errorf("subject %q", m.Subject)
		}
		// The other replica has run for two hours, but this one not yet for ten minutes.
		w.has(other, running(time.Now(), 9))
		if after(9 * time.Minute); strings.Contains(w.told(), "recovered") {
			t.Errorf("recovered too early: %s", w.told())
		}
		if after(90 * time.Second); strings.Count(w.told(), "a:recovered@hook") != 1 {
			t.Errorf("told %s", w.told())
		}
		after(time.Hour)
		stop()
		if strings.Count(w.told(), "a:recovered@hook") != 1 || w.states["a"].Trouble {
			t.Errorf("told %s, %+v", w.told(), w.states["a"])
		}
	})
}

// A replica without a worker does not prevent the recovery of the others; without any run there is none.
func TestSteady(t *testing.T) {
	at := func(d time.Duration) *time.Time { return new(noon.Add(-d)) }
	for name, c := range map[string]struct {
		replicas []common.Run
		want     string
	}{
		"no replicas":         {nil, ""},
		"waits for a worker":  {[]common.Run{{ID: "a"}}, ""},
		"waits after crashes": {[]common.Run{{ID: "a", ClaimedAt: at(time.Hour)}, {ID: "b", Restarts: 1}}, ""},
		"another one is young": {[]common.Run{{ID: "a", ClaimedAt: at(time.Hour)},
			{ID: "b", ClaimedAt: at(time.Minute)}}, ""},
		"all last": {[]common.Run{{ID: "a", ClaimedAt: at(time.Hour), Restarts: 4},
			{ID: "b", ClaimedAt: at(steadyAfter)}, {ID: "c"}}, "b"},
	} {
		got := ""
		if run := steady(c.replicas, noon); run != nil {
			got = run.ID
		}
		if got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
