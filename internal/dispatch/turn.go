package dispatch

import (
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/placement"
	"carillon/internal/scheduler"
)

const (
	// stagger is how much later than the one before it in rank a worker looks whether a
	// fire was taken.
	stagger = 2 * time.Second
	// settleStagger likewise, where a fire that nobody could claim is given up; all of it
	// happens within mostSettle.
	settleStagger = time.Second
	mostSettle    = 4 * time.Second
	// fresh is how long the first in rank may take a fire for untaken without a look: the
	// second does not look earlier than stagger.
	fresh = stagger / 2
	// retryAfter is when a fire that could not be decided is tried again.
	retryAfter = time.Second
	// noTurn is when a fire that nobody here may claim is looked at again, unless the
	// members change before.
	noTurn = 5 * time.Second
	// heldTurn is when a fire that waits for room in the outboxes is looked at again, unless
	// there is room before.
	heldTurn = 30 * time.Second
)

// turn is what a worker does about a fire.
type turn struct {
	act    act
	at     time.Time // wait: until then
	look   bool      // claim: only after a look
	inTime bool      // expire: the fire was seen before its deadline
	reason common.Reason
}

type act int

const (
	wait   act = iota // it is somebody else's turn, or too early
	claim             // claim it
	expire            // nobody could claim it: write that down
)

// late is the reason where there is no other.
var late = common.Reason{Code: common.ReasonLate, Text: "no worker took it within its deadline"}

// noRoom is the reason of fires that the outboxes had no room for.
var noRoom = common.Reason{Code: common.ReasonOutboxFull, Text: "the log store was away, and the outboxes were full beyond its deadline"}

// turns tells whose turn a fire is. It keeps the members as placement wants them.
// Safe for concurrent use.
type turns struct {
	self    common.Life
	cluster Cluster

	mu         sync.Mutex
	generation uint64
	candidates []placement.Candidate
	wishes     map[*common.Terms]placement.Wish // parsed; few, as terms are shared
	shares     shares
	disturbed  time.Time // when fires were last left undecided, wall clock: etcd did not answer, or the outboxes were full
	held       time.Time // when fires last waited for room in the outboxes, wall clock
}

func newTurns(self common.Life, cluster Cluster) *turns {
	return &turns{self: self, cluster: cluster, wishes: map[*common.Terms]placement.Wish{}}
}

// mostWishes bounds what is kept parsed.
const mostWishes = 10_000

// disturb notes that etcd does not answer: what was not claimed meanwhile was not for want of a worker.
func (t *turns) disturb(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.disturbed = now
}

// of tells what to do about a fire now.
func (t *turns) of(f *scheduler.Fire, now time.Time) turn {
	if ahead := f.Due.Sub(t.cluster.Latest(now)); ahead > 0 { // our clock is, or seems to be, ahead
		return turn{at: now.Add(min(ahead, noTurn))}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.refresh() {
		return turn{at: now.Add(noTurn)} // who is alive is not known yet, or it is not us
	}
	wish := t.wish(f)
	rank, ok := t.rank(&wish, f)
	ok = ok && t.wanted(f.Trigger)
	base := baseOf(f)
	if ok {
		if f.Trigger != nil && f.Trigger.Worker != "" {
			rank = 0 // it is for nobody else
		}
		at := base.Add(time.Duration(rank) * stagger)
		if now.Before(at) {
			return turn{at: at}
		}
		return turn{act: claim, look: rank > 0 || t.stale(f, base, now)}
	}
	if f.Trigger != nil { // it waits for as long as it takes
		return turn{at: now.Add(noTurn)}
	}
	if t.cluster.Full() { // each fire that is given up would be one more outcome
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
	if reason.Code == common.ReasonStarting { // somebody might have taken it, and did not
		reason = late
	}
	return turn{act: expire, look: true, inTime: inTime, reason: reason}
}

// leaves tells whether we cannot do what a job needs, and somebody else who is alive can:
// what a newer version means is for it to decide.
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

// agreed is what time it is as far as fires may be decided about: our clock, unless it is
// ahead of the cluster's by more than a claim may be.
func agreed(c Cluster, now time.Time) time.Time {
	if latest := c.Latest(now); latest.Before(now) {
		return latest
	}
	return now
}

// stale tells whether what was known of a fire as of a time is no longer to be relied on.
// A worker that is alone needs no look to learn that nobody else took a fire of the plan;
// for a trigger, or a fire that is caught up, it also shows whether a run stands in the way.
func (t *turns) stale(f *scheduler.Fire, asOf, now time.Time) bool {
	return now.Sub(asOf) > fresh && (len(t.candidates) > 1 || f.Trigger != nil || f.Terms.CatchUp == common.CatchUpAll)
}

// needsLook tells the same of a fire that waited for a slot.
func (t *turns) needsLook(i *item, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stale(&i.fire, i.asOf, now)
}

// foundLate is how late a fire must have been found to be due for the turns to count from
// then: everybody has found it just now, as after an outage. Below it they count from
// when it was due, lest the fires of a worker that died wait one after the other.
const foundLate = 5 * stagger

// baseOf is when it is the turn of the first in rank.
func baseOf(f *scheduler.Fire) time.Time {
	if f.Since.Sub(f.Due) > foundLate {
		return f.Since
	}
	return f.Due
}

// inTime tells whether a fire was found to be due before its deadline, and etcd answered
// ever since: then it was for want of a worker that nobody claimed it.
func (t *turns) inTime(f *scheduler.Fire) bool {
	return !f.Since.After(f.Deadline()) && f.Since.After(t.disturbed)
}

// waited reports whether a fire waited for room in the outboxes since it was due.
func (t *turns) waited(f *scheduler.Fire) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return f.Due.Before(t.held)
}

// overdue is the turn of a fire that waited here beyond its deadline.
func (t *turns) overdue(f *scheduler.Fire, reason common.Reason) turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return turn{act: expire, look: true, inTime: t.inTime(f), reason: reason}
}

// Why a fire waited here for too long: for a slot, or for the claims before it.
var (
	noSlot     = common.Reason{Code: common.ReasonNoSlot, Text: "the workers that may run it had no free slot"}
	unanswered = common.Reason{Code: common.ReasonLate, Text: "etcd took no claims before its deadline"}
)

// refresh takes in who is alive, and tells whether we are. Our own slots are counted where
// they are given out, and our own trouble is known here first.
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
		if err != nil { // it was checked when it was saved; what cannot be read matches nobody
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

// wanted tells whether a trigger that names a worker names this one.
func (t *turns) wanted(trigger *scheduler.Trigger) bool {
	return trigger == nil || trigger.Worker == "" || slices.Contains([]string{t.self.Worker, t.self.Name}, trigger.Worker)
}
