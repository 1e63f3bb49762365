package scheduler

import (
	"slices"
	"strconv"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

// rerank is the longest time until a pending replica of a daemon job is ranked again: the ranks change with each
// replica that starts.
const rerank = time.Second

// Replicas are the pending replicas of a daemon job, which are assigned to workers together. It is never modified.
type Replicas struct {
	pending []placement.Pending
	index   map[string]int // in pending, by id of the trigger
}

// OwnReplicas is what this worker runs of daemon jobs.
type OwnReplicas struct {
	Version uint64         // changes with Jobs and Slots
	Jobs    map[string]int // numbers of replicas, by job; never modified
	Slots   int            // that its daemons use
	Used    int            // slots that all its runs use
}

// replicas returns the pending replicas of a job, without those that are bound to a worker.
func (p *plan) replicas(job *jobEntry) *Replicas {
	if known := p.pending[job.name]; known != nil {
		return known
	}
	all := &Replicas{index: map[string]int{}}
	for _, e := range p.ofJob[job.name] {
		if t := &e.trigger; t.Cause == common.CauseDaemon && t.UID() == job.uid && t.Worker == "" {
			all.index[t.ID] = len(all.pending)
			all.pending = append(all.pending, placement.Pending{Replica: t.Replica(), Avoid: t.Avoid})
		}
	}
	p.pending[job.name] = all
	return all
}

// replicaRanks are the ranks of this worker for the pending replicas of a job, as of some state.
type replicaRanks struct {
	of         *Replicas
	generation uint64
	own        uint64
	used       int
	ranks      []int
}

// registered holds what live workers have registered of daemon jobs, and what those had that are no longer alive: their
// runs may not have been recovered yet.
type registered struct {
	live map[string]map[string]int // replicas by job, by worker
	dead map[string]map[string]int
}

// mostDead bounds the dead workers that are remembered.
const mostDead = 1000

// renew applies new registrations.
func (r *registered) renew(members []common.Member) {
	if r.dead == nil || len(r.dead) > mostDead {
		r.dead = map[string]map[string]int{}
	}
	live := make(map[string]map[string]int, len(members))
	for i := range members {
		live[members[i].Worker] = members[i].Replicas
		delete(r.dead, members[i].Worker)
	}
	for worker, jobs := range r.live {
		if _, alive := live[worker]; !alive {
			r.dead[worker] = jobs
		}
	}
	r.live = live
}

// ofDead returns how many replicas of a job were on workers that are no longer alive.
func (r *registered) ofDead(job string) (n int) {
	for _, jobs := range r.dead {
		n += jobs[job]
	}
	return n
}

// claims records that this worker is about to claim a replica: until it is no longer pending, or is ranked again, it
// counts as one of this worker.
func (r *Ranking) claims(f *Fire) {
	if f.Replicas == nil {
		return
	}
	if r.claiming[f.Job] == nil {
		if len(r.claiming) >= mostRequirements {
			clear(r.claiming)
		}
		r.claiming[f.Job] = map[string]bool{}
	}
	r.claiming[f.Job][f.Trigger.ID] = true
}

// unanswered returns the pending replicas of a job, with those marked that this worker is claiming.
func (r *Ranking) unanswered(job string, of *Replicas) []placement.Pending {
	ids := r.claiming[job]
	for id := range ids {
		if _, pending := of.index[id]; !pending {
			delete(ids, id)
		}
	}
	if len(ids) == 0 {
		delete(r.claiming, job)
		return of.pending
	}
	all := slices.Clone(of.pending)
	for id := range ids {
		all[of.index[id]].Claimed = true
	}
	return all
}

// running returns how many replicas of the job of a fire run on live workers: each that was created is pending or
// running, and they are created in the order of their indices.
func (r *Ranking) running(f *Fire) int {
	created := r.created[f.UID]
	for i := range f.Replicas.pending {
		if index, err := strconv.Atoi(f.Replicas.pending[i].Replica); err == nil {
			created = max(created, index+1)
		}
	}
	if len(r.created) >= mostRequirements {
		clear(r.created)
	}
	r.created[f.UID] = created
	return min(created, int(f.Terms.Daemon.Count)) - len(f.Replicas.pending) - r.registered.ofDead(f.Job)
}

// rankReplica returns the rank of this worker for a pending replica of a daemon job.
func (r *Ranking) rankReplica(req *placement.Requirements, f *Fire) (rank int, ok bool) {
	own := r.own()
	known := r.replicas[f.Job]
	if r.claiming[f.Job][f.Trigger.ID] { // the claim has failed
		delete(r.claiming[f.Job], f.Trigger.ID)
		known = replicaRanks{}
	}
	if known.of != f.Replicas || known.generation != r.generation || known.own != own.Version ||
		known.used != own.Used {
		all := slices.Clone(r.candidates)
		for i := range all {
			if all[i].ID == r.self.Worker { // its registration is older
				all[i].Replicas, all[i].DaemonSlots, all[i].Used = own.Jobs, own.Slots, own.Used
			}
		}
		placement.Unregistered(req, all, f.Job, r.running(f), r.self.Worker)
		if len(r.replicas) >= mostRequirements {
			clear(r.replicas)
		}
		known = replicaRanks{f.Replicas, r.generation, own.Version, own.Used,
			placement.RankReplicas(req, all, f.Job, r.unanswered(f.Job, f.Replicas), r.self.Worker)}
		r.replicas[f.Job] = known
	}
	at, found := f.Replicas.index[f.Trigger.ID]
	if !found {
		return placement.Rank(req, r.candidates, r.self.Worker)
	}
	rank = known.ranks[at]
	return rank, rank != placement.NotEligible
}
