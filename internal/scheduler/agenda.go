package scheduler

// agenda is a heap of things that are due at some time, earliest first. An item
// knows its place, so that moving or removing one costs O(log n). The due times
// stand in the heap itself, and it is wide, since what costs is the memory that is touched.
type agenda struct {
	slots []slot
}

// arity is how many children a slot has: as many as fit into a cache line.
const arity = 4

// slot is a place in an agenda.
type slot struct {
	due  int64 // the item's
	item *item
}

// item is what stands in an agenda. It is embedded in what is planned.
type item struct {
	due    int64 // Unix nanoseconds
	place  int32 // in slots, from 1; 0: not in the agenda
	queued bool  // in the loop's queue, where it stands once at most
	what   planned
}

// planned is a job or a trigger.
type planned interface {
	// offer gives what is to be handed out now that the item is due; false where the
	// item is not waiting to be handed out any more.
	offer(p *plan) (Fire, bool)
	// queue says that the item is due; handOut that its fire has been taken.
	queue(now int64)
	handOut()
	// job is the name of the job.
	job() string
}

func (a *agenda) len() int { return len(a.slots) }

// first is the earliest item, or nil.
func (a *agenda) first() *item {
	if len(a.slots) == 0 {
		return nil
	}
	return a.slots[0].item
}

// set puts the item at its due time, wherever it was before.
func (a *agenda) set(it *item, due int64) {
	it.due = due
	if it.place == 0 {
		a.slots = append(a.slots, slot{})
		it.place = int32(len(a.slots))
	}
	a.fix(int(it.place)-1, slot{due, it})
}

// remove takes the item out, if it is in.
func (a *agenda) remove(it *item) {
	if it.place == 0 {
		return
	}
	i, last := int(it.place)-1, len(a.slots)-1
	it.place = 0
	moved := a.slots[last]
	a.slots[last] = slot{}
	a.slots = a.slots[:last]
	if i != last {
		a.fix(i, moved)
	}
}

// fix finds the place of s, from the free place i on.
func (a *agenda) fix(i int, s slot) {
	for i > 0 {
		parent := (i - 1) / arity
		if a.slots[parent].due <= s.due {
			break
		}
		a.put(i, a.slots[parent])
		i = parent
	}
	for {
		child := arity*i + 1
		if child >= len(a.slots) {
			break
		}
		for other := child + 1; other < min(arity*i+1+arity, len(a.slots)); other++ {
			if a.slots[other].due < a.slots[child].due {
				child = other
			}
		}
		if s.due <= a.slots[child].due {
			break
		}
		a.put(i, a.slots[child])
		i = child
	}
	a.put(i, s)
}

func (a *agenda) put(i int, s slot) {
	a.slots[i] = s
	s.item.place = int32(i + 1)
}
