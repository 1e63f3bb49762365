package model

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	seeds    = flag.Int("seeds", 4, "how many seeds to try")
	from     = flag.Uint64("from", 1, "the first seed")
	patience = flag.Int("patience", 240, "in how many seeds a rule that is left out must have broken a promise")
	all      = flag.Bool("all", false, "try all of these seeds for each rule, and count")
)

// tally counts what was tried, and what happened.
type tally struct {
	runs, changes atomic.Int64
	mu            sync.Mutex
	counts        map[string]int
}

func (tally *tally) text() string {
	var text []string
	for _, what := range slices.Sorted(maps.Keys(tally.counts)) {
		text = append(text, fmt.Sprintf("%d %s", tally.counts[what], what))
	}
	return strings.Join(text, ", ")
}

// player plays what a world goes through, and returns until when every fire is to be accounted for.
type player func(context.Context, *world) time.Time

// trial plays one seed and tells what it broke.
func (tally *tally) trial(t *testing.T, s *server, seed uint64, m mutation, play player) []string {
	t.Helper()
	var until time.Time
	w := newWorld(s, seed, m)
	inBubble(t, func(t *testing.T) { until = play(t.Context(), w) })
	tally.runs.Add(int64(len(w.diary)))
	tally.changes.Add(int64(len(w.history)))
	broken := check(w, until)
	tally.mu.Lock()
	for what, n := range w.counts {
		tally.counts[what] += n
	}
	tally.mu.Unlock()
	if len(broken) > 0 && m == nothing {
		t.Log(w.trace(broken[0]))
	}
	return broken
}

func TestModel(t *testing.T) {
	servers := newPool(t, runtime.GOMAXPROCS(0))
	tally := tally{counts: map[string]int{}}
	began := time.Now()
	t.Run("seeds", func(t *testing.T) {
		for i := range *seeds {
			seed := *from + uint64(i)
			t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
				t.Parallel()
				servers.use(t, func(s *server) {
					for _, broken := range tally.trial(t, s, seed, nothing, play) {
						t.Error(broken)
					}
				})
			})
		}
	})
	t.Logf("model: %d seeds in %v, %d runs, %d changes of etcd", *seeds, time.Since(began).Round(time.Millisecond),
		tally.runs.Load(), tally.changes.Load())
	t.Logf("model: %s", tally.text())
}

// TestMutations_BreakAPromise leaves out one rule at a time: some promise is broken in one of the seeds.
func TestMutations_BreakAPromise(t *testing.T) {
	servers := newPool(t, runtime.GOMAXPROCS(0))
	tally := tally{counts: map[string]int{}}
	for _, m := range mutations {
		t.Run(strings.ReplaceAll(string(m), " ", "-"), func(t *testing.T) {
			t.Parallel()
			tally.breaks(t, servers, m, *patience, play)
		})
	}
}
