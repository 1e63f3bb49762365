package keep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/platform/virtualtime"
)

func TestKeeper_ReportsItsRounds(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t, chain("a"))
		w.keep("w1")
		time.Sleep(2 * time.Second)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.alive["w1"] < 4 {
			t.Errorf("%d rounds in two seconds", w.alive["w1"])
		}
	})
}

func TestKeeper_Chain_RunsStepAfterStep(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t, chain("a", "b", "c"))
		w.keep("w1", "w2", "w3")
		run := w.begin(nil)
		began := time.Now()
		for w.outcome(run) == nil {
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(began); took > 3200*time.Millisecond {
			t.Errorf("three steps of a second each took %v", took)
		}
		if got := w.statuses(run); got != "a succeeded, b succeeded, c succeeded" {
			t.Error(got)
		}
		if w.started() != "a b c" {
			t.Errorf("started: %q", w.started())
		}
		if got := w.outcome(run); got.Status != common.StatusSucceeded || got.Nodes.Succeeded != 3 ||
			got.EndedAt == nil {
			t.Errorf("outcome: %+v", got)
		}
	})
}

// A retry that cannot follow, since the outputs to keep are too large, is explained by the reason of the flow run.
func TestKeeper_OutputsToKeepAreTooLarge_FlowRunSaysThatNoRetryFollows(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		job := &common.Job{Retry: &common.Retry{Max: 2}}
		last := common.Step{Name: "z", Command: "true", Env: map[string]string{}}
		for i := range 100 {
			name := fmt.Sprintf("s%d", i)
			job.Steps = append(job.Steps, common.Step{Name: name, Command: "true",
				Outputs: map[string]common.Output{"v": {}}})
			last.After = append(last.After, common.Edge{Step: name})
			last.Env[fmt.Sprintf("V%d", i)] = "${{ steps." + name + ".outputs.v }}"
		}
		job.Steps = append(job.Steps, last)
		for size, want := range map[int]string{
			1:       "step z failed",
			4 << 10: "step z failed; it is not tried again, since the outputs to keep are too large: re-run it",
		} {
			w := newWorld(t, job)
			w.outputs = map[string]string{"v": strings.Repeat("x", size)}
			w.run = func(node string) (common.Status, time.Duration) {
				if node == "z" {
					return common.StatusFailed, time.Second
				}
				return common.StatusSucceeded, time.Second
			}
			w.keep("w1")
			run := w.begin(nil)
			for w.outcome(run) == nil {
				time.Sleep(10 * time.Millisecond)
			}
			got := w.outcome(run)
			w.mu.Lock()
			follows := w.nexts[0] != nil
			w.mu.Unlock()
			if got.Reason.Text != want || follows != (size == 1) || (got.Reason.Data["notRetried"] != "") == follows {
				t.Errorf("outputs of %d bytes: %+v, a retry follows: %t", size, got.Reason, follows)
			}
		}
	})
}

// A flow run that needs a feature is kept by the workers that have it, whichever rank the others would have.
func TestKeeper_FlowRunThatNeedsAFeature_IsKeptByThoseThatHaveIt(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		for _, needs := range [][]string{nil, {common.FeatureValues}, {"of a later version"}} {
			for _, able := range []string{"w1", "w2", "w3"} {
				w := newWorld(t, chain("a", "b"))
				w.old = map[string]bool{"w1": true, "w2": true, "w3": true}
				delete(w.old, able)
				w.keep("w1", "w2", "w3")
				run := w.begin(func(h *common.Head) { h.Needs = needs })
				time.Sleep(10 * time.Second)
				if done := w.outcome(run) != nil; done != (len(needs) == 0 || needs[0] == common.FeatureValues) {
					t.Errorf("a flow run that needs %q and %s has: it ended: %t", needs, able, done)
				}
				if _, marked := w.marks[run]["a"]; len(needs) > 0 && needs[0] != common.FeatureValues && marked {
					t.Errorf("a step of a flow run that needs %q was started", needs)
				}
			}
		}
	})
}

// The clean-up is outside of the timeout, and runs after it.
func TestKeeper_CleanUp_IsOutsideOfTheTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		work    time.Duration // 0: it does not end
		want    string
		outcome common.Status
	}{
		"the timeout passes in the clean-up": {time.Second, "a succeeded, z succeeded", common.StatusSucceeded},
		"the timeout passes before":          {0, "a killed, z succeeded", common.StatusTimedOut},
	} {
		virtualtime.Test(t, func(t *testing.T) {
			job := chain("a", "z")
			job.Steps[1].Finally = true
			w := newWorld(t, job)
			w.run = func(node string) (common.Status, time.Duration) {
				if node == "z" {
					return common.StatusSucceeded, 10 * time.Second
				}
				if c.work == 0 {
					return "", 0
				}
				return common.StatusSucceeded, c.work
			}
			w.keep("w1", "w2")
			run := w.begin(func(h *common.Head) { h.Deadline = time.Now().Add(5 * time.Second) })
			time.Sleep(time.Minute)
			if got := w.statuses(run); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
			if got := w.outcome(run); got == nil || got.Status != c.outcome {
				t.Errorf("%s: %+v, want %s", name, got, c.outcome)
			}
		})
	}
}

func TestKeeper_AllStepsSkipped_NothingToDo(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		job := chain("a", "b")
		job.Steps[0].When = "false"
		w := newWorld(t, job)
		w.keep("w1")
		run := w.begin(nil)
		time.Sleep(time.Second)
		if got := w.outcome(run); got == nil || got.Status != common.StatusSucceeded || got.Reason == nil ||
			got.Reason.Code != common.ReasonNothingToDo {
			t.Errorf("outcome: %+v", got)
		}
	})
}

func TestKeeper_FailedStep_RestIsSettledAndTheReasonNamesIt(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t, chain("a", "b", "c"))
		w.run = func(node string) (common.Status, time.Duration) {
			if node == "b" {
				return common.StatusFailed, time.Second
			}
			return common.StatusSucceeded, time.Second
		}
		w.keep("w1", "w2")
		run := w.begin(nil)
		time.Sleep(5 * time.Second)
		if got := w.statuses(run); got != "a succeeded, b failed, c skipped upstream_failed" {
			t.Error(got)
		}
		got := w.outcome(run)
		if got == nil || got.Status != common.StatusFailed || got.Reason.Text != "step b failed" {
			t.Errorf("outcome: %+v", got)
		}
	})
}

// The worker of rank 1 starts what its keeper does not, after two seconds, and nothing twice.
func TestKeeper_ThatCannotReachEtcd_IsReplaced(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t, chain("a", "b"))
		w.keep("w1", "w2", "w3")
		w.mu.Lock()
		w.away[w.keeper("u.1.1", 0)] = true
		w.mu.Unlock()
		run := w.begin(nil)
		began := time.Now()
		for w.outcome(run) == nil && time.Since(began) < time.Minute {
			time.Sleep(10 * time.Millisecond)
		}
		if got := w.outcome(run); got == nil || got.Status != common.StatusSucceeded {
			t.Fatalf("outcome: %+v", got)
		}
		// three takeovers: start of a, start of b, completion
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
		if w.started() != "a b" {
			t.Errorf("started: %q", w.started())
		}
	})
}

func TestKeeper_ManyReadyNodes_ShareATransaction(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		job := &common.Job{}
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			job.Steps = append(job.Steps, common.Step{Name: name, Command: "true"})
		}
		w := newWorld(t, job)
		w.keep("w1")
		w.begin(nil)
		time.Sleep(500 * time.Millisecond)
		w.mu.Lock()
		defer w.mu.Unlock()
		if !slices.Equal(w.batches, []int{5}) {
			t.Errorf("nodes by transaction: %v", w.batches)
		}
	})
}

func TestKeeper_Deadline_EndsTheFlowRunAsTimedOut(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t, chain("a", "b"))
		w.run = func(string) (common.Status, time.Duration) { return common.StatusSucceeded, time.Hour }
		w.keep("w1", "w2")
		run := w.begin(func(h *common.Head) { h.Deadline = time.Now().Add(time.Minute) })
		time.Sleep(59 * time.Second)
		if w.outcome(run) != nil {
			t.Error("it ended before its deadline")
		}
		time.Sleep(10 * time.Second)
		if got := w.outcome(run); got == nil || got.Status != common.StatusTimedOut ||
			got.Reason.Code != common.ReasonTimeout {
			t.Errorf("outcome: %+v", got)
		}
		if got := w.statuses(run); got != "a killed, b skipped upstream_failed" {
			t.Error(got)
		}
	})
}

func TestKeeper_KillAndPause_StartNothing(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t, chain("a", "b", "c"))
		w.keep("w1")
		run := w.begin(nil)
		time.Sleep(500 * time.Millisecond)
		w.request(run, func(h *common.Head) { h.Paused = true })
		time.Sleep(10 * time.Second)
		if got := w.started(); got != "a" || w.outcome(run) != nil {
			t.Errorf("a paused flow run started %s", got)
		}
		w.request(run, func(h *common.Head) { h.Paused = false })
		time.Sleep(500 * time.Millisecond)
		if got := w.started(); got != "a b" {
			t.Errorf("after it was resumed it started %s", got)
		}
		w.request(run, func(h *common.Head) { h.Kill = &common.FlowKill{By: "ann", At: time.Now()} })
		time.Sleep(5 * time.Second)
		if got := w.statuses(run); got != "a succeeded, b killed, c skipped upstream_failed" {
			t.Error(got)
		}
		if got := w.outcome(run); got == nil || got.Status != common.StatusKilled || got.Reason.Data["by"] != "ann" {
			t.Errorf("outcome: %+v", got)
		}
	})
}

func TestKeeper_Approval_TimesOut(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		job := chain("a", "ask", "b")
		job.Steps[1].Command, job.Steps[1].Approval = "", &common.Approval{Text: "Go?", Timeout: "10m"}
		w := newWorld(t, job)
		w.keep("w1", "w2")
		run := w.begin(nil)
		time.Sleep(9 * time.Minute)
		if got := w.statuses(run); got != "a succeeded, ask" {
			t.Error(got)
		}
		time.Sleep(2 * time.Minute)
		if got := w.statuses(run); got != "a succeeded, ask timed_out timeout, b skipped upstream_failed" {
			t.Error(got)
		}
	})
}

// Without a timeout of its own, an approval waits for a day.
func TestKeeper_Approval_TimesOutAfterADay(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		job := chain("ask", "b")
		job.Steps[0].Command, job.Steps[0].Approval = "", &common.Approval{Text: "Go?"}
		w := newWorld(t, job)
		w.keep("w1", "w2")
		run := w.begin(nil)
		time.Sleep(23*time.Hour + 58*time.Minute)
		if got := w.statuses(run); got != "ask" {
			t.Error(got)
		}
		time.Sleep(4 * time.Minute)
		if got := w.statuses(run); got != "ask timed_out timeout, b skipped upstream_failed" {
			t.Error(got)
		}
	})
}

func TestKeeper_NodeWithoutARun_IsLost(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t, chain("a"))
		w.run = func(string) (common.Status, time.Duration) { return "", 0 }
		w.keep("w1")
		run := w.begin(nil)
		time.Sleep(29 * time.Second)
		if w.outcome(run) != nil {
			t.Error("it is looked for too early")
		}
		time.Sleep(time.Minute)
		if got := w.statuses(run); got != "a lost vanished" {
			t.Error(got)
		}
	})
}

// Etcd is read rarely for a flow run in which nothing happens, as long as it may take.
func TestKeeper_FlowRunThatWaits_IsSearchedRarely(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			kind string
			most int
		}{{"approval", 15}, {"command", 20}} {
			job := chain("a", "b")
			if c.kind == "approval" {
				job.Steps[0].Command, job.Steps[0].Approval = "", &common.Approval{Text: "Go?"}
			}
			w := newWorld(t, job)
			w.run = func(string) (common.Status, time.Duration) { return common.StatusSucceeded, 2 * time.Hour }
			w.keep("w1")
			run := w.begin(nil)
			time.Sleep(119 * time.Minute)
			w.mu.Lock()
			searches := w.searches
			w.mu.Unlock()
			if searches == 0 || searches > c.most {
				t.Errorf("%s: %d searches for vanished nodes in two hours, want 1 to %d", c.kind, searches, c.most)
			}
			w.end(run, "a", common.StatusSucceeded, "")
			time.Sleep(time.Second)
			if got := w.started(); got != "a b" {
				t.Errorf("%s: started after two hours: %q", c.kind, got)
			}
		}
	})
}

// Changes that were missed are read again when the following of marks begins again.
func TestKeeper_MissedMarks_AreReadAgain(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t, chain("a", "b"))
		w.keep("w1")
		run := w.begin(nil)
		time.Sleep(500 * time.Millisecond)
		k := w.keepers["w1"]
		w.mu.Lock()
		w.keepers = map[string]*Keeper{} // the watch is cut
		w.mu.Unlock()
		time.Sleep(5 * time.Second)
		w.mu.Lock()
		w.keepers["w1"] = k
		w.mu.Unlock()
		k.Listening()
		time.Sleep(3 * time.Second)
		if got := w.outcome(run); got == nil || got.Status != common.StatusSucceeded {
			t.Errorf("outcome: %+v; %s", got, w.statuses(run))
		}
	})
}

// The measured time is that of the keeper: neither the runs before a node nor a pause nor the limit count.
func TestKeeper_MeasuresTheTimeFromReadyToStarted(t *testing.T) {
	measured := func(t *testing.T, job *common.Job, workers int, away bool) []time.Duration {
		w := newWorld(t, job)
		w.keep([]string{"w1", "w2"}[:workers]...)
		if away {
			w.mu.Lock()
			w.away[w.keeper("u.1.1", 0)] = true
			w.mu.Unlock()
		}
		run := w.begin(func(h *common.Head) { h.Paused = true })
		time.Sleep(time.Minute)
		w.request(run, func(h *common.Head) { h.Paused = false })
		for began := time.Now(); w.outcome(run) == nil && time.Since(began) < time.Minute; {
			time.Sleep(10 * time.Millisecond)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.delays
	}
	limited := &common.Job{Concurrency: 1}
	for _, name := range []string{"a", "b", "c"} {
		limited.Steps = append(limited.Steps, common.Step{Name: name, Command: "true"})
	}
	for name, c := range map[string]struct {
		job         *common.Job
		workers     int
		away        bool
		least, most time.Duration
	}{
		"a chain":                {chain("a", "b", "c"), 1, false, time.Millisecond, 10 * time.Millisecond},
		"one node at a time":     {limited, 1, false, time.Millisecond, 10 * time.Millisecond},
		"a keeper that was lost": {chain("a", "b", "c"), 2, true, 2 * time.Second, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				got := measured(t, c.job, c.workers, c.away)
				if len(got) != 3 || slices.Min(got) < c.least || slices.Max(got) > c.most {
					t.Errorf("measured %v, want three from %v to %v", got, c.least, c.most)
				}
			})
		})
	}
}

// A transaction has at most 128 compares: the head, each node, and each job and each map that may have stopped.
func TestFitting_BoundsTheCompares(t *testing.T) {
	var starts []flow.Start
	for i := range 60 {
		name := fmt.Sprintf("s%d", i)
		starts = append(starts, flow.Start{Node: common.ItemNode(name, 0), Step: &common.Step{Name: name, Job: name,
			ForEach: &common.ForEach{Items: []string{"x"}, Stop: true}}})
	}
	if n := fitting(starts); n != 42 { // 1 + 3 * 42 = 127
		t.Errorf("%d nodes fit", n)
	}
	for i := range starts {
		starts[i].Step = starts[0].Step
	}
	if n := fitting(starts); n != 60 {
		t.Errorf("%d items of one map fit", n)
	}
}
