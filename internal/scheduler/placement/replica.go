package placement

import (
	"cmp"
	"slices"
)

// Pending is a replica of a daemon job without a run.
type Pending struct {
	Replica string
	Avoid   string // id of a worker that ranks last, if it is eligible
	Claimed bool   // by the worker that ranks, which has no answer yet
}

// NotEligible is the rank of a worker that is not eligible for a replica.
const NotEligible = -1

// RankReplicas returns the ranks of a worker for the pending replicas of a daemon job, which are assigned one after the
// other: the worker of rank 0 counts as running the replica when the next one is ranked. Eligible workers are ranked by
// the number of replicas of the job that they run, then by the number of slots that their daemons use, then by hash. So
// N replicas go to N workers before any worker has a second one. A worker to avoid comes last. Replicas that self is
// claiming count as its own before all others. job is the name of the job in Candidate.Replicas.
func RankReplicas(req *Requirements, all []Candidate, job string, pending []Pending, self string) []int {
	ranks := make([]int, len(pending))
	me := slices.IndexFunc(all, func(c Candidate) bool { return c.ID == self })
	loads := make([]load, len(all))
	for i := range all {
		loads[i] = load{replicas: all[i].Replicas[job], slots: all[i].DaemonSlots}
	}
	ordered := make([]int, len(pending))
	for i := range ordered {
		ordered[i] = i
	}
	slices.SortFunc(ordered, func(a, b int) int { return cmp.Compare(pending[a].Replica, pending[b].Replica) })
	base := *req
	base.Avoid = ""
	fits := make([]bool, len(all))
	for i := range all {
		fits[i] = base.refusal(&all[i]) == ""
	}
	for at := range pending {
		if me >= 0 && pending[at].Claimed {
			loads[me].replicas++
			loads[me].slots += req.slots()
			loads[me].taken += req.slots()
		}
	}
	for _, at := range ordered {
		p := &pending[at]
		if p.Claimed {
			continue
		}
		seed, first, rank := seedOf(job+"."+p.Replica), -1, 0
		for i := range all {
			if !fits[i] {
				continue
			}
			if first < 0 || before(seed, p, all, loads, i, first) {
				first = i
			}
			if me >= 0 && i != me && before(seed, p, all, loads, i, me) {
				rank++
			}
		}
		if ranks[at] = rank; me < 0 || !fits[me] {
			ranks[at] = NotEligible
		}
		if first < 0 {
			continue
		}
		l := &loads[first]
		l.replicas++
		l.slots += req.slots()
		l.taken += req.slots()
		fits[first] = all[first].Slots-all[first].Used-l.taken >= req.slots()
	}
	return ranks
}

// Unregistered adds to the candidates the replicas of a job that run and that no registration includes yet, since these
// are up to some seconds old: to those workers other than self that run the fewest. running is the number of replicas
// that run on live workers. What self runs must be exact.
func Unregistered(req *Requirements, all []Candidate, job string, running int, self string) {
	missing := running
	var others []int
	for i := range all {
		if missing -= all[i].Replicas[job]; all[i].ID != self && req.Suits(&all[i]) {
			others = append(others, i)
		}
	}
	if missing <= 0 || len(others) == 0 {
		return
	}
	seed := seedOf(job)
	add := make([]int, len(all))
	for range missing {
		least := slices.MinFunc(others, func(a, b int) int {
			return cmp.Or(cmp.Compare(all[a].Replicas[job]+add[a], all[b].Replicas[job]+add[b]),
				cmp.Compare(all[a].DaemonSlots+add[a]*req.slots(), all[b].DaemonSlots+add[b]*req.slots()),
				cmp.Compare(hashOf(seed, all[b].ID), hashOf(seed, all[a].ID)))
		})
		add[least]++
	}
	for _, i := range others {
		c := &all[i]
		c.Replicas = map[string]int{job: c.Replicas[job] + add[i]}
		c.DaemonSlots += add[i] * req.slots()
		c.Used += add[i] * req.slots()
	}
}

// load is what a worker runs, with the replicas that are assigned to it.
type load struct {
	replicas int // of the job
	slots    int // of all its daemons
	taken    int // slots of the assigned replicas
}

// before reports whether candidate a comes before b for a replica.
func before(seed uint64, p *Pending, all []Candidate, loads []load, a, b int) bool {
	last := func(i int) int {
		if p.Avoid != "" && all[i].ID == p.Avoid {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(loads[a].replicas, loads[b].replicas),
		cmp.Compare(loads[a].slots, loads[b].slots),
		cmp.Compare(hashOf(seed, all[b].ID), hashOf(seed, all[a].ID)), cmp.Compare(all[a].ID, all[b].ID)) < 0
}

// Movable is a running replica that its worker may hand over to rebalance the daemons.
type Movable struct {
	Requirements *Requirements // of its job
	Replica      string
	Run          string
	Priority     int
	Since        int64 // start of the run, in Unix nanoseconds
}

// Rebalance returns the replica that a worker hands over, and the worker that it would go to; -1 if it hands over none.
// A replica of s slots is handed over only if the worker that is the first to claim it then uses at least 2s slots less
// for its daemons, which lowers the sum of the squares of the slots in use by at least 2s².
func Rebalance(self string, mine []Movable, all []Candidate) (index int, to string) {
	me := slices.IndexFunc(all, func(c Candidate) bool { return c.ID == self })
	index = -1
	if me < 0 {
		return index, ""
	}
	for i := range mine {
		m := &mine[i]
		target := lowers(m, me, all)
		if target == "" || index >= 0 && !mine[index].after(m) {
			continue
		}
		index, to = i, target
	}
	return index, to
}

// after reports whether another replica is handed over first: the one with the lower priority, then the one whose run
// is younger.
func (m *Movable) after(o *Movable) bool {
	return cmp.Or(cmp.Compare(o.Priority, m.Priority), cmp.Compare(m.Since, o.Since)) < 0
}

// lowers returns the worker that would claim a replica that is handed over, as RankReplicas ranks them, if that lowers
// the sum of squares; empty if it does not.
func lowers(m *Movable, me int, all []Candidate) (to string) {
	job, first := m.Requirements.Job, -1
	loads := make([]load, len(all))
	for i := range all {
		loads[i] = load{replicas: all[i].Replicas[job], slots: all[i].DaemonSlots}
	}
	p := Pending{Replica: m.Replica, Avoid: all[me].ID}
	seed := seedOf(job + "." + p.Replica)
	for i := range all {
		if i != me && m.Requirements.refusal(&all[i]) == "" && (first < 0 || before(seed, &p, all, loads, i, first)) {
			first = i
		}
	}
	if first < 0 || loads[me].slots-loads[first].slots < 2*max(m.Requirements.slots(), 1) {
		return ""
	}
	return all[first].ID
}

// BalanceRank returns the number of workers whose daemons use more slots than those of a worker; ties are broken by
// hash. Workers rebalance in this order.
func BalanceRank(self string, all []Candidate) (rank int) {
	me := slices.IndexFunc(all, func(c Candidate) bool { return c.ID == self })
	for i := range all {
		if me < 0 || i == me {
			continue
		}
		if cmp.Or(cmp.Compare(all[i].DaemonSlots, all[me].DaemonSlots),
			cmp.Compare(hashOf(fnvOffset, all[i].ID), hashOf(fnvOffset, self))) > 0 {
			rank++
		}
	}
	return rank
}

// Suits reports whether a worker may run a job for some time: temporary reasons, such as a lack of free slots, do not
// count.
func (req *Requirements) Suits(c *Candidate) bool {
	switch req.refusal(c) {
	case "", NoSlot, Trouble, OutboxFull:
		return true
	}
	return false
}
