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
	seeds    = flag.Int("seeds", 12, "how many seeds to try")
	from     = flag.Uint64("from", 1, "the first seed")
	patience = flag.Int("patience", 60, "in how many seeds a rule that is left out must have broken a promise")
	count    = flag.Bool("count", false, "try all of these seeds for each rule, and count")
)

// trial plays one seed and tells what it broke.
func trial(t *testing.T, s *server, seed uint64, m mutation) []string {
	t.Helper()
	var until time.Time
	w := newWorld(s, seed, m)
	inBubble(t, func(t *testing.T) { until = play(t.Context(), w) })
	broken := check(w, until)
	if len(broken) > 0 && m == nothing {
		t.Log(w.trace(broken[0]))
	}
	return broken
}

func TestModel(t *testing.T) {
	servers := newPool(t, runtime.GOMAXPROCS(0))
	began := time.Now()
	t.Run("seeds", func(t *testing.T) {
		for i := range *seeds {
			seed := *from + uint64(i)
			t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
				t.Parallel()
				servers.use(t, func(s *server) {
					for _, broken := range trial(t, s, seed, nothing) {
						t.Error(broken)
					}
				})
			})
		}
	})
	t.Logf("%d seeds in %v", *seeds, time.Since(began).Round(time.Millisecond))
}

// TestRulesMatter leaves out one rule at a time: some promise is broken in one of the seeds.
func TestRulesMatter(t *testing.T) {
	servers := newPool(t, runtime.GOMAXPROCS(0))
	for _, m := range mutations {
		t.Run(strings.ReplaceAll(string(m), " ", "-"), func(t *testing.T) {
			t.Parallel()
			broke, first := 0, ""
			for i := range *patience {
				seed := *from + uint64(i)
				if seed%4 == 0 {
					continue // a clock that is a day ahead is a disturbance of its own
				}
				servers.use(t, func(s *server) {
					if broken := trial(t, s, seed, m); len(broken) > 0 {
						if broke++; first == "" {
							first = fmt.Sprintf("seed %d: %s", seed, broken[0])
						}
					}
				})
				if broke > 0 && !*count {
					break
				}
			}
			if broke == 0 {
				t.Errorf("no promise was broken in %d seeds", *patience)
			}
			t.Logf("broken in %d; %s", broke, first)
		})
	}
}
