package dispatch

import (
	"container/heap"
	"time"

	"carillon/internal/scheduler"
)

// item is a fire that this worker is to claim or expire.
type item struct {
	fire scheduler.Fire
	asOf time.Time // when it was last known to be unclaimed
}

// slots returns the number of slots that its run uses.
func (i *item) slots() int {
	if i.fire.Action.Expire {
		return 0
	}
	return max(1, i.fire.Terms.Slots)
}

// pending holds the fires that wait for slots, by priority and then by time.
type pending struct{ items items }

func (p *pending) put(items ...item) {
	for _, i := range items {
		heap.Push(&p.items, i)
	}
}

func (p *pending) len() int { return len(p.items) }

// take removes up to most fires of different jobs that fit into the free slots. A fire without enough slots blocks
// those after it, so that a job that needs many slots does not wait forever; items that need no slots come first.
func (p *pending) take(most, free int) (batch []item) {
	var stay []item
	jobs := make(map[string]bool, min(most, len(p.items)))
	for len(p.items) > 0 && len(batch) < most && len(stay) <= most {
		if p.items[0].slots() > free {
			break
		}
		i := heap.Pop(&p.items).(item)
		if jobs[i.fire.Job] {
			stay = append(stay, i)
			continue
		}
		jobs[i.fire.Job] = true
		free -= i.slots()
		batch = append(batch, i)
	}
	for _, i := range stay {
		heap.Push(&p.items, i)
	}
	return batch
}

// overdue removes fires that waited for a slot beyond their deadlines, and fires that need more slots than the worker
// has, which would block the others forever.
func (p *pending) overdue(now time.Time, slots int) (late, large []item) {
	kept := p.items[:0]
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
	case x != y:
		return x
	case a.fire.Terms.Priority != b.fire.Terms.Priority:
		return a.fire.Terms.Priority > b.fire.Terms.Priority
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
