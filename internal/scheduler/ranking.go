package scheduler

import (
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/maintenance"
	"carillon/internal/scheduler/placement"
)

const (
	// stagger is the delay between consecutive ranks before a worker checks whether a fire was claimed.
	stagger = 2 * time.Second
	// Fresh is how long rank 0 may assume that a fire is unclaimed without reading etcd: rank 1 does not claim before
	// stagger.
	Fresh = stagger / 2
	// foundLate is how late a fire must have been found for the ranks to count from that time: all workers have found
	// it just now, as after an outage. Otherwise they count from the due time, so that the fires of a dead worker are
	// not delayed one after the other. After an outage of that length the catch-up policy selects among the fires.
	foundLate = 5 * stagger
	// RetryIneligible is when a fire that this worker may not claim is ranked again, unless the members change before.
	RetryIneligible = 5 * time.Second
	// retryFull is when a fire that waits for space in the outboxes is ranked again, unless there is space before.
	retryFull = 30 * time.Second
)

// Cluster is the state of the cluster as this worker sees it.
type Cluster interface {
	// Members returns the live workers, including this one once it is registered; generation changes with them.
	Members() (members []common.Member, generation uint64)
	// Latest returns the latest time whose fires may be claimed at now.
	Latest(now time.Time) time.Time
	// Trouble returns why this worker must not claim; "" if it may.
	Trouble() string
	// Windows returns the maintenance windows.
	Windows() *maintenance.Set
	// Full reports whether the outboxes are full. Then this worker writes no outcomes of unclaimed fires: they wait at
	// their cursors.
	Full() bool
	// FlowsFull reports whether a flow run with so many nodes has to wait, since the live ones have too many.
	FlowsFull(nodes int) bool
}

// Agreed returns the time for decisions on fires: our clock, unless it is ahead of the latest time that may be claimed.
func Agreed(c Cluster, now time.Time) time.Time {
	if latest := c.Latest(now); latest.Before(now) {
		return latest
	}
	return now
}

// Ranking computes from the live workers whether and when this worker claims a fire. It caches them as candidates, and
// is used by one goroutine.
type Ranking struct {
	self         common.Life
	cluster      Cluster
	generation   uint64
	candidates   []placement.Candidate
	requirements map[*common.Terms]placement.Requirements // few, since terms are shared
	shares       shares
	own          func() OwnReplicas
	replicas     map[string]replicaRanks // by job
	registered   registered
	created      map[string]int             // numbers of replicas that have been created, by uid of the job
	claiming     map[string]map[string]bool // ids of triggers of replicas that this worker is claiming, by job
}

// NewRanking returns the ranking of a worker. own returns what this worker runs of daemon jobs.
func NewRanking(self common.Life, cluster Cluster, own func() OwnReplicas) *Ranking {
	return &Ranking{self: self, cluster: cluster, requirements: map[*common.Terms]placement.Requirements{}, own: own,
		replicas: map[string]replicaRanks{}, claiming: map[string]map[string]bool{},
		created: map[string]int{}}
}

// mostRequirements bounds the cache.
const mostRequirements = 10_000

// Action returns what this worker does with a due fire. It depends on the fire, the workers and the time; under
// the strategy least, also on the fires that were ranked before.
func (r *Ranking) Action(f *Fire, now time.Time) Action {
	if ahead := f.Due.Sub(r.cluster.Latest(now)); ahead > 0 { // our clock is, or seems to be, ahead
		return Action{HoldUntil: now.Add(min(ahead, RetryIneligible))}
	}
	if !r.refresh() {
		// the live workers are not known yet, or this one is not registered
		return Action{HoldUntil: now.Add(RetryIneligible), Unable: true}
	}
	if left := r.maintain(f, now); left > 0 {
		return Action{HoldUntil: now.Add(left), Maintained: true}
	}
	req := r.requirementsOf(f)
	rank, ok := r.rank(&req, f)
	ok = ok && r.agree(f)
	base := f.base()
	if ok && r.wanted(f.Trigger) && !f.PoolFull && r.fits(f) {
		if f.Trigger != nil && f.Trigger.Worker != "" {
			rank = 0 // only this worker may claim it
		}
		if at := base.Add(time.Duration(rank) * stagger); now.Before(at) {
			if f.Replicas != nil {
				at = now.Add(min(rerank, at.Sub(now)))
			}
			return Action{HoldUntil: at}
		}
		r.claims(f)
		return Action{Read: rank > 0 || now.Sub(base) > Fresh && r.contested(f)}
	}
	// Only a fire with a pool keeps others waiting.
	nowhere := !ok && f.Terms.Pool != "" && placement.First(&req, r.candidates) < 0
	switch {
	case f.Replicas != nil:
		return Action{HoldUntil: now.Add(rerank)}
	case f.Trigger != nil: // it has no deadline
		return Action{HoldUntil: now.Add(RetryIneligible), Nowhere: nowhere}
	case r.cluster.Full(): // each expired fire would be one more outcome
		return Action{HoldUntil: now.Add(retryFull), Nowhere: nowhere, Unable: !ok}
	case r.defers(&req):
		return Action{HoldUntil: now.Add(RetryIneligible), Nowhere: nowhere, Unable: !ok}
	}
	action := r.expire(f, &req, now, base, nowhere)
	action.Unable = !ok
	return action
}

// expire returns the action for a fire of the plan that no worker may claim now: it is held until its deadline.
func (r *Ranking) expire(f *Fire, req *placement.Requirements, now, base time.Time, nowhere bool) Action {
	if deadline := f.Deadline(); base.Before(deadline) {
		base = deadline
	}
	at := base.Add(placement.SettleDelay(f.Job, r.candidates, r.self.Worker))
	if left := at.Sub(Agreed(r.cluster, now)); left >= 0 {
		return Action{HoldUntil: now.Add(min(left, RetryIneligible) + 1), Nowhere: nowhere}
	}
	action := Action{Expire: true, Read: true, Reason: placement.Why(req, r.candidates), Nowhere: nowhere}
	if action.Reason.Code == common.ReasonStarting { // a worker was eligible, but did not claim it
		lacking := placement.Lacking(f.FlowNeeds(), r.candidates)
		switch {
		case lacking != nil:
			action.Reason = *lacking
		case f.PoolMissing:
			action.Reason = common.PoolMissing(f.Terms.Pool)
		case f.PoolFull:
			action.Reason = common.PoolFull(f.Terms.Pool, 0)
		case !r.fits(f):
			action.Reason = common.FlowsFull()
		default:
			action.Reason = common.Reason{}
		}
	}
	return action
}

// Recheck reports about a fire that has waited since it was ranked: whether this worker may still claim it, and whether
// its state must be read again before.
func (r *Ranking) Recheck(f *Fire, now time.Time) (eligible, read bool) {
	alive, req := r.refresh(), r.requirementsOf(f)
	_, eligible = placement.Rank(&req, r.candidates, r.self.Worker)
	eligible = alive && eligible && r.agree(f) && r.fits(f)
	return eligible && r.wanted(f.Trigger) && r.maintain(f, now) == 0, r.contested(f)
}

// maintain applies the maintenance windows to a fire, and returns for how long it has to wait; 0 if it need not. It
// goes by the agreed time, so that a clock that is ahead does not end a window early.
func (r *Ranking) maintain(f *Fire, now time.Time) time.Duration {
	agreed := Agreed(r.cluster, now)
	until, closed := f.maintain(r.cluster.Windows(), agreed)
	if !closed {
		return 0
	}
	return until.Sub(agreed)
}

// agree reports whether all workers that keep flow runs know the features that those of the fire need: an older one
// could advance them by other rules.
func (r *Ranking) agree(f *Fire) bool {
	return placement.Lacking(f.FlowNeeds(), r.candidates) == nil
}

// fits reports whether the nodes of the flow run that a fire begins have room beside those of the live ones.
func (r *Ranking) fits(f *Fire) bool { return !f.Bounded() || !r.cluster.FlowsFull(f.Flow.Nodes) }

// defers reports whether this worker lacks a feature that the job needs and another live worker has it: that worker
// decides.
func (r *Ranking) defers(req *placement.Requirements) bool {
	other := false
	for i := range r.candidates {
		if c := &r.candidates[i]; req.Understood(c) {
			if c.ID == r.self.Worker {
				return false
			}
			other = true
		}
	}
	return other
}

// contested reports whether a fire whose state was not read for some time may be claimed by now. A single worker need
// not read that no other worker has claimed a fire of the plan; for a trigger or a caught-up fire, the read also shows
// whether an unresolved run blocks it.
func (r *Ranking) contested(f *Fire) bool {
	return len(r.candidates) > 1 || f.Trigger != nil || f.Terms.CatchUp == common.CatchUpAll
}

// base returns the time at which rank 0 may claim the fire.
func (f *Fire) base() time.Time {
	base := f.Due
	if f.Since.Sub(f.Due) > foundLate {
		base = f.Since
	}
	if f.Admitted.After(base) {
		return f.Admitted
	}
	return base
}

// refresh updates the candidates, and reports whether this worker is one of them. Its own slots are checked by the
// dispatcher, and its own Trouble is newer than its registration.
func (r *Ranking) refresh() (alive bool) {
	members, generation := r.cluster.Members()
	if generation != r.generation {
		r.generation, r.candidates = generation, placement.Candidates(members)
		r.shares.renew(members)
		r.registered.renew(members)
		for i := range r.candidates {
			r.candidates[i].Running += len(r.shares.taken[r.candidates[i].ID])
		}
	}
	for i := range r.candidates {
		if c := &r.candidates[i]; c.ID == r.self.Worker {
			c.Used, c.Trouble = 0, r.cluster.Trouble()
			alive = true
		}
	}
	return alive
}

func (r *Ranking) requirementsOf(f *Fire) placement.Requirements {
	req, known := r.requirements[f.Terms]
	if !known {
		if len(r.requirements) >= mostRequirements {
			clear(r.requirements)
		}
		req = placement.Requirements{Slots: f.Terms.Slots, NoSlots: f.Terms.Slots == 0, Busy: f.Terms.Spread,
			Strategy: f.Terms.Strategy}
		selector, err := placement.ParseSelector(f.Terms.Selector)
		if err != nil { // validated when it was saved; a selector that cannot be parsed matches no worker
			req.Workers = []string{""}
		}
		req.Selector = selector
		if f.Terms.Workers != "" {
			req.Workers = strings.Split(f.Terms.Workers, ",")
		}
		if f.Terms.Needs != "" {
			req.Needs = strings.Split(f.Terms.Needs, ",")
		}
		r.requirements[f.Terms] = req
	}
	req.Job = f.Job
	if t := f.Trigger; t != nil {
		req.Avoid = t.Avoid
		req.Job += common.RankKey(t.Flow)
	}
	return req
}

// wanted reports whether a trigger names no worker or this one.
func (r *Ranking) wanted(trigger *Trigger) bool {
	return trigger == nil || trigger.Worker == "" || slices.Contains([]string{r.self.Worker, r.self.Name},
		trigger.Worker)
}

// Eligible returns the workers that may run a fire, in the order of their ranks, at most common.MaxSpread.
func (r *Ranking) Eligible(f *Fire) []common.SpreadWorker {
	r.refresh()
	req := r.requirementsOf(f)
	var workers []common.SpreadWorker
	for _, v := range placement.Explain(&req, r.candidates) {
		if v.Eligible && len(workers) < common.MaxSpread {
			workers = append(workers, common.SpreadWorker{ID: v.ID, Name: v.Name})
		}
	}
	return workers
}
