package dispatch

import (
	"fmt"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// The next fire of a job whose command has ended is claimed when its outcome is
// committed, and not skipped for a transaction that is on its way.
func TestFire_OutcomeOfItsJobIsBeingCommitted_Waits(t *testing.T) {
	for _, allow := range []bool{false, true} {
		bubble(t, nil, func(r *rig) {
			overlap := func(t *common.Terms) {
				if allow {
					t.Overlap = common.OverlapAllow
				}
			}
			hold := make(chan struct{})
			r.finisher.mu.Lock()
			r.finisher.hold = hold
			r.finisher.mu.Unlock()
			r.hand(r.fire("a", overlap))
			second := r.fire("a", overlap)
			second.At = second.At.Add(time.Second)
			second.Due, second.Cursor = second.At, second.At.Add(-time.Second)
			time.Sleep(time.Second)
			r.hand(second)
			want := 1
			if allow {
				want = 2
			}
			if n := len(r.claimer.claims()); n != want {
				r.Fatalf("allow %t: %d claims while the outcome is on its way", allow, n)
			}
			if s := r.settled(); !allow && !s[len(s)-1].RetryAt.Equal(time.Now().Add(retryAfter)) {
				r.Fatalf("settled as %+v", s[len(s)-1])
			}
			close(hold)
			virtualtime.Wait()
			if !allow {
				r.hand(second) // the scheduler does this at the end of the run
			}
			if n := len(r.claimer.claims()); n != 2 {
				r.Fatalf("%d claims after it", n)
			}
		})
	}
}

// Among many runs outcomes are gathered; a lone one goes at once.
func TestOutcomes_ManyRuns_AreGathered(t *testing.T) {
	bubble(t, func(c *Config) { c.MaxBatch = 100 }, func(r *rig) {
		const n = 60
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint("job-", i))
		}
		r.long(names...)
		for _, name := range names {
			r.hand(r.fire(name))
		}
		for _, name := range names[:30] {
			r.release(name)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(gatherFor)
		virtualtime.Wait()
		if tries, all := r.finisher.tries(), len(r.finisher.all()); all != 30 || tries > 3 {
			r.Fatalf("%d outcomes in %d transactions", all, tries)
		}
		for _, name := range names[30:] {
			r.release(name)
		}
		time.Sleep(2 * gatherFor)
		virtualtime.Wait()
		before := r.finisher.tries()
		r.hand(r.fire("lone"))
		if r.finisher.tries() != before+1 {
			r.Fatal("a lone outcome waits")
		}
	})
}

// The outcome of a run is committed after its output is safe; one without output does not wait.
func TestOutcomeWaitsForOutput(t *testing.T) {
	const takes = time.Second
	var asked []string
	set := func(cfg *Config) {
		cfg.Output = func(run string) {
			asked = append(asked, run)
			time.Sleep(takes)
		}
	}
	bubble(t, set, func(r *rig) {
		r.runner.prints = map[string]int64{"a": 5}
		silent, talking := r.fire("b"), r.fire("a")
		r.hand(silent, talking)
		if r.finisher.tries() != 1 || len(asked) != 1 ||
			asked[0] != common.RunID(common.PlannedFire(talking.UID, talking.At), 1) {
			t.Fatalf("%d finishes, and waited for the output of %v", r.finisher.tries(), asked)
		}
		r.expectOutcomes("b succeeded 42 ")
		time.Sleep(takes)
		virtualtime.Wait()
		if r.finisher.tries() != 2 {
			t.Errorf("%d finishes", r.finisher.tries())
		}
	})
}
