package scheduler

import (
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

const (
	// poolTurn is how long a fire that could start keeps the slots of its pool for itself, while it is not claimed: its
	// worker may be out of slots of its own, or no worker may be eligible. After that, fires behind it may use them.
	poolTurn = 2 * time.Second
	// poolSweep is how often the queues are looked at without a change.
	poolSweep = 500 * time.Millisecond
)

// poolQueues holds the due fires of jobs with a pool, in the order in which they get slots: by priority, and then by
// time. Every worker has the same fires, and so the same queues. A fire is admitted if the slots that are free are
// enough for it and for all fires before it that could start; otherwise it is held, whatever this worker's rank. It is
// owned by Loop.Run.
type poolQueues struct {
	view   *Pools
	queues map[string]*poolQueue
	of     map[*item]*waiter
	swept  int64
}

type poolQueue struct {
	waiting []*waiter // sorted
	dirty   bool      // to be evaluated
	edge    int       // the fires from here on are not admitted, as of the last evaluation
}

// waiter is a fire in a queue.
type waiter struct {
	item     *item
	pool     string
	job      string
	name     string // the key of the fire, for the order
	fire     int64  // of a job, its planned time; of a trigger, its revision
	priority int
	due      int64
	slots    int
	lonely   bool  // a trigger that a run of its own job forbids
	nowhere  bool  // no worker is eligible
	until    int64 // it is not tried again before; 0: at any time
	admitted int64 // since when it may start; 0: it may not
}

func newPoolQueues() *poolQueues {
	return &poolQueues{view: NewPools(), queues: map[string]*poolQueue{}, of: map[*item]*waiter{}}
}

func compareWaiters(a, b *waiter) int {
	return common.ComparePoolWaiters(a.priority, b.priority, a.due, b.due, a.name, b.name)
}

// arrive puts items that have become due together into their queues, before one of them gets a slot.
func (p *poolQueues) arrive(plan *plan, items []*item) {
	for _, it := range items {
		terms := plan.termsOf(it)
		if terms == nil || terms.Pool == "" {
			continue
		}
		if f, ready := it.what.offer(plan); ready {
			p.queue(it, &f)
		}
	}
}

// termsOf returns the terms of the job of an item; nil if it is unknown.
func (p *plan) termsOf(it *item) *common.Terms {
	switch what := it.what.(type) {
	case *jobEntry:
		return what.terms
	case *triggerEntry:
		if what.trigger.Inline != nil {
			return what.trigger.Inline.Terms
		}
		if job, known := p.jobs[what.trigger.Job]; known {
			return job.terms
		}
	}
	return nil
}

// enter sets the state of a due fire: whether it waits for its pool, or since when it may start.
func (p *poolQueues) enter(plan *plan, it *item, f *Fire, now int64) {
	if f.Terms.Pool == "" && len(p.of) == 0 {
		return
	}
	w := p.queue(it, f)
	if w == nil {
		return // the sweep lets others start
	}
	if w.until != 0 && w.until <= now {
		w.until, p.queues[w.pool].dirty = 0, true
	}
	p.wake(plan, []string{w.pool}, now)
	if w.admitted != 0 {
		f.Admitted = time.Unix(0, w.admitted)
		return
	}
	_, exists := p.view.room(w.pool)
	f.PoolFull, f.PoolMissing = true, !exists
}

// queue returns the waiter of a due fire; nil if it waits for no pool.
func (p *poolQueues) queue(it *item, f *Fire) *waiter {
	w := p.of[it]
	own := f.Trigger == nil && f.Terms.Overlap.Forbids() && p.view.Holds(f.Terms.Pool, f.Job)
	if f.Terms.Pool == "" || f.Flow != nil || own { // with a run of its own, it is skipped or queued, without a slot
		p.leave(w)
		return nil
	}
	next := waiter{item: it, pool: f.Terms.Pool, job: f.Job, name: f.Job + "/", fire: f.At.UnixNano(),
		priority: f.Terms.Priority, due: f.Due.UnixNano(), slots: f.Terms.PoolSlots}
	if t := f.Trigger; t != nil {
		next.name, next.fire, next.lonely = f.Job+"/"+t.RunID(), t.Revision, f.Terms.Overlap.Forbids()
	}
	if w == nil || w.pool != next.pool || w.fire != next.fire || w.slots != next.slots ||
		compareWaiters(w, &next) != 0 {
		p.leave(w)
		w = &next
		p.insert(w)
	}
	return w
}

func (p *poolQueues) insert(w *waiter) {
	q := p.queues[w.pool]
	if q == nil {
		q = &poolQueue{dirty: true}
		p.queues[w.pool] = q
	}
	at, _ := slices.BinarySearchFunc(q.waiting, w, compareWaiters)
	q.waiting = slices.Insert(q.waiting, at, w)
	p.of[w.item] = w
	q.dirty = q.dirty || at <= q.edge
}

// leave removes a waiter; nil is none.
func (p *poolQueues) leave(w *waiter) {
	if w == nil {
		return
	}
	q := p.queues[w.pool]
	if at := slices.Index(q.waiting, w); at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
		q.dirty = q.dirty || at <= q.edge
	}
	if len(q.waiting) == 0 {
		delete(p.queues, w.pool)
	}
	if p.of[w.item] == w {
		delete(p.of, w.item)
	}
}

// settled applies the result of a fire that was sent. One that is decided leaves the queue when its item is planned
// again.
func (p *poolQueues) settled(w *waiter, s *Settled) {
	if w.admitted = 0; !s.Fire.Action.Expire { // one that is past its deadline may still be caught up
		w.until = nanos(s.RetryAt)
	}
	p.queues[w.pool].dirty = true
}

// ranked notes whether any worker may run a fire: one that none may run keeps no slots for itself.
func (p *poolQueues) ranked(it *item, nowhere bool) {
	if w := p.of[it]; w != nil && w.nowhere != nowhere {
		w.nowhere, p.queues[w.pool].dirty = nowhere, true
	}
}

// stale reports whether a fire is not the one of its item any more, or is not due.
func (w *waiter) stale() bool {
	if w.item.state == idle && w.item.index == 0 {
		return true
	}
	switch what := w.item.what.(type) {
	case *jobEntry:
		return what.next != w.fire || what.dueAt() != w.due || what.terms.Pool != w.pool
	case *triggerEntry:
		return what.trigger.Revision != w.fire
	}
	return true
}

// evaluate decides which fires of a queue may start, if anything has changed, and returns those that may start from now
// on.
func (p *poolQueues) evaluate(pool string, now int64) (admitted []*waiter) {
	q := p.queues[pool]
	if q == nil || !q.dirty {
		return nil
	}
	q.dirty = false
	free, exists := p.view.room(pool)
	q.waiting = slices.DeleteFunc(q.waiting, func(w *waiter) bool {
		stale := w.stale()
		if stale && p.of[w.item] == w {
			delete(p.of, w.item)
		}
		return stale
	})
	if len(q.waiting) == 0 {
		delete(p.queues, pool)
		return nil
	}
	q.edge = len(q.waiting)
	for i, w := range q.waiting {
		switch {
		case i > q.edge || !exists:
			w.admitted = 0
		case w.until > now, w.lonely && p.view.Holds(pool, w.job):
			w.admitted = 0 // those behind it go first
		case w.slots > free:
			w.admitted, q.edge = 0, i // it is the next one
		default:
			if w.admitted == 0 {
				w.admitted, admitted = now, append(admitted, w)
			}
			if !w.nowhere && now-w.admitted < int64(poolTurn) {
				free -= w.slots
			}
		}
	}
	return admitted
}

// wake evaluates queues, and makes the fires due that may start from now on.
func (p *poolQueues) wake(plan *plan, pools []string, now int64) {
	for _, pool := range pools {
		for _, w := range p.evaluate(pool, now) {
			if w.item.state == idle && w.item.index != 0 {
				plan.agendaOf(w.item).set(w.item, now)
			}
		}
	}
}

// sweep looks at all queues, at most every poolSweep: time alone may let a fire start.
func (p *poolQueues) sweep(plan *plan, now int64) {
	if d := now - p.swept; d >= 0 && d < int64(poolSweep) {
		return
	}
	p.swept = now
	for pool, q := range p.queues {
		q.dirty = true
		p.wake(plan, []string{pool}, now)
	}
}

// touch looks at all queues: some of their fires may have gone.
func (p *poolQueues) touch(plan *plan, now int64) {
	if len(p.queues) > 0 {
		p.swept = 0
		p.sweep(plan, now)
	}
}

// poolNews are changed pools and the slots that were taken.
type poolNews struct {
	changed []string
	taken   []PoolSlot
}

// changed applies changes of pools. A run that has a slot was claimed: its fire waits here no more, although this
// worker has not read that from the cursor.
func (p *poolQueues) changed(plan *plan, u poolNews, now int64) {
	for _, s := range u.taken {
		plan.claimed(s.Job, s.Run)
	}
	for _, pool := range u.changed {
		if q := p.queues[pool]; q != nil {
			q.dirty = true
		}
	}
	p.wake(plan, u.changed, now)
}

// claimed moves the cursor of a job that is not being decided here to the fire of a run that some worker has claimed.
func (p *plan) claimed(job, run string) {
	e, known := p.jobs[job]
	if !known || e.state == sent {
		return
	}
	fire, found := strings.CutPrefix(run, e.uid+".")
	if at := strings.LastIndexByte(fire, '.'); found && at >= 0 {
		if planned, err := common.ParseTimeKey(fire[:at]); err == nil && planned.UnixNano() >= e.next &&
			e.next > e.cursor {
			e.cursor = planned.UnixNano()
			p.arrange(e, 0)
		}
	}
}
