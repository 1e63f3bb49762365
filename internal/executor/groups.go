package executor

import (
	"sync"
	"time"

	"carillon/internal/proctree"
)

// groups tells which process groups live. All who ask while a look at all processes goes on
// share the next one, so that many runs that are stopped cost no more than one.
type groups struct {
	owner *sync.WaitGroup // of the goroutine that looks
	quit  <-chan struct{}

	mu      sync.Mutex
	next    *look // who asks joins it; nil if nobody does
	looking bool
}

// look is one look at all processes.
type look struct {
	ids   map[int]bool  // of the groups; in the end, of those that live
	ended chan struct{} // closed in the end
}

// ask begins a look that tells whether a group lives, or joins one.
func (g *groups) ask(id int) *look {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil {
		g.next = &look{ids: make(map[int]bool), ended: make(chan struct{})}
	}
	l := g.next
	l.ids[id] = true
	if !g.looking {
		g.looking = true
		g.owner.Go(g.run)
	}
	return l
}

// run looks as long as somebody asks, at most half of the time.
func (g *groups) run() {
	for {
		g.mu.Lock()
		l := g.next
		g.next = nil
		g.looking = l != nil
		g.mu.Unlock()
		if l == nil {
			return
		}
		begin := time.Now()
		if living, err := proctree.Living(l.ids); err == nil {
			l.ids = living // else they may all live: nobody loses the grace by that
		}
		close(l.ended)
		select {
		case <-time.After(time.Since(begin)):
		case <-g.quit:
		}
	}
}
