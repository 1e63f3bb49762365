package dispatch

import (
	"errors"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// yielding is a story in which a run has ended while a command is on its way to be started.
func yielding(t *testing.T, story func(r *rig, starts *Starts)) {
	t.Helper()
	starts := NewStarts()
	bubble(t, func(c *Config) { c.Starts = starts }, func(r *rig) {
		r.long("a")
		r.hand(r.fire("a"))
		starts.add(1)
		r.release("a")
		story(r, starts)
		starts.add(-1)
	})
}

func TestOutcomes_CommandsOnTheirWay_WaitForThem(t *testing.T) {
	yielding(t, func(r *rig, starts *Starts) {
		if n := r.finisher.tries(); n != 0 {
			r.Fatalf("%d commits while a command is on its way", n)
		}
		starts.add(-1)
		virtualtime.Wait()
		if n := r.finisher.tries(); n != 1 {
			r.Fatalf("%d commits once none is, want 1", n)
		}
		starts.add(1)
	})
}

func TestOutcomes_CommandsOnTheirWayForLong_DoNotWaitLonger(t *testing.T) {
	yielding(t, func(r *rig, _ *Starts) {
		time.Sleep(yieldFor)
		virtualtime.Wait()
		if n := r.finisher.tries(); n != 1 {
			r.Fatalf("%d commits after %v, want 1", n, yieldFor)
		}
	})
}

func TestOutcomes_NextFireWaitsForOne_DoNotYield(t *testing.T) {
	yielding(t, func(r *rig, _ *Starts) {
		r.hand(r.fire("a"))
		if n := r.finisher.tries(); n != 1 {
			r.Fatalf("%d commits when the next fire of the job waits, want 1", n)
		}
	})
}

func TestOutcomes_FewFreeSlots_DoNotYield(t *testing.T) {
	starts := NewStarts()
	bubble(t, func(c *Config) { c.Starts, c.MaxBatch = starts, 3 }, func(r *rig) {
		r.slots.Store(4)
		r.long("a")
		r.hand(r.fire("a"))
		starts.add(1)
		r.release("a")
		if n := r.finisher.tries(); n != 1 {
			r.Fatalf("%d commits with 3 free slots, want 1", n)
		}
		starts.add(-1)
	})
}

func TestStarts_WhateverBecomesOfAClaim_NoneIsLeft(t *testing.T) {
	verdicts := map[string]func(*common.Claim) common.ClaimResult{
		"Claimed": claimed,
		"Skipped": func(*common.Claim) common.ClaimResult { return common.ClaimResult{Verdict: common.Skipped} },
		"Stale":   func(*common.Claim) common.ClaimResult { return common.ClaimResult{Verdict: common.Stale} },
		"Blocked": func(*common.Claim) common.ClaimResult { return common.ClaimResult{Verdict: common.Blocked} },
		"Failed":  func(*common.Claim) common.ClaimResult { return common.ClaimResult{Err: errors.New("no answer")} },
	}
	for name, answer := range verdicts {
		t.Run(name, func(t *testing.T) {
			starts := NewStarts()
			bubble(t, func(c *Config) { c.Starts = starts }, func(r *rig) {
				hold := make(chan struct{})
				r.claimer.set(func(c *fakeClaimer) { c.answer, c.hold = answer, hold })
				r.long("a")
				r.hand(r.fire("a"))
				if n := starts.count(); n != 1 {
					r.Errorf("%d commands are on their way during the claim, want 1", n)
				}
				r.claimer.set(func(c *fakeClaimer) { c.hold = nil })
				close(hold)
				virtualtime.Wait()
				if n := starts.count(); n != 0 {
					r.Errorf("%d commands are on their way after it, want 0", n)
				}
			})
		})
	}
}

func TestYield(t *testing.T) {
	tests := []struct {
		name string
		end  func(s *Starts, over func())
		want time.Duration
	}{
		{"until none is on its way", func(s *Starts, _ func()) { s.add(-2) }, time.Second},
		{"until one of the channels is closed", func(_ *Starts, over func()) { over() }, time.Second},
		{"for a limit", func(s *Starts, _ func()) { s.add(-1) }, time.Minute},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				s, over, began := NewStarts(), make(chan struct{}), time.Now()
				s.Yield(time.Minute, nil, nil) // none is on its way
				s.add(2)
				time.AfterFunc(time.Second, func() { test.end(s, func() { close(over) }) })
				s.Yield(time.Minute, nil, over)
				if got := time.Since(began); got != test.want {
					t.Errorf("waited for %v, want %v", got, test.want)
				}
			})
		})
	}
}

// count returns the number of commands on their way.
func (s *Starts) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}
