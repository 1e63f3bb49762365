package model

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

var (
	daemonSeeds    = flag.Int("daemonseeds", 8, "how many seeds to try with daemon jobs")
	daemonPatience = flag.Int("daemonpatience", 60, "in how many seeds a rule of daemons must have broken a promise")
)

// TestDaemons plays clusters with daemon jobs, and checks D-1 to D-5 beside the promises of all jobs.
func TestDaemons(t *testing.T) {
	servers := newPool(t, runtime.GOMAXPROCS(0))
	tally := tally{counts: map[string]int{}}
	began := time.Now()
	t.Run("seeds", func(t *testing.T) {
		for i := range *daemonSeeds {
			seed := *from + uint64(i)
			t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
				t.Parallel()
				servers.use(t, func(s *server) {
					for _, broken := range tally.trial(t, s, seed, nothing, playDaemons) {
						t.Error(broken)
					}
				})
			})
		}
	})
	t.Logf("model: %d seeds of daemon jobs in %v, %d runs, %d changes of etcd", *daemonSeeds,
		time.Since(began).Round(time.Millisecond), tally.runs.Load(), tally.changes.Load())
	t.Logf("model: %s", tally.text())
}

// TestDaemonMutations_BreakAPromise leaves out one rule of daemon jobs at a time.
func TestDaemonMutations_BreakAPromise(t *testing.T) {
	servers := newPool(t, runtime.GOMAXPROCS(0))
	tally := tally{counts: map[string]int{}}
	for _, m := range daemonMutations {
		t.Run(strings.ReplaceAll(string(m), " ", "-"), func(t *testing.T) {
			t.Parallel()
			tally.breaks(t, servers, m, *daemonPatience, playDaemons)
		})
	}
}
