package scheduler

import (
	"sync"
	"time"

	"carillon/internal/common"
)

// reservedFor is how long a claimed flow run counts that the watch has not delivered yet.
const reservedFor = 30 * time.Second

// FlowLoad counts the nodes of live flow runs, as this worker sees them: those that the watch has delivered, and those
// that this worker has claimed since. Other workers may claim at the same time, so that the bound may be exceeded by
// what they claim within the delay of the watch. It is safe for concurrent use. A nil FlowLoad has no bound.
type FlowLoad struct {
	most int

	mu       sync.Mutex
	live     map[string]int         // guarded by mu; nodes by flow run
	total    int                    // guarded by mu; of live
	reserved map[string]reservation // guarded by mu; by flow run
}

// reservation is what a claimed flow run counts until the watch delivers it.
type reservation struct {
	nodes int
	until time.Time
}

// NewFlowLoad returns a count without flow runs, with a bound.
func NewFlowLoad(most int) *FlowLoad {
	return &FlowLoad{most: most, live: map[string]int{}, reserved: map[string]reservation{}}
}

// Heads applies changes of the live flow runs. If whole is set, put is the complete list.
func (l *FlowLoad) Heads(whole bool, put []common.FlowRun, gone []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if whole {
		clear(l.live)
		l.total = 0
	}
	for i := range put {
		delete(l.reserved, put[i].Run)
		l.set(put[i].Run, put[i].Load())
	}
	for _, run := range gone {
		l.set(run, 0)
	}
}

func (l *FlowLoad) set(run string, nodes int) {
	l.total += nodes - l.live[run]
	if l.live[run] = nodes; nodes == 0 {
		delete(l.live, run)
	}
}

// Full reports whether so many further nodes have no room now. A flow run always has room if no other is live.
func (l *FlowLoad) Full(nodes int, now time.Time) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full(nodes, now)
}

func (l *FlowLoad) full(nodes int, now time.Time) bool {
	total := l.total
	for run, r := range l.reserved {
		if now.After(r.until) {
			delete(l.reserved, run)
			continue
		}
		total += r.nodes
	}
	return total > 0 && total+nodes > l.most
}

// Reserve counts a flow run that is being claimed, until the watch delivers it. It reports false if a bounded one has
// no room.
func (l *FlowLoad) Reserve(head *common.Head, bounded bool, now time.Time) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, live := l.live[head.Run]; live {
		return true
	}
	delete(l.reserved, head.Run)
	if bounded && l.full(head.Load(), now) {
		return false
	}
	l.reserved[head.Run] = reservation{head.Load(), now.Add(reservedFor)}
	return true
}

// Release ends the reservation of a flow run whose claim was refused.
func (l *FlowLoad) Release(head *common.Head) {
	if l == nil || head == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.reserved, head.Run)
}
