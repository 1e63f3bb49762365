package placement

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// cluster is a number of daemons on workers.
type cluster struct {
	workers []Candidate
	running map[string][]Movable // by worker; Run is <job>/<replica>
}

func drawCluster(t *rapid.T) *cluster {
	c := &cluster{running: map[string][]Movable{}}
	for i := range rapid.IntRange(1, 12).Draw(t, "workers") {
		c.workers = append(c.workers, Candidate{ID: fmt.Sprintf("w%02d", i), Slots: 10_000})
	}
	n := 0
	for j := range rapid.IntRange(1, 5).Draw(t, "jobs") {
		req := &Requirements{Job: fmt.Sprintf("j%d", j), Slots: rapid.IntRange(1, 3).Draw(t, "slots")}
		for i := range rapid.IntRange(0, 30).Draw(t, "replicas") {
			w := c.workers[rapid.IntRange(0, len(c.workers)-1).Draw(t, "on")].ID
			n++
			c.running[w] = append(c.running[w], Movable{Requirements: req, Replica: fmt.Sprintf("%03d", i),
				Run: fmt.Sprintf("%s/%03d", req.Job, i), Priority: rapid.IntRange(1, 9).Draw(t, "priority"),
				Since: int64(n)})
		}
	}
	c.register()
	return c
}

// register sets what the workers publish.
func (c *cluster) register() {
	for i := range c.workers {
		w := &c.workers[i]
		w.Replicas, w.DaemonSlots, w.Used = map[string]int{}, 0, 0
		for _, m := range c.running[w.ID] {
			w.Replicas[m.Requirements.Job]++
			w.DaemonSlots += m.Requirements.slots()
		}
		w.Used = w.DaemonSlots
	}
}

func (c *cluster) squares() (sum int) {
	for i := range c.workers {
		sum += c.workers[i].DaemonSlots * c.workers[i].DaemonSlots
	}
	return sum
}

// step hands over one replica, by the first worker that may, to the one that claims it; it reports whether one did.
func (c *cluster) step(t *rapid.T) bool {
	before := c.squares()
	for i := range c.workers {
		w := c.workers[i].ID
		at, to := Rebalance(w, c.running[w], c.workers)
		if at < 0 {
			continue
		}
		m := c.running[w][at]
		c.running[w] = slices.Delete(slices.Clone(c.running[w]), at, at+1)
		c.register()
		if claims := c.first(&m, w); claims != to {
			t.Fatalf("%s was to go from %s to %s, and %s claims it", m.Run, w, to, claims)
		}
		c.running[to] = append(slices.Clone(c.running[to]), m)
		c.register()
		if size := m.Requirements.slots(); before-c.squares() < 2*size*size {
			t.Fatalf("the sum of squares went from %d to %d", before, c.squares())
		}
		return true
	}
	return false
}

// first returns the worker that claims a replica that another one has handed over.
func (c *cluster) first(m *Movable, avoid string) string {
	pending := []Pending{{Replica: m.Replica, Avoid: avoid}}
	for i := range c.workers {
		if w := c.workers[i].ID; RankReplicas(m.Requirements, c.workers, m.Requirements.Job, pending, w)[0] == 0 {
			return w
		}
	}
	return ""
}

// A replica is claimed by a worker that runs fewer replicas of its job, although that one uses as many slots as the
// worker that would hand it over: it stays.
func TestRebalance_ClaimWouldNotLowerTheSum_IsNotMoved(t *testing.T) {
	req := &Requirements{Job: "j", Slots: 1}
	all := []Candidate{
		{ID: "a", Slots: 9, DaemonSlots: 5, Replicas: map[string]int{"j": 1}},
		{ID: "b", Slots: 9, DaemonSlots: 3, Replicas: map[string]int{"j": 2}},
		{ID: "c", Slots: 9, DaemonSlots: 5},
	}
	mine := []Movable{{Requirements: req, Replica: "000", Run: "j/000"}}
	if at, to := Rebalance("a", mine, all); at >= 0 {
		t.Errorf("it is handed over, for %s", to)
	}
	all[2].DaemonSlots = 3
	if at, to := Rebalance("a", mine, all); at != 0 || to != "c" {
		t.Errorf("%d is handed over, for %q", at, to)
	}
}

func TestRebalance_EveryMoveLowersTheSumOfSquares_AndItEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		bound := c.squares()/2 + 1
		for moves := 0; c.step(t); moves++ {
			if moves > bound {
				t.Fatalf("more than %d moves", bound)
			}
		}
	})
}

// A worker that leaves moves its own replicas only: where the others are balanced, they stay.
func TestRebalance_WorkerLeaves_OthersStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for c.step(t) {
		}
		if len(c.workers) == 1 {
			return
		}
		leaver := c.workers[len(c.workers)-1].ID
		left := c.running[leaver]
		delete(c.running, leaver)
		c.workers = c.workers[:len(c.workers)-1]
		c.register()
		was := map[string]string{}
		for w, all := range c.running {
			for i := range all {
				was[all[i].Run] = w
			}
		}
		for i := range left {
			c.place(t, []Movable{left[i]})
		}
		for w, all := range c.running {
			for i := range all {
				if before, stayed := was[all[i].Run]; stayed && before != w {
					t.Fatalf("%s moved from %s to %s", all[i].Run, before, w)
				}
			}
		}
	})
}

// place lets the workers of rank 0 claim replicas of one job.
func (c *cluster) place(t *rapid.T, replicas []Movable) {
	req := replicas[0].Requirements
	pending := make([]Pending, len(replicas))
	for i := range pending {
		pending[i].Replica = replicas[i].Run
	}
	claimed := make([]int, len(replicas))
	for i := range c.workers {
		w := c.workers[i].ID
		for at, rank := range RankReplicas(req, c.workers, req.Job, pending, w) {
			if rank == 0 {
				claimed[at]++
				c.running[w] = append(c.running[w], replicas[at])
			}
		}
	}
	for at, n := range claimed {
		if n != 1 {
			t.Fatalf("%d workers are first for %s", n, replicas[at].Run)
		}
	}
	c.register()
}

// N replicas are spread: the numbers on any two workers differ by one at most, whether they are placed one by one or
// all at once.
func TestRankReplicas_SpreadsAJobEvenly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		req := &Requirements{Job: "new", Slots: 1}
		var all []Movable
		for i := range rapid.IntRange(1, 60).Draw(t, "count") {
			all = append(all, Movable{Requirements: req, Run: fmt.Sprintf("new/%03d", i)})
		}
		if rapid.Bool().Draw(t, "at once") {
			c.place(t, all)
		} else {
			for i := range all {
				c.place(t, all[i:i+1])
			}
		}
		least, most := 1<<30, 0
		for i := range c.workers {
			n := c.workers[i].Replicas["new"]
			least, most = min(least, n), max(most, n)
		}
		if most-least > 1 {
			t.Fatalf("%d on one worker, %d on another", most, least)
		}
	})
}

func TestRankReplicas_SlotsOfAssignedReplicasAreTaken(t *testing.T) {
	all := []Candidate{{ID: "a", Slots: 2}, {ID: "b", Slots: 1}}
	req := &Requirements{Job: "j", Slots: 1}
	pending := []Pending{{Replica: "000"}, {Replica: "001"}, {Replica: "002"}, {Replica: "003"}}
	a, b := RankReplicas(req, all, "j", pending, "a"), RankReplicas(req, all, "j", pending, "b")
	first := map[string]int{}
	for i := range pending {
		if a[i] == 0 {
			first["a"]++
		}
		if b[i] == 0 {
			first["b"]++
		}
	}
	if first["a"] != 2 || first["b"] != 1 || a[3] != NotEligible || b[3] != NotEligible {
		t.Fatalf("ranks %v and %v", a, b)
	}
}

func TestRankReplicas_WorkerToAvoidComesLast(t *testing.T) {
	all := []Candidate{{ID: "a", Slots: 9}, {ID: "b", Slots: 9, Replicas: map[string]int{"j": 5}}}
	req := &Requirements{Job: "j", Slots: 1}
	pending := []Pending{{Replica: "000", Avoid: "a"}}
	if got := RankReplicas(req, all, "j", pending, "a"); got[0] != 1 {
		t.Fatalf("the worker to avoid has rank %d", got[0])
	}
	if got := RankReplicas(req, all[:1], "j", pending, "a"); got[0] != 0 {
		t.Fatalf("alone, it has rank %d", got[0])
	}
}
