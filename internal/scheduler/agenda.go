package scheduler

// agenda is a binary heap of things that are due at some time, earliest first. An
// item knows its place, so that moving or removing one costs O(log n).
type agenda struct {
	items []*item
}

// item is what stands in an agenda. It is embedded in what is planned.
type item struct {
	due   int64 // Unix nanoseconds
	place int32 // in items, from 1; 0: not in the agenda
	what  planned
}

// planned is a job or a trigger.
type planned interface {
	// offer gives what is to be handed out now that the item is due; false where the
	// item is not waiting to be handed out any more.
	offer(p *plan) (Fire, bool)
	// queue says that the item is due; handOut that its fire has been taken.
	queue()
	handOut()
}

func (a *agenda) len() int { return len(a.items) }

// first is the earliest item, or nil.
func (a *agenda) first() *item {
	if len(a.items) == 0 {
		return nil
	}
	return a.items[0]
}

// set puts the item at its due time, wherever it was before.
func (a *agenda) set(it *item, due int64) {
	it.due = due
	if it.place == 0 {
		a.items = append(a.items, it)
		it.place = int32(len(a.items))
		a.up(len(a.items) - 1)
		return
	}
	i := int(it.place) - 1
	if !a.down(i) {
		a.up(i)
	}
}

// remove takes the item out, if it is in.
func (a *agenda) remove(it *item) {
	if it.place == 0 {
		return
	}
	i, last := int(it.place)-1, len(a.items)-1
	if i != last {
		a.swap(i, last)
	}
	a.items[last] = nil
	a.items = a.items[:last]
	it.place = 0
	if i != last && !a.down(i) {
		a.up(i)
	}
}

func (a *agenda) swap(i, j int) {
	a.items[i], a.items[j] = a.items[j], a.items[i]
	a.items[i].place, a.items[j].place = int32(i+1), int32(j+1)
}

func (a *agenda) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if a.items[parent].due <= a.items[i].due {
			return
		}
		a.swap(i, parent)
		i = parent
	}
}

// down tells whether the item moved.
func (a *agenda) down(i int) bool {
	start := i
	for {
		child := 2*i + 1
		if child >= len(a.items) {
			break
		}
		if right := child + 1; right < len(a.items) && a.items[right].due < a.items[child].due {
			child = right
		}
		if a.items[i].due <= a.items[child].due {
			break
		}
		a.swap(i, child)
		i = child
	}
	return i > start
}
