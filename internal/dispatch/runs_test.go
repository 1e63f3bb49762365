package dispatch

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/platform/virtualtime"
)

// once is a timetable with one fire.
func (r *rig) once(at time.Time) schedule.Schedule {
	r.Helper()
	s, err := schedule.NewInterner().Parse(schedule.Spec{Expr: "@at " + at.Format(time.RFC3339), Zone: "UTC"})
	if err != nil {
		r.Fatal(err)
	}
	return s
}

func (r *rig) running() int {
	n, _ := r.d.Running()
	return n
}

func TestRunFromClaimToFinish(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.hand(r.fire("a"))
		task := r.runner.started()[0]
		if task.Fence != 42 || task.Job.Name != "a" || task.Previous != "" || task.Record.Run == "" {
			r.Fatalf("task %+v", task)
		}
		r.expectOutcomes("a succeeded 42 ")
		time.Sleep(time.Minute)
		r.hand(r.fire("a"))
		if previous := r.runner.started()[1].Previous; previous != common.StatusSucceeded {
			r.Fatalf("previous status %q", previous)
		}
	})
}

// The scheduler receives the start of a run before its end, however short the run is: otherwise its table would keep
// the run forever.
func TestShortRun_SchedulerReceivesItsStartBeforeItsEnd(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.plan.slow = time.Second
		r.hand(r.fire("a"), r.fire("b"))
		time.Sleep(time.Minute)
		virtualtime.Wait()
		journal := r.journal()
		for _, job := range []string{"a", "b"} {
			if runs, ended := slices.Index(journal, "runs "+job), slices.Index(journal, "ended "+job); runs < 0 ||
				ended < runs {
				r.Fatalf("told %q", journal)
			}
		}
	})
}

func TestKill(t *testing.T) {
	run := "uid-a." + common.TimeKey(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) + ".1"
	req := func(run string) []common.Kill { return []common.Kill{{Run: run, By: "eve"}} }
	for _, c := range []struct {
		name  string
		story func(r *rig)
		want  string
	}{
		{"before the start", func(r *rig) {
			r.d.Kills(req(run))
			r.hand(r.fire("a"))
		}, "a killed 42 killed by eve"},
		{"while running", func(r *rig) {
			r.hand(r.fire("a"))
			r.d.Kills(req(run))
			r.d.Kills(req(run))
			r.d.Kills(nil)
		}, "a killed 42 killed by eve"},
		{"again, with another signal", func(r *rig) {
			r.runner.deaf = true
			r.hand(r.fire("a"))
			r.d.Kills([]common.Kill{{Run: run, By: "eve"}})
			r.d.Kills([]common.Kill{{Run: run, By: "eve", Signal: "INT"}})
			r.d.Kills([]common.Kill{{Run: run, By: "bob", Signal: common.SignalKill}, {Run: "other", By: "eve"}})
			r.d.Kills([]common.Kill{{Run: run, By: "bob", Signal: common.SignalKill}})
			task := r.runner.started()[0]
			virtualtime.Wait()
			if req := <-task.KillRequests; req != error(killed{"bob"}) {
				r.Errorf("the run receives %v", req)
			}
			select {
			case again := <-task.KillRequests:
				r.Errorf("the run hears again of %v", again)
			default:
			}
			r.release("a")
		}, "a succeeded 42 "},
		{"taken back before the start", func(r *rig) {
			r.d.Kills(req(run))
			r.d.Kills(nil)
			r.hand(r.fire("a"))
			r.release("a")
		}, "a succeeded 42 "},
		{"of another run", func(r *rig) {
			r.d.Kills(req("other"))
			r.hand(r.fire("a"))
			r.d.Kills(req("other"))
			r.release("a")
		}, "a succeeded 42 "},
		{"after the end", func(r *rig) {
			r.hand(r.fire("a"))
			r.release("a")
			r.d.Kills(req(run))
		}, "a succeeded 42 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.long("a")
				c.story(r)
				virtualtime.Wait()
				r.expectOutcomes(c.want)
			})
		})
	}
}

func TestFinishesGather(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		gate := make(chan struct{})
		r.finisher.hold = gate
		r.hand(r.fire("a"), r.fire("b"), r.fire("c"))
		if n, _ := r.d.Running(); n != 3 {
			r.Fatalf("%d runs hold a slot before their finish is committed, want 3", n)
		}
		close(gate)
		virtualtime.Wait()
		if n := len(r.finisher.batches); n > 2 || len(r.finisher.all()) != 3 || r.running() != 0 {
			r.Fatalf("%d batches, outcomes %q, %d run", n, r.finisher.all(), r.running())
		}
	})
}

func TestFinish_Refused_IsRepeated(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.finisher.refuse = errors.New("over quota")
		r.hand(r.fire("a"))
		time.Sleep(5*retryAfter + time.Millisecond)
		virtualtime.Wait()
		if r.finisher.tries() != 6 || r.running() != 1 || len(r.journal()) != 1 ||
			r.metrics.count(common.StatusSucceeded) != 0 {
			r.Fatalf("after %d tries: %d run, told %q", r.finisher.tries(), r.running(), r.journal())
		}
		r.finisher.mu.Lock()
		r.finisher.refuse = nil
		r.finisher.mu.Unlock()
		time.Sleep(retryAfter)
		virtualtime.Wait()
		r.expectOutcomes("a succeeded 42 ")
		if !slices.Equal(r.journal(), []string{"runs a", "ended a"}) || r.running() != 0 ||
			r.metrics.count(common.StatusSucceeded) != 1 {
			r.Fatalf("told %q, %d run", r.journal(), r.running())
		}
	})
}

func TestFinish_ResolvedByOthers_RemovesTheRun(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.finisher.refuse = fmt.Errorf("finish: %w", common.ErrNotOurs)
		r.hand(r.fire("a"))
		time.Sleep(time.Minute)
		if r.finisher.tries() != 1 || r.running() != 0 || !slices.Equal(r.journal(), []string{"runs a", "ended a"}) {
			r.Fatalf("%d tries, %d run, told %q", r.finisher.tries(), r.running(), r.journal())
		}
	})
}

func TestStop(t *testing.T) {
	for _, c := range []struct {
		name  string
		story func(r *rig)
		took  time.Duration
		want  []string
	}{
		{"nothing to do", func(r *rig) { r.stop() }, 0, nil},
		{"the run ends in time", func(r *rig) {
			r.hand(r.fire("a"))
			r.stop()
			time.AfterFunc(20*time.Second, func() { r.release("a") })
		}, 20 * time.Second, []string{"a succeeded 42 "}},
		{"the run outlasts the drain", func(r *rig) {
			r.hand(r.fire("a"))
			r.stop()
		}, drain, []string{"a lost 42 stopping"}},
		{"hurry", func(r *rig) {
			r.hand(r.fire("a"))
			r.stop()
			time.AfterFunc(7*time.Second, r.d.Hurry)
			time.AfterFunc(8*time.Second, r.d.Hurry)
		}, 7 * time.Second, []string{"a lost 42 stopping"}},
		{"the run does not heed its end", func(r *rig) {
			r.runner.deaf = true
			r.hand(r.fire("a"))
			r.stop()
		}, drain + halt*3/4, []string{"a lost 42 no grace"}},
		{"a kill during the drain", func(r *rig) {
			r.hand(r.fire("a"))
			r.stop()
			time.AfterFunc(5*time.Second, func() {
				r.d.Kills([]common.Kill{{Run: r.runner.started()[0].Record.Run, By: "eve"}})
			})
		}, 5 * time.Second, []string{"a killed 42 killed by eve"}},
		{"finishes are refused", func(r *rig) {
			r.finisher.refuse = errors.New("no")
			r.hand(r.fire("b"))
			r.stop()
		}, drain + halt, nil},
		{"finishes are not answered", func(r *rig) {
			r.finisher.hold = make(chan struct{})
			r.hand(r.fire("b"))
			r.stop()
		}, drain + 2*halt, nil},
		{"a claim in flight is honoured", func(r *rig) {
			gate := make(chan struct{})
			r.claimer.hold = gate
			r.hand(r.fire("a"))
			r.stop()
			time.AfterFunc(3*time.Second, func() { close(gate) })
			time.AfterFunc(9*time.Second, func() { r.release("a") })
		}, 9 * time.Second, []string{"a succeeded 42 "}},
		{"a claim in flight is not answered", func(r *rig) {
			r.claimer.hold = make(chan struct{})
			r.hand(r.fire("a"))
			r.stop()
		}, claimPatience, nil},
		{"pending fires are not claimed", func(r *rig) {
			gate := make(chan struct{})
			r.claimer.hold = gate
			r.hand(r.fire("b"))
			r.hand(r.fire("c"), r.fire("d"))
			r.stop()
			virtualtime.Wait()
			close(gate)
		}, 0, []string{"b succeeded 42 "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.long("a")
				c.story(r)
				if took := r.returned(c.took); took != c.took {
					r.Fatalf("stopped after %v, want %v", took, c.took)
				}
				r.expectOutcomes(c.want...)
				select {
				case r.plan.fires <- r.fire("late"):
					r.Fatal("a fire is taken after the stop")
				case <-time.After(time.Minute):
				}
			})
		})
	}
}

// A run that a stop has ended is lost, as if its worker had died: it is run again if its job re-runs lost runs.
func TestStop_EndsRuns_OnLostDecides(t *testing.T) {
	for _, onLost := range []common.OnLost{common.LostRerun, common.LostAbandon} {
		bubble(t, nil, func(r *rig) {
			r.long("a")
			r.hand(r.fire("a", func(t *common.Terms) { t.OnLost = onLost }))
			r.stop()
			r.returned(2 * time.Minute)
			r.expectOutcomes("a lost 42 stopping")
			next := r.outcome().Next
			if again := onLost == common.LostRerun; (next != nil) != again ||
				again && (next.Cause != common.CauseRerun || next.Attempt != 2) {
				r.Fatalf("%s: what follows is %+v", onLost, next)
			}
		})
	}
}

func TestDelays(t *testing.T) {
	planned := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	claimed, granted, started := planned.Add(2*time.Millisecond), planned.Add(5*time.Millisecond),
		planned.Add(6*time.Millisecond)
	run := common.Run{PlannedAt: planned, ClaimedAt: &claimed, StartedAt: &started}
	if got := delays(&run, granted); *got != (common.Delays{Plan: "2ms", Claim: "3ms", Start: "1ms"}) {
		t.Errorf("%+v", got)
	}
	if got := delays(&run, planned); got.Claim != "0s" {
		t.Errorf("a clock that was set back: %+v", got)
	}
	run.StartedAt = nil
	if got := delays(&run, granted); got != nil {
		t.Errorf("what did not start: %+v", got)
	}
}

// A further attempt gets the status of the attempt before, whichever worker had that.
func TestTask_OfAFurtherAttempt_HasTheStatusOfTheOneBefore(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.hand(r.fire("a"))
		time.Sleep(time.Minute)
		again := r.shot("a", "x")
		again.Trigger.Attempt, again.Trigger.Cause, again.Trigger.After = 2, common.CauseRerun, common.StatusTimedOut
		r.hand(again)
		if previous := r.runner.started()[1].Previous; previous != common.StatusTimedOut {
			r.Fatalf("previous status %q", previous)
		}
	})
}
