package scheduler

import (
	"fmt"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/maintenance"
)

// fakeCluster has the members of a test.
type fakeCluster struct {
	members    []common.Member
	generation uint64
	windows    *maintenance.Set
	load       *FlowLoad
	behind     time.Duration // of the cluster's clock behind ours
}

func (c *fakeCluster) alive(members ...common.Member) {
	c.members = members
	c.generation++
}

func (c *fakeCluster) Members() ([]common.Member, uint64) { return c.members, c.generation }
func (c *fakeCluster) Latest(now time.Time) time.Time     { return now.Add(-c.behind) }
func (c *fakeCluster) Trouble() string                    { return "" }
func (c *fakeCluster) Windows() *maintenance.Set          { return c.windows }
func (c *fakeCluster) Full() bool                         { return false }
func (c *fakeCluster) FlowsFull(nodes int) bool           { return c.load.Full(nodes, time.Time{}) }

// member is a worker with slots and no more.
func member(id string, change func(*common.Member)) common.Member {
	m := common.Member{Registration: common.Registration{Life: common.Life{Worker: id, Name: "name-" + id}, Slots: 100}}
	change(&m)
	return m
}

// Fires of one instant are shared under the strategy least though the registrations are the same for all of them; each
// is assigned to the same worker by all workers, also when it is decided again; a new registration replaces the count.
func TestLeast_FiresOfOneInstant_AreShared(t *testing.T) {
	now := time.Now()
	busy := func(n int) func(*common.Member) {
		return func(m *common.Member) { m.Running, m.Clock = n, now.Add(time.Duration(n)) }
	}
	cluster := &fakeCluster{}
	cluster.alive(member("v", busy(10)), member("w", busy(12)))
	v := NewRanking(common.Life{Worker: "v"}, cluster, noReplicas)
	w := NewRanking(common.Life{Worker: "w"}, cluster, noReplicas)
	deal := func(from, n int) (first map[string]int) {
		t.Helper()
		first = map[string]int{}
		for i := range n {
			f := &Fire{Job: fmt.Sprintf("job-%d", from+i), At: now, Due: now, Since: now,
				Terms: terms(func(t *common.Terms) { t.Strategy = common.StrategyLeast })}
			for range 2 {
				actions := map[string]Action{"v": v.Action(f, now), "w": w.Action(f, now)}
				if actions["v"].HoldUntil.IsZero() == actions["w"].HoldUntil.IsZero() {
					t.Fatalf("%s: %+v", f.Job, actions)
				}
				for worker, action := range actions {
					if action.HoldUntil.IsZero() {
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

func noReplicas() OwnReplicas { return OwnReplicas{} }
