package notify

import (
	"context"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

func (w *world) Tolerates(_ context.Context, uid string, of *common.FlowNode) bool {
	return uid == "uid-"+of.Job && slices.Contains(w.allowed, of.Node)
}

// stepEnded puts the outcome of a node of a flow run into the outboxes. An inline step has no job of its own.
func (w *world) stepEnded(flow common.Run, node, job string, status common.Status, attempt int) common.Run {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revision++
	inline := job == ""
	uid := "uid-" + job
	if inline {
		job, uid = common.StepJob(flow.Job, node), flow.JobUID
	}
	fire := uid + ".n" + node + flow.ID[len(flow.ID)-1:] + flow.Fire[len(flow.Fire)-3:]
	run := common.Run{ID: common.RunID(fire, attempt), Job: job, JobUID: uid, JobVersion: 1 << 40, Fire: fire,
		PlannedAt: flow.PlannedAt, Attempt: attempt, Status: status, EndedAt: new(time.Now().UTC()), OutputBytes: 10,
		Flow: &common.FlowNode{Kind: common.KindFlow, Job: flow.Job, Run: flow.ID, Node: node, UID: uid}}
	if inline {
		run.JobVersion = 1
	}
	w.runs[run.ID] = run
	w.outcomes = append(w.outcomes, Outcome{Run: run, Revision: w.revision})
	close(w.news)
	w.news = make(chan struct{})
	return run
}

// flowRun returns a flow run that has not ended.
func flowRun(job string, planned time.Time) common.Run {
	fire := common.PlannedFire("uid-"+job, planned)
	return common.Run{ID: common.RunID(fire, 1), Job: job, JobUID: "uid-" + job, Fire: fire, Attempt: 1,
		PlannedAt: planned}
}

func TestStepFailed_IsNotifiedOncePerFlowRun_WhileTheFlowRuns(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("f", "step_failed", "recovered")
		w.job("g", "failed")
		w.allowed = []string{"probe", "never"}
		stop := w.elected(t)
		defer stop()
		first := flowRun("f", time.Now())
		w.stepEnded(first, "extract", "", common.StatusSucceeded, 1)
		w.stepEnded(first, "probe", "", common.StatusFailed, 1)      // may fail
		w.stepEnded(first, "load@00003", "", common.StatusFailed, 1) // an item counts for its step
		w.stepEnded(first, "rest", "", common.StatusSkipped, 0)
		w.stepEnded(flowRun("g", time.Now()), "extract", "", common.StatusFailed, 1) // not wanted
		after(time.Minute)
		if got := w.told(); got != "" {
			t.Fatalf("told %s, though no step has failed", got)
		}

		load := w.stepEnded(first, "load", "", common.StatusFailed, 0)
		after(time.Minute)
		if w.toldOf("f", "step_failed") != 2 || len(w.sent) != 2 { // to two channels
			t.Fatalf("told %s", w.told())
		}
		m := w.sent[0]
		if m.Type != "run.step_failed" || m.Subject != "[Carillon] f: step load failed" || m.Data.Run != first.ID ||
			m.Data.Step != "load" || m.Data.StepRun != "" || m.Data.Fire != first.Fire || m.Data.Job != "f" ||
			m.Data.URL != "https://carillon.example.com/runs/"+first.ID {
			t.Errorf("sent %+v of %s", m, load.ID)
		}
		after(2 * time.Hour)
		w.stepEnded(first, "report", "weekly", common.StatusLost, 1) // a second step of it
		after(time.Minute)
		if w.toldOf("f", "step_failed") != 2 {
			t.Errorf("told %s: twice of a flow run", w.told())
		}

		second := flowRun("f", time.Now())
		w.stepEnded(second, "never", "", common.StatusRefused, 0) // only what ran may fail
		after(time.Minute)
		if w.toldOf("f", "step_failed") != 4 {
			t.Errorf("told %s", w.told())
		}
		w.ended("f", common.StatusSucceeded, 1, time.Now())
		after(time.Minute)
		if w.toldOf("f", "recovered") != 2 || len(w.sent) != 6 {
			t.Errorf("told %s", w.told())
		}
	})
}

// A step that runs a job concerns both: the job's own notifications, and those of the flow.
func TestStepFailed_OfAJob_HasItsOutput(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("f", "failed", "step_failed")
		w.job("weekly", "failed")
		stop := w.elected(t)
		defer stop()
		flow := flowRun("f", time.Now())
		w.stepEnded(flow, "report", "weekly", common.StatusFailed, 1)
		last := w.stepEnded(flow, "report", "weekly", common.StatusTimedOut, 2)
		after(time.Minute)
		if w.toldOf("f", "step_failed") != 2 || w.toldOf("weekly", "failed") != 2 || len(w.sent) != 4 {
			t.Fatalf("told %s", w.told())
		}
		i := slices.IndexFunc(w.sent, func(m Message) bool { return m.Data.Job == "f" })
		if m := w.sent[i]; m.Subject != "[Carillon] f: step report timed out" || m.Data.StepRun != last.ID ||
			m.Data.Output == "" {
			t.Errorf("sent %+v", m)
		}
		// The flow run then fails, which is worse, and still one fire.
		w.ended("f", common.StatusFailed, 1, flow.PlannedAt)
		after(time.Minute)
		if w.toldOf("f", "failed") != 2 {
			t.Errorf("told %s", w.told())
		}
		if got := w.states["f"].Count; got != 1 {
			t.Errorf("%d failed fires are counted", got)
		}
	})
}

// Runs that were ended on purpose are not failures of their step, nor are those of a backfill.
func TestStepFailed_WhatWasWanted_IsNotNotified(t *testing.T) {
	for _, c := range []struct {
		name string
		of   func(*common.Run)
		bad  bool
	}{
		{"killed by a user", func(r *common.Run) {
			r.Status, r.Reason = common.StatusKilled, &common.Reason{Code: "killed_by_user"}
		}, false},
		{"in a backfill", func(r *common.Run) { r.Flow.Background = true }, false},
		{"replica", func(r *common.Run) { r.Flow.Kind = common.KindSpread }, false},
		{"alone", func(*common.Run) {}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			flow := flowRun("f", noon)
			run := common.Run{ID: "uid-f.nx.1", Job: "f:a", Fire: "uid-f.nx", Attempt: 1, Status: common.StatusFailed,
				Flow: &common.FlowNode{Kind: common.KindFlow, Job: "f", Run: flow.ID, Node: "a"}}
			c.of(&run)
			if _, failed := (&Outcome{Run: run, Revision: 1}).ofStep(); failed != c.bad {
				t.Errorf("failed is %v", failed)
			}
			if _, failed := (&Outcome{Run: run, Late: true}).ofStep(); failed {
				t.Error("a late run counts as failed")
			}
		})
	}
}

// Outcomes of steps that etcd has compacted are not read again; the failure of their flow run stands for them.
func TestStepFailed_AfterAGap_TheFlowRunCounts(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld()
		w.job("f", "step_failed")
		w.job("g", "failed", "step_failed")
		for _, name := range []string{"f", "g"} {
			job := w.jobs[name]
			job.AutoPause = &common.AutoPause{Failures: 5} // counts the same outcome
			job.Flow = &common.FlowRef{Steps: 2}
			w.jobs[name] = job
		}
		stop := w.elected(t)
		after(time.Minute)
		stop()
		w.ended("f", common.StatusFailed, 1, time.Now())
		w.ended("g", common.StatusFailed, 1, time.Now())
		w.mu.Lock()
		w.compacted, w.outcomes = w.revision, nil
		w.mu.Unlock()
		stop = w.elected(t)
		defer stop()
		after(time.Minute)
		if w.toldOf("f", "step_failed") != 2 || w.toldOf("g", "failed") != 2 || len(w.sent) != 4 {
			t.Errorf("told %s", w.told())
		}
	})
}
