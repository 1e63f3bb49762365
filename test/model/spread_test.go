package model

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
)

var spreadSeeds = flag.Int("spreadseeds", 20, "how many seeds to try with jobs that run on several workers")

// The jobs of the play: both have a schedule.
var spreadJobs = []string{"x", "y"}

// playSpreads lets a cluster with jobs that run on several workers live through its disturbances, and come to rest.
func playSpreads(ctx context.Context, w *world) (until time.Time) {
	w.flows = &flowPlay{ends: [][]string{spreadJobs}, define: (*script).defineSpread}
	return run(ctx, w, spreadJobs, make([]time.Duration, flowWorkers), func(ctx context.Context, s *script) {
		for began := time.Now(); time.Since(began) < chaosOfFlows; {
			time.Sleep(s.between(100*time.Millisecond, flowDisturbed))
			s.disturbFlows(ctx)
		}
	})
}

// defineSpread makes a job that runs on several workers. Workers often miss its short deadline.
func (s *script) defineSpread(name string) common.Job {
	j := common.Job{Name: name, Timezone: "UTC", Command: "true", CronExpr: pick(s, "@every 17s", "@every 31s"),
		OnLost: pick(s, common.LostRerun, common.LostAbandon), Retry: s.retry(),
		LostAfter: pick[common.Duration](s, "20s", "30s"), KillGrace: pick[common.Duration](s, "0s", "2s"),
		StartDeadline: pick[common.Duration](s, "3s", "8s"),
		Overlap:       pick(s, common.OverlapSkip, common.OverlapQueue, common.OverlapReplace, common.OverlapAllow)}
	j.RunOn = &common.RunOn{Workers: pick(s, common.AllWorkers, 1, 2, 2), Concurrency: s.random.IntN(3),
		MaxFailures: s.random.IntN(2), Stop: s.random.IntN(3) == 0}
	if faults := flow.Faults(&j); len(faults) > 0 {
		panic(fmt.Sprint(faults))
	}
	return j
}

// TestSpreads plays clusters with jobs that run on several workers: F1 to F8 hold, and each worker has at most one node
// of a flow run.
func TestSpreads(t *testing.T) {
	servers := newPool(t, runtime.GOMAXPROCS(0))
	tally := tally{counts: map[string]int{}}
	t.Run("seeds", func(t *testing.T) {
		for i := range *spreadSeeds {
			seed := *from + uint64(i)
			t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
				t.Parallel()
				servers.use(t, func(s *server) {
					for _, broken := range tally.trial(t, s, seed, nothing, playSpreads) {
						t.Error(broken)
					}
				})
			})
		}
	})
	t.Logf("model: %s", tally.text())
}

// TestSpreadMutations_BreakAPromise leaves out one rule of jobs that run on several workers at a time.
func TestSpreadMutations_BreakAPromise(t *testing.T) {
	servers := newPool(t, runtime.GOMAXPROCS(0))
	tally := tally{counts: map[string]int{}}
	for _, m := range spreadMutations {
		t.Run(strings.ReplaceAll(string(m), " ", "-"), func(t *testing.T) {
			t.Parallel()
			tally.breaks(t, servers, m, *flowPatience, playSpreads)
		})
	}
}
