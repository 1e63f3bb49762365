package executor

import (
	"sync"
	"time"

	"carillon/internal/executor/proctree"
)

// groups finds out which process groups are alive. Callers that ask during a scan of all processes share the next scan,
// so that stopping many runs costs no more than stopping one.
type groups struct {
	owner *sync.WaitGroup // of the scanning goroutine
	quit  <-chan struct{}

	mu       sync.Mutex
	next     *groupScan // the next scan, which callers join; nil: none is requested
	scanning bool
}

// groupScan is a scan of all processes.
type groupScan struct {
	ids   map[int]bool  // the requested groups; after the scan, those that are alive
	ended chan struct{} // closed after the scan
}

// ask requests a scan that finds out whether a group is alive, or joins the next one.
func (g *groups) ask(id int) *groupScan {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil {
		g.next = &groupScan{ids: make(map[int]bool), ended: make(chan struct{})}
	}
	l := g.next
	l.ids[id] = true
	if !g.scanning {
		g.scanning = true
		g.owner.Go(g.run)
	}
	return l
}

// run scans as long as there are requests, at most half of the time.
func (g *groups) run() {
	for {
		g.mu.Lock()
		l := g.next
		g.next = nil
		g.scanning = l != nil
		g.mu.Unlock()
		if l == nil {
			return
		}
		begin := time.Now()
		if living, err := proctree.Living(l.ids); err == nil {
			l.ids = living // after an error all count as alive, so that no run loses its grace period
		}
		close(l.ended)
		select {
		case <-time.After(time.Since(begin)):
		case <-g.quit:
		}
	}
}
