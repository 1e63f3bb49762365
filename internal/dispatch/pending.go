package dispatch

import (
	"container/heap"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// item is a fire that this worker is to claim or expire.
type item struct {
	fire scheduler.Fire
	asOf time.Time // when it was last known to be unclaimed
}

// slots returns the number of slots that its run uses.
func (i *item) slots() int {
	if i.fire.Action.Expire || i.fire.Flow != nil {
		return 0
	}
	return max(1, i.fire.Terms.Slots)
}

// background reports whether the fire is one of a backfill, or of a flow run of one.
func (i *item) background() bool {
	t := i.fire.Trigger
	return t != nil && t.Flow != nil && t.Flow.Background
}

// daemon reports whether the fire starts a replica of a daemon job.
func (i *item) daemon() bool {
	return i.fire.Trigger != nil && i.fire.Trigger.Cause == common.CauseDaemon
}

// batchKey returns the key of which a batch of claims has at most one: etcd evaluates all compares of a batch before
// its first write, so that two claims of a job would each find no unresolved run, or the same cursor. Triggers of jobs
// whose runs may overlap write keys of their own only.
func (i *item) batchKey() string {
	if t := i.fire.Trigger; t != nil && !i.fire.Terms.Overlap.Forbids() {
		return i.fire.Job + "/" + t.RunID()
	}
	return i.fire.Job
}

// pending holds the fires that wait for slots, by priority and then by time. Those of backfills come last, also if they
// use no slots.
type pending struct {
	items      items
	background int // of them, those of backfills
}

func (p *pending) put(items ...item) {
	for _, i := range items {
		heap.Push(&p.items, i)
		if i.background() {
			p.background++
		}
	}
}

func (p *pending) len() int { return len(p.items) }

// first returns the fire to be claimed first, or nil.
func (p *pending) first() *item {
	if len(p.items) == 0 {
		return nil
	}
	return &p.items[0]
}

// room is what the next batch of claims may use.
type room struct {
	free       int  // slots
	background int  // those of them that runs of backfills may use
	yields     bool // fires of backfills are left for later
}

// take removes up to most fires with different batch keys for which there is room. A fire without enough slots blocks
// those after it, so that a job that needs many slots does not wait forever; items without slots come first.
func (p *pending) take(most int, r room) (batch []item) {
	var stay []item
	keys := make(map[string]bool, min(most, len(p.items)))
	for len(p.items) > 0 && len(batch) < most && len(stay) <= most {
		if !r.fits(&p.items[0]) {
			break
		}
		i := heap.Pop(&p.items).(item)
		key := i.batchKey()
		if keys[key] {
			stay = append(stay, i)
			continue
		}
		keys[key] = true
		if r.use(&i); i.background() {
			p.background--
		}
		batch = append(batch, i)
	}
	for _, i := range stay {
		heap.Push(&p.items, i)
	}
	return batch
}

// fits reports whether a fire may be claimed now.
func (r *room) fits(i *item) bool {
	return i.slots() <= r.free && (!i.background() || !r.yields && i.slots() <= max(0, r.background))
}

// use takes the slots of a fire.
func (r *room) use(i *item) {
	if r.free -= i.slots(); i.background() {
		r.background -= i.slots()
	}
}

// overdue removes fires that waited for a slot beyond their deadlines, and fires that need more slots than the worker
// has, which would block the others forever.
func (p *pending) overdue(now time.Time, slots int) (late, large []item) {
	kept := p.items[:0]
	p.background = 0
	for _, i := range p.items {
		switch {
		case now.Sub(i.asOf) <= scheduler.Fresh:
			kept = append(kept, i)
		case i.fire.Trigger == nil && !i.fire.Action.Expire && now.After(i.fire.Deadline()):
			late = append(late, i)
		case i.slots() > slots:
			large = append(large, i)
		default:
			kept = append(kept, i)
		}
	}
	for i := range kept {
		if kept[i].background() {
			p.background++
		}
	}
	clear(p.items[len(kept):])
	if p.items = kept; len(late)+len(large) > 0 {
		heap.Init(&p.items)
	}
	return late, large
}

// items is a heap.
type items []item

func (h items) Len() int { return len(h) }
func (h items) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	switch x, y := a.slots() == 0, b.slots() == 0; {
	case a.background() != b.background():
		return b.background()
	case x != y:
		return x
	case a.fire.Terms.Priority != b.fire.Terms.Priority:
		return a.fire.Terms.Priority > b.fire.Terms.Priority
	case a.daemon() != b.daemon():
		return a.daemon()
	default:
		return a.fire.Due.Before(b.fire.Due)
	}
}
func (h items) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *items) Push(x any)   { *h = append(*h, x.(item)) }
func (h *items) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = item{}
	if *h = old[:len(old)-1]; len(*h) == 0 {
		*h = nil // frees the memory of a burst
	}
	return last
}
