package dispatch

import (
	"slices"
	"strings"
	"sync"
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
	// noTurn is when a fire that this worker may not claim is decided again, unless the members change before.
	noTurn = 5 * time.Second
	// heldTurn is when a fire that waits for space in the outboxes is decided again, unless there is space before.
	heldTurn = 30 * time.Second
)

// turn is what this worker does with a fire.
type turn struct {
	act    act
	at     time.Time // wait: until then
	look   bool      // claim: only after a read that shows that it is unclaimed
	inTime bool      // expire: the fire was seen before its deadline
	reason common.Reason
}

type act int

const (
	wait   act = iota // another worker's rank comes first, or it is too early
	claim             // claim it
	expire            // no worker was eligible: record its outcome
)

// late is the default reason of a missed fire.
var late = common.Reason{Code: common.ReasonLate, Text: "no worker claimed it before its deadline"}

// noRoom is the reason of fires that waited for space in the outboxes.
var noRoom = common.Reason{
	Code: common.ReasonOutboxFull,
	Text: "the log store was unavailable, and the outboxes were full beyond its deadline",
}

// turns decides what this worker does with a fire. It caches the members as candidates. Safe for concurrent use.
type turns struct {
	self    common.Life
	cluster Cluster

	mu         sync.Mutex
	generation uint64
	candidates []placement.Candidate
	wishes     map[*common.Terms]placement.Wish // parsed requirements; few, since terms are shared
	shares     shares
	disturbed  time.Time // last time without a decision: etcd did not answer, or the outboxes were full; wall clock
	held       time.Time // last time that fires waited for space in the outboxes; wall clock
}

func newTurns(self common.Life, cluster Cluster) *turns {
	return &turns{self: self, cluster: cluster, wishes: map[*common.Terms]placement.Wish{}}
}

// mostWishes bounds the cache of parsed requirements.
const mostWishes = 10_000

// disturb records that etcd does not answer: fires that are not claimed meanwhile do not lack a worker.
func (t *turns) disturb(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.disturbed = now
}

// of returns what to do with a fire now.
func (t *turns) of(f *scheduler.Fire, now time.Time) turn {
	if ahead := f.Due.Sub(t.cluster.Latest(now)); ahead > 0 { // our clock is, or seems to be, ahead
		return turn{at: now.Add(min(ahead, noTurn))}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.refresh() {
		return turn{at: now.Add(noTurn)} // the live workers are not known yet, or this one is not registered
	}
	wish := t.wish(f)
	rank, ok := t.rank(&wish, f)
	ok = ok && t.wanted(f.Trigger)
	base := baseOf(f)
	if ok {
		if f.Trigger != nil && f.Trigger.Worker != "" {
			rank = 0 // only this worker may claim it
		}
		at := base.Add(time.Duration(rank) * stagger)
		if now.Before(at) {
			return turn{at: at}
		}
		return turn{act: claim, look: rank > 0 || t.stale(f, base, now)}
	}
	if f.Trigger != nil { // it has no deadline
		return turn{at: now.Add(noTurn)}
	}
	if t.cluster.Full() { // each expired fire would be one more outcome
		t.held, t.disturbed = now, now
		return turn{at: now.Add(heldTurn)}
	}
	if t.leaves(&wish) {
		return turn{at: now.Add(noTurn)}
	}
	deadline := f.Deadline()
	inTime := t.inTime(f)
	if base.Before(deadline) {
		base = deadline
	}
	order := placement.SettleRank(f.Job, t.candidates, t.self.Worker)
	if left := base.Add(min(mostSettle, time.Duration(order)*settleStagger)).Sub(agreed(t.cluster, now)); left >= 0 {
		return turn{at: now.Add(min(left, noTurn) + 1)}
	}
	reason := placement.Why(&wish, t.candidates)
	if reason.Code == common.ReasonStarting { // a worker was eligible, but did not claim it
		reason = late
	}
	return turn{act: expire, look: true, inTime: inTime, reason: reason}
}

// leaves reports whether this worker lacks a feature that the job needs and another live worker has it: that worker
// decides.
func (t *turns) leaves(w *placement.Wish) bool {
	other := false
	for i := range t.candidates {
		if c := &t.candidates[i]; w.Understood(c) {
			if c.ID == t.self.Worker {
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
func (t *turns) stale(f *scheduler.Fire, asOf, now time.Time) bool {
	return now.Sub(asOf) > fresh && (len(t.candidates) > 1 || f.Trigger != nil || f.Terms.CatchUp == common.CatchUpAll)
}

// needsLook reports the same for a fire that waited for a slot.
func (t *turns) needsLook(i *item, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stale(&i.fire, i.asOf, now)
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
func (t *turns) inTime(f *scheduler.Fire) bool {
	return !f.Since.After(f.Deadline()) && f.Since.After(t.disturbed)
}

// waited reports whether a fire has waited for space in the outboxes since it was due.
func (t *turns) waited(f *scheduler.Fire) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return f.Due.Before(t.held)
}

// overdue returns the turn of a fire that waited here beyond its deadline.
func (t *turns) overdue(f *scheduler.Fire, reason common.Reason) turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return turn{act: expire, look: true, inTime: t.inTime(f), reason: reason}
}

// Reasons of fires that waited here beyond their deadlines: for a slot, or for earlier claims.
var (
	noSlot     = common.Reason{Code: common.ReasonNoSlot, Text: "the eligible workers had no free slot"}
	unanswered = common.Reason{Code: common.ReasonLate, Text: "etcd accepted no claims before its deadline"}
)

// refresh updates the candidates, and reports whether this worker is one of them. Its own slots are checked by pending,
// and its own Trouble is newer than its registration.
func (t *turns) refresh() (alive bool) {
	members, generation := t.cluster.Members()
	if generation != t.generation {
		t.generation, t.candidates = generation, placement.Candidates(members)
		t.shares.renew(members)
		for i := range t.candidates {
			t.candidates[i].Running += len(t.shares.taken[t.candidates[i].ID])
		}
	}
	for i := range t.candidates {
		if c := &t.candidates[i]; c.ID == t.self.Worker {
			c.Used, c.Trouble = 0, t.cluster.Trouble()
			alive = true
		}
	}
	return alive
}

func (t *turns) wish(f *scheduler.Fire) placement.Wish {
	wish, known := t.wishes[f.Terms]
	if !known {
		if len(t.wishes) >= mostWishes {
			clear(t.wishes)
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
		t.wishes[f.Terms] = wish
	}
	wish.Job = f.Job
	if f.Trigger != nil {
		wish.Avoid = f.Trigger.Avoid
	}
	return wish
}

// wanted reports whether a trigger names no worker or this one.
func (t *turns) wanted(trigger *scheduler.Trigger) bool {
	return trigger == nil || trigger.Worker == "" || slices.Contains([]string{t.self.Worker, t.self.Name},
		trigger.Worker)
}
