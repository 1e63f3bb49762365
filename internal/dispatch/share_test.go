package dispatch

import (
	"fmt"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// Fires of one instant are shared under the strategy least though the registrations are the same for all of them; each
// is assigned to the same worker by all workers, also when it is decided again; a new registration replaces the count.
func TestLeast_FiresOfOneInstant_AreShared(t *testing.T) {
	now := time.Now()
	busy := func(n int) func(*common.Member) {
		return func(m *common.Member) { m.Running, m.Clock = n, now.Add(time.Duration(n)) }
	}
	cluster := &fakeCluster{}
	cluster.alive(member("v", busy(10)), member("w", busy(12)))
	v := newRanking(common.Life{Worker: "v"}, cluster)
	w := newRanking(common.Life{Worker: "w"}, cluster)
	deal := func(from, n int) (first map[string]int) {
		t.Helper()
		first = map[string]int{}
		for i := range n {
			f := &scheduler.Fire{Job: fmt.Sprintf("job-%d", from+i), At: now, Due: now, Since: now,
				Terms: terms(func(t *common.Terms) { t.Strategy = common.StrategyLeast })}
			for range 2 {
				actions := map[string]action{"v": v.decide(f, now), "w": w.decide(f, now)}
				if (actions["v"].kind == claim) == (actions["w"].kind == claim) {
					t.Fatalf("%s: %+v", f.Job, actions)
				}
				for worker, action := range actions {
					if action.kind == claim {
						first[worker]++
					}
				}
			}
		}
		return first
	}
	if first := deal(0, 10); first["v"] != 12 || first["w"] != 8 { // each is looked at twice
		t.Fatalf("first: %v", first)
	}
	cluster.alive(member("v", busy(20)), member("w", busy(12))) // v has registered, w has not
	if first := deal(10, 4); first["w"] != 8 {
		t.Fatalf("first: %v", first)
	}
}
