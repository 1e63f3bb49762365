package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"carillon/internal/common"
)

// Limits of expensive requests, for each kind of them.
const (
	turnsAtOnce = 4 // processed at a time
	turnsOfOne  = 2 // of these, per caller
	maxInLine   = 32
	maxInLineOf = 8 // per caller, including current ones
	turnWait    = 15 * time.Second
	turnAgain   = 5 * time.Second // Retry-After of a refused request
	// manyPatience is how long an operation on many jobs may take: the caller should get its
	// result.
	manyPatience = 5 * time.Minute
)

// turns limits how many requests of a kind are processed at a time, and how many wait. A caller
// with many requests leaves turns and waiting places to others. It is safe for concurrent use, and
// starts no goroutine.
type turns struct {
	going chan struct{} // one element per current request

	mu     sync.Mutex
	inLine int              // guarded by mu; waiting and current requests
	lines  map[string]*line // guarded by mu; by caller
}

// line contains the requests of a caller.
type line struct {
	going  chan struct{} // one element per request that is current or waits only for other callers
	inLine int           // guarded by turns.mu
}

func newTurns() *turns {
	return &turns{going: make(chan struct{}, turnsAtOnce), lines: map[string]*line{}}
}

// take waits until a request of a caller may be processed; end must be called when it is done. ok
// is false if too many requests wait, or after too long a wait.
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

// enter takes a waiting place; nil if there is none.
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
		return nil, g.problems.tooMany(r.Context(), "too many such requests at a time", turnAgain)
	}
	// The time for the body begins now.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTimeout)) // not supported by every writer
	return end, nil
}

// whoAsks returns the key of the callers that share limits: a user with all tokens and sessions has
// one.
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

// tooMany returns the problem of a request that may be repeated later.
func (p problems) tooMany(ctx context.Context, detail string, again time.Duration) *Problem {
	problem := p.refuse(ctx, common.CodeTooMany, detail)
	problem.Hint = "retry after the time in Retry-After"
	problem.again(again)
	return problem
}
