package model

import (
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
	patience = flag.Int("patience", 60, "in how many seeds a rule that is left out must have broken a promise")
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

// trial plays one seed and tells what it broke.
func (tally *tally) trial(t *testing.T, s *server, seed uint64, m mutation) []string {
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
					for _, broken := range tally.trial(t, s, seed, nothing) {
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
			broke, first := 0, ""
			for i := range *patience {
				seed := *from + uint64(i)
				if seed%4 == 0 {
					continue // a clock that is a day ahead does not need a rule to be left out
				}
				servers.use(t, func(s *server) {
					broken := tally.trial(t, s, seed, m)
					if i := slices.IndexFunc(broken, func(b string) bool {
						return strings.HasPrefix(b, m.breaks())
					}); i >= 0 {
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
				t.Errorf("no promise was broken in %d seeds", *patience)
			}
			t.Logf("model: %s: broken in %d; %s", m, broke, first)
		})
	}
}
