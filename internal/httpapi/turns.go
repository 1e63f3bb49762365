package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"carillon/internal/common"
)

// Bounds of requests that cost much, for each kind of them.
const (
	turnsAtOnce = 4 // go on at a time
	turnsOfOne  = 2 // of them, those of one who asks
	maxInLine   = 32
	maxInLineOf = 8 // of one who asks; those that go on count as well
	turnWait    = 15 * time.Second
	turnAgain   = 5 * time.Second // when somebody who was refused may try again
	// manyPatience is how long work on many jobs may take: whoever asked for it is to hear what was done.
	manyPatience = 5 * time.Minute
)

// turns bounds how many requests of a kind go on at a time, and how many of them wait. One who
// asks for many leaves turns, and places in the line, for others. It is safe for concurrent use,
// and starts no goroutine.
type turns struct {
	going chan struct{} // holds one for each that goes on

	mu     sync.Mutex
	inLine int              // guarded by mu; that wait or go on
	lines  map[string]*line // guarded by mu; by who asks
}

// line is what one has asked for.
type line struct {
	going  chan struct{} // holds one for each that goes on, or waits for nothing but others
	inLine int           // guarded by turns.mu
}

func newTurns() *turns {
	return &turns{going: make(chan struct{}, turnsAtOnce), lines: map[string]*line{}}
}

// take waits until a request of somebody may go on, for end to be called when it has. It is
// false where too many wait already, or where it has waited for too long.
func (t *turns) take(ctx context.Context, who string) (end func(), ok bool) {
	mine := t.enter(who)
	if mine == nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	select {
	case mine.going <- struct{}{}:
	case <-ctx.Done():
		t.leave(who, mine)
		return nil, false
	}
	select {
	case t.going <- struct{}{}:
	case <-ctx.Done():
		<-mine.going
		t.leave(who, mine)
		return nil, false
	}
	return func() {
		<-t.going
		<-mine.going
		t.leave(who, mine)
	}, true
}

// enter takes a place in the line; nil where there is none.
func (t *turns) enter(who string) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.lines[who]
	if mine == nil {
		mine = &line{going: make(chan struct{}, turnsOfOne)}
	}
	if t.inLine >= maxInLine || mine.inLine >= maxInLineOf {
		return nil
	}
	t.lines[who] = mine
	t.inLine++
	mine.inLine++
	return mine
}

func (t *turns) leave(who string, mine *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inLine--
	if mine.inLine--; mine.inLine == 0 {
		delete(t.lines, who)
	}
}

// turn waits for the turn of a request, whose body has not been read yet.
func (g *guard) turn(w http.ResponseWriter, r *http.Request) (end func(), refused *Problem) {
	end, ok := g.route.turns.take(r.Context(), whoAsks(r.Context()))
	if !ok {
		return nil, g.problems.tooMany(r.Context(), "too many such requests go on just now", turnAgain)
	}
	// The time for the body begins now.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTimeout)) // not every writer has one
	return end, nil
}

// whoAsks tells apart those who share what there is: a user has one share, with all tokens and sessions.
func whoAsks(ctx context.Context) string {
	who, ok := identity(ctx)
	switch {
	case !ok:
		return "address " + sourceOf(visitOf(ctx).remote)
	case who.User != "":
		return "user " + who.User
	}
	return "token " + who.Token
}

// tooMany refuses what may be asked for again after a while.
func (p problems) tooMany(ctx context.Context, detail string, again time.Duration) *Problem {
	problem := p.refuse(ctx, common.CodeTooMany, detail)
	problem.Hint = "try again in a moment"
	problem.again(again)
	return problem
}
