package dispatch

import (
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
	"carillon/internal/scheduler/placement"
)

const (
	// stagger is the delay between consecutive ranks before a worker checks whether a fire was claimed.
	stagger = 2 * time.Second
	// settleStagger is the same for expiring a fire without an eligible worker, mostSettle its upper limit.
	settleStagger = time.Second
	mostSettle    = 4 * time.Second
	// fresh is how long rank 0 may assume that a fire is unclaimed without reading etcd: rank 1 does not claim before
	// stagger.
	fresh = stagger / 2
	// retryAfter is when a fire without a decision is tried again.
	retryAfter = time.Second
	// retryIneligible is when a fire that this worker may not claim is decided again, unless the members change before.
	retryIneligible = 5 * time.Second
	// retryFull is when a fire that waits for space in the outboxes is decided again, unless there is space before.
	retryFull = 30 * time.Second
)

// action is what this worker does with a fire.
type action struct {
	kind   kind
	at     time.Time // wait: until then
	read   bool      // claim: only after a read that shows that it is unclaimed
	inTime bool      // expire: the fire was seen before its deadline
	reason common.Reason
}

type kind int

const (
	wait   kind = iota // another worker's rank comes first, or it is too early
	claim              // claim it
	expire             // no worker was eligible: record its outcome
)

// late is the default reason of a missed fire.
var late = common.Reason{Code: common.ReasonLate, Text: "no worker claimed it before its deadline"}

// noRoom is the reason of fires that waited for space in the outboxes.
var noRoom = common.Reason{
	Code: common.ReasonOutboxFull,
	Text: "the log store was unavailable, and the outboxes were full beyond its deadline",
}

// ranking decides what this worker does with a fire. It caches the members as candidates.
type ranking struct {
	self       common.Life
	cluster    Cluster
	generation uint64
	candidates []placement.Candidate
	wishes     map[*common.Terms]placement.Wish // parsed requirements; few, since terms are shared
	shares     shares
	disturbed  time.Time // last time without a decision: etcd did not answer, or the outboxes were full; wall clock
	fullAt     time.Time // last time that fires waited for space in the outboxes; wall clock
}

func newRanking(self common.Life, cluster Cluster) *ranking {
	return &ranking{self: self, cluster: cluster, wishes: map[*common.Terms]placement.Wish{}}
}

// mostWishes bounds the cache of parsed requirements.
const mostWishes = 10_000

// decide returns what to do with a fire now.
func (r *ranking) decide(f *scheduler.Fire, now time.Time) action {
	if ahead := f.Due.Sub(r.cluster.Latest(now)); ahead > 0 { // our clock is, or seems to be, ahead
		return action{at: now.Add(min(ahead, retryIneligible))}
	}
	if !r.refresh() {
		return action{at: now.Add(retryIneligible)} // the live workers are not known yet, or this one is not registered
	}
	wish := r.wish(f)
	rank, ok := r.rank(&wish, f)
	ok = ok && r.wanted(f.Trigger)
	base := baseOf(f)
	if ok {
		if f.Trigger != nil && f.Trigger.Worker != "" {
			rank = 0 // only this worker may claim it
		}
		at := base.Add(time.Duration(rank) * stagger)
		if now.Before(at) {
			return action{at: at}
		}
		return action{kind: claim, read: rank > 0 || r.stale(f, base, now)}
	}
	if f.Trigger != nil { // it has no deadline
		return action{at: now.Add(retryIneligible)}
	}
	if r.cluster.Full() { // each expired fire would be one more outcome
		r.fullAt, r.disturbed = now, now
		return action{at: now.Add(retryFull)}
	}
	if r.defers(&wish) {
		return action{at: now.Add(retryIneligible)}
	}
	deadline := f.Deadline()
	inTime := r.inTime(f)
	if base.Before(deadline) {
		base = deadline
	}
	order := placement.SettleRank(f.Job, r.candidates, r.self.Worker)
	if left := base.Add(min(mostSettle, time.Duration(order)*settleStagger)).Sub(agreed(r.cluster, now)); left >= 0 {
		return action{at: now.Add(min(left, retryIneligible) + 1)}
	}
	reason := placement.Why(&wish, r.candidates)
	if reason.Code == common.ReasonStarting { // a worker was eligible, but did not claim it
		reason = late
	}
	return action{kind: expire, read: true, inTime: inTime, reason: reason}
}

// defers reports whether this worker lacks a feature that the job needs and another live worker has it: that worker
// decides.
func (r *ranking) defers(w *placement.Wish) bool {
	other := false
	for i := range r.candidates {
		if c := &r.candidates[i]; w.Understood(c) {
			if c.ID == r.self.Worker {
				return false
			}
			other = true
		}
	}
	return other
}

// agreed returns the time for decisions on fires: our clock, unless it is ahead of the latest time that may be claimed.
func agreed(c Cluster, now time.Time) time.Time {
	if latest := c.Latest(now); latest.Before(now) {
		return latest
	}
	return now
}

// stale reports whether the state of a fire as of a time must be read again. A single worker need not read that no
// other worker has claimed a fire of the plan; for a trigger or a caught-up fire, the read also shows whether an
// unresolved run blocks it.
func (r *ranking) stale(f *scheduler.Fire, asOf, now time.Time) bool {
	return now.Sub(asOf) > fresh && (len(r.candidates) > 1 || f.Trigger != nil || f.Terms.CatchUp == common.CatchUpAll)
}

// foundLate is how late a fire must have been found for the ranks to count from that time: all workers have found it
// just now, as after an outage. Otherwise they count from the due time, so that the fires of a dead worker are not
// delayed one after the other.
const foundLate = 5 * stagger

// baseOf returns the time at which rank 0 may claim a fire.
func baseOf(f *scheduler.Fire) time.Time {
	if f.Since.Sub(f.Due) > foundLate {
		return f.Since
	}
	return f.Due
}

// inTime reports whether a fire was found before its deadline and etcd has answered since: then it was not claimed for
// lack of an eligible worker.
func (r *ranking) inTime(f *scheduler.Fire) bool {
	return !f.Since.After(f.Deadline()) && f.Since.After(r.disturbed)
}

// waited reports whether a fire has waited for space in the outboxes since it was due.
func (r *ranking) waited(f *scheduler.Fire) bool {
	return f.Due.Before(r.fullAt)
}

// overdue returns the action for a fire that waited here beyond its deadline.
func (r *ranking) overdue(f *scheduler.Fire, reason common.Reason) action {
	return action{kind: expire, read: true, inTime: r.inTime(f), reason: reason}
}

// Reasons of fires that waited here beyond their deadlines: for a slot, or for earlier claims.
var (
	noSlot     = common.Reason{Code: common.ReasonNoSlot, Text: "the eligible workers had no free slot"}
	unanswered = common.Reason{Code: common.ReasonLate, Text: "etcd accepted no claims before its deadline"}
)

// refresh updates the candidates, and reports whether this worker is one of them. Its own slots are checked by pending,
// and its own Trouble is newer than its registration.
func (r *ranking) refresh() (alive bool) {
	members, generation := r.cluster.Members()
	if generation != r.generation {
		r.generation, r.candidates = generation, placement.Candidates(members)
		r.shares.renew(members)
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

func (r *ranking) wish(f *scheduler.Fire) placement.Wish {
	wish, known := r.wishes[f.Terms]
	if !known {
		if len(r.wishes) >= mostWishes {
			clear(r.wishes)
		}
		wish = placement.Wish{Slots: f.Terms.Slots, Strategy: f.Terms.Strategy}
		selector, err := placement.ParseSelector(f.Terms.Selector)
		if err != nil { // validated when it was saved; a selector that cannot be parsed matches no worker
			wish.Workers = []string{""}
		}
		wish.Selector = selector
		if f.Terms.Workers != "" {
			wish.Workers = strings.Split(f.Terms.Workers, ",")
		}
		if f.Terms.Needs != "" {
			wish.Needs = strings.Split(f.Terms.Needs, ",")
		}
		r.wishes[f.Terms] = wish
	}
	wish.Job = f.Job
	if f.Trigger != nil {
		wish.Avoid = f.Trigger.Avoid
	}
	return wish
}

// wanted reports whether a trigger names no worker or this one.
func (r *ranking) wanted(trigger *scheduler.Trigger) bool {
	return trigger == nil || trigger.Worker == "" || slices.Contains([]string{r.self.Worker, r.self.Name},
		trigger.Worker)
}
