package dispatch

import (
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

func TestOutcomeKey_SuccessesOfAParent_ShareNoBatch(t *testing.T) {
	outcome := func(job, run string, success bool) common.Outcome {
		return common.Outcome{Run: common.Run{Job: job, ID: run}, Success: success}
	}
	q := queue[common.Outcome]{key: outcomeKey}
	q.put(outcome("p", "r1", true), outcome("p", "r2", true), outcome("p", "r3", false), outcome("q", "r4", true))
	var batches [][]string
	for q.len() > 0 {
		var runs []string
		for _, o := range q.take(100) {
			runs = append(runs, o.Run.ID)
		}
		batches = append(batches, runs)
	}
	if len(batches) != 2 || !slices.Equal(batches[0], []string{"r1", "r3", "r4"}) {
		t.Errorf("batches %v", batches)
	}
}

// The success of a parent is written with its finish: of a job that others name now, or that was a parent when it was
// claimed. That of another job is not, nor is a failure, nor the success of a run that is to start no others.
func TestFinish_OfAParent_CarriesItsSuccess(t *testing.T) {
	bubble(t, func(c *Config) { c.Parent = func(job string) bool { return job == "parent" || job == "failing" } },
		func(r *rig) {
			r.claimer.set(func(c *fakeClaimer) {
				c.answer = func(claim *common.Claim) common.ClaimResult {
					result := claimed(claim)
					if claim.Job == "named-before" {
						result.Job.Needs = []string{common.FeatureSuccesses}
					}
					return result
				}
			})
			r.runner.refuse = func(t Task) *common.Reason {
				if t.Job.Name == "failing" {
					return &common.Reason{Code: "no_shell"}
				}
				return nil
			}
			alone := r.fire("parent") // requested with after: false
			alone.Trigger = &scheduler.Trigger{Revision: 7, Trigger: common.Trigger{ID: "x", Job: "parent",
				JobUID: alone.UID, Fire: "alone", Attempt: 1, Cause: common.CauseManual, NoAfter: true}}
			r.hand(r.fire("parent"), r.fire("named-before"), r.fire("other"), r.fire("failing"), alone)
			time.Sleep(time.Second)
			var got []string
			r.finisher.mu.Lock()
			defer r.finisher.mu.Unlock()
			for _, o := range slices.Concat(r.finisher.batches...) {
				if o.Success {
					got = append(got, o.Run.Job)
				}
				if o.Run.Fire == "alone" && !o.Run.NoAfter {
					t.Error("the run does not show that it starts no others")
				}
			}
			if slices.Sort(got); !slices.Equal(got, []string{"named-before", "parent"}) {
				t.Errorf("successes of %v", got)
			}
		})
}
