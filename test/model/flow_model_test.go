package model

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	flowSeeds    = flag.Int("flowseeds", 30, "how many seeds to try with flows")
	flowPatience = flag.Int("flowpatience", 120, "in how many seeds a rule of flows must have broken a promise")
)

// TestFlows plays clusters with flows, and checks F1 to F14 beside the promises of all jobs.
func TestFlows(t *testing.T) {
	servers := newPool(t, runtime.GOMAXPROCS(0))
	tally := tally{counts: map[string]int{}}
	began := time.Now()
	t.Run("seeds", func(t *testing.T) {
		for i := range *flowSeeds {
			seed := *from + uint64(i)
			t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
				t.Parallel()
				servers.use(t, func(s *server) {
					for _, broken := range tally.trial(t, s, seed, nothing, playFlows) {
						t.Error(broken)
					}
				})
			})
		}
	})
	t.Logf("model: %d seeds of flows in %v, %d runs, %d changes of etcd", *flowSeeds,
		time.Since(began).Round(time.Millisecond), tally.runs.Load(), tally.changes.Load())
	t.Logf("model: %s", tally.text())
}

// TestFlowMutations_BreakAPromise leaves out one rule of flows at a time: a promise that it is for is broken in one of
// the seeds.
func TestFlowMutations_BreakAPromise(t *testing.T) {
	servers := newPool(t, runtime.GOMAXPROCS(0))
	tally := tally{counts: map[string]int{}}
	for _, m := range flowMutations {
		t.Run(strings.ReplaceAll(string(m), " ", "-"), func(t *testing.T) {
			t.Parallel()
			tally.breaks(t, servers, m, *flowPatience, playFlows)
		})
	}
}

// isOf reports whether a promise was broken that the rule is for.
func (m mutation) isOf(broken string) bool {
	promise, _, _ := strings.Cut(broken, ":")
	return len(m.breaks()) == 0 || slices.Contains(m.breaks(), promise)
}

// breaks leaves a rule out in several seeds, until a promise is broken that it is for.
func (tally *tally) breaks(t *testing.T, servers *pool, m mutation, patience int, play player) {
	t.Helper()
	broke, first := 0, ""
	for i := range patience {
		seed := *from + uint64(i)
		if seed%4 == 0 && !slices.Contains(slices.Concat(flowMutations, spreadMutations, daemonMutations), m) {
			continue // a clock that is a day ahead does not need a rule to be left out
		}
		servers.use(t, func(s *server) {
			broken := tally.trial(t, s, seed, m, play)
			if i := slices.IndexFunc(broken, m.isOf); i >= 0 {
				if broke++; first == "" {
					first = fmt.Sprintf("seed %d: %s", seed, broken[i])
				}
			}
		})
		if broke > 0 && !*all {
			break
		}
	}
	if broke == 0 {
		t.Errorf("none of the promises %q was broken in %d seeds", m.breaks(), patience)
	}
	t.Logf("model: %s: broken in %d; %s", m, broke, first)
}
