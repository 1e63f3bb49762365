package scheduler

// agenda is a heap of items by due time, earliest first. An item stores its index, so that moving or removing one costs
// O(log n). The heap stores the due times itself and has a high arity, since its cost is memory access.
type agenda struct {
	nodes []node
}

// arity is the number of children of a node: as many as fit into a cache line.
const arity = 4

// node is a node of the heap.
type node struct {
	due  int64 // the item's
	item *item
}

// item is an entry of an agenda. It is embedded in jobs and triggers.
type item struct {
	due    int64 // Unix nanoseconds
	index  int32 // index in nodes plus 1; 0: not in the agenda
	queued bool  // in the loop's queue, at most once
	state  state
	since  int64 // when it was found to be due; 0: not yet
	what   planned
}

// state is the state of an item.
type state uint8

const (
	idle  state = iota // in the agenda, or nothing is planned
	ready              // due, in the queue
	sent               // sent to the dispatcher, not settled
)

// planned is a job or a trigger.
type planned interface {
	// offer returns the fire to send now that the item is due; false if the item is no longer ready.
	offer(p *plan) (Fire, bool)
	// job returns the name of the job.
	job() string
}

func (a *agenda) len() int { return len(a.nodes) }

// first returns the earliest item, or nil.
func (a *agenda) first() *item {
	if len(a.nodes) == 0 {
		return nil
	}
	return a.nodes[0].item
}

// set inserts the item with a due time, or moves it there.
func (a *agenda) set(it *item, due int64) {
	it.due = due
	if it.index == 0 {
		a.nodes = append(a.nodes, node{})
		it.index = int32(len(a.nodes))
	}
	a.fix(int(it.index)-1, node{due, it})
}

// remove removes the item, if it is in the agenda.
func (a *agenda) remove(it *item) {
	if it.index == 0 {
		return
	}
	i, last := int(it.index)-1, len(a.nodes)-1
	it.index = 0
	moved := a.nodes[last]
	a.nodes[last] = node{}
	a.nodes = a.nodes[:last]
	if i != last {
		a.fix(i, moved)
	}
}

// fix inserts s, starting at the free index i and moving other nodes as the heap order requires.
func (a *agenda) fix(i int, s node) {
	for i > 0 {
		parent := (i - 1) / arity
		if a.nodes[parent].due <= s.due {
			break
		}
		a.put(i, a.nodes[parent])
		i = parent
	}
	for {
		child := arity*i + 1
		if child >= len(a.nodes) {
			break
		}
		for other := child + 1; other < min(arity*i+1+arity, len(a.nodes)); other++ {
			if a.nodes[other].due < a.nodes[child].due {
				child = other
			}
		}
		if s.due <= a.nodes[child].due {
			break
		}
		a.put(i, a.nodes[child])
		i = child
	}
	a.put(i, s)
}

func (a *agenda) put(i int, s node) {
	a.nodes[i] = s
	s.item.index = int32(i + 1)
}
