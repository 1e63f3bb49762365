package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

// replicaWorkers are workers that rank the pending replicas of a daemon job and claim those of rank 0.
type replicaWorkers struct {
	t       *testing.T
	cluster *fakeCluster
	ranking map[string]*Ranking
	running map[string]int
	now     time.Time
}

func newReplicaWorkers(t *testing.T, n int) *replicaWorkers {
	w := &replicaWorkers{t: t, cluster: &fakeCluster{}, ranking: map[string]*Ranking{}, running: map[string]int{},
		now: time.Unix(1_000_000, 0)}
	for i := range n {
		id := fmt.Sprintf("w%d", i)
		w.running[id] = 0
		w.ranking[id] = NewRanking(common.Life{Worker: id}, w.cluster, func() OwnReplicas {
			return OwnReplicas{Version: uint64(w.running[id]), Jobs: map[string]int{"j": w.running[id]},
				Slots: w.running[id], Used: w.running[id]}
		})
	}
	w.register()
	return w
}

// register has all workers write down what they run.
func (w *replicaWorkers) register() {
	var all []common.Member
	for id, n := range w.running {
		all = append(all, member(id, func(m *common.Member) {
			m.Clock, m.DaemonSlots, m.Used = w.now, n, n
			m.Replicas = map[string]int{"j": n}
		}))
	}
	w.cluster.alive(all...)
}

// claim has the workers claim replicas, and returns those that no worker claimed, and how often several tried.
func (w *replicaWorkers) claim(names ...string) (left []string, races int) {
	r := &Replicas{index: map[string]int{}}
	for i, name := range names {
		r.index[name] = i
		r.pending = append(r.pending, placement.Pending{Replica: name})
	}
	first := map[string]string{}
	daemon := terms(func(t *common.Terms) { t.Daemon.Count = common.MaxReplicas })
	for _, id := range slices.Sorted(maps.Keys(w.ranking)) {
		for _, name := range names {
			f := &Fire{Job: "j", Due: w.now, Since: w.now, UID: "u", Terms: daemon, Replicas: r,
				Trigger: &Trigger{Trigger: common.Trigger{ID: name}}}
			if !w.ranking[id].Action(f, w.now).HoldUntil.IsZero() {
				continue
			}
			if first[name] != "" {
				races++
				continue
			}
			first[name] = id
		}
	}
	for _, name := range names {
		if id := first[name]; id != "" {
			w.running[id]++
		} else {
			left = append(left, name)
		}
	}
	return left, races
}

// names returns the names of replicas.
func names(from, count int) (all []string) {
	for i := range count {
		all = append(all, common.ReplicaName(from+i))
	}
	return all
}

func (w *replicaWorkers) expectEven(what string) {
	w.t.Helper()
	least, most := 1<<30, 0
	for _, n := range w.running {
		least, most = min(least, n), max(most, n)
	}
	if most-least > 1 {
		w.t.Errorf("%s: %v", what, w.running)
	}
}

// Replicas that are created in several parts are claimed at once and spread evenly, though the registrations do not say
// yet what was claimed of the parts before.
func TestReplicas_CreatedInParts_AreSpreadBeforeRegistrationsSaySo(t *testing.T) {
	w := newReplicaWorkers(t, 7)
	for part := range 10 {
		left := names(30*part, 30)
		for round := 0; len(left) > 0; round++ {
			if round == 3 {
				t.Fatalf("part %d: no worker claims %v: %v", part, left, w.running)
			}
			left, _ = w.claim(left...)
		}
		w.expectEven(fmt.Sprintf("after part %d", part))
	}
	w.register() // nothing is counted twice
	if left, races := w.claim(names(300, 30)...); len(left) > 0 || races > 0 {
		t.Errorf("after the registrations: %d races, no worker claims %v", races, left)
	}
	w.expectEven("after the registrations")
}

// The replicas of a dead worker run nowhere else before they are pending: no worker counts them for another one.
func TestReplicas_OfADeadWorker_AreNotCountedForOthers(t *testing.T) {
	w := newReplicaWorkers(t, 4)
	w.claim(names(0, 40)...)
	w.register()
	for _, ranking := range w.ranking {
		ranking.refresh()
	}
	delete(w.running, "w0")
	delete(w.ranking, "w0")
	w.register()
	if left, races := w.claim(names(39, 1)...); len(left) > 0 || races > 0 {
		t.Errorf("the first replica that was recovered: %d races, no worker claims %v", races, left)
	}
	w.expectEven("after the death of a worker")
}
