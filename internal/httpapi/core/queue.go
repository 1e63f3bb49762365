package core

import (
	"context"
	"net/http"
	"sync"
	"time"

	"carillon/internal/common"
)

// Limits of expensive requests, for each kind of them.
const (
	queueAtOnce = 4 // processed at a time
	queueOfOne  = 2 // of these, per caller
	maxInLine   = 32
	maxInLineOf = 8 // per caller, including current ones
	queueWait   = 15 * time.Second
	queueRetry  = 5 * time.Second // Retry-After of a refused request
	// ManyPatience is how long an operation on many jobs may take: the caller should get its
	// result.
	ManyPatience = 5 * time.Minute
)

// Queue limits how many requests of a kind are processed at a time, and how many wait. A caller
// with many requests leaves turns and waiting places to others. It is safe for concurrent use, and
// starts no goroutine.
type Queue struct {
	going chan struct{} // one element per current request

	mu     sync.Mutex
	inLine int              // guarded by mu; waiting and current requests
	lines  map[string]*line // guarded by mu; by caller
}

// line contains the requests of a caller.
type line struct {
	going  chan struct{} // one element per request that is current or waits only for other callers
	inLine int           // guarded by Queue.mu
}

// NewQueue returns an empty queue.
func NewQueue() *Queue {
	return &Queue{going: make(chan struct{}, queueAtOnce), lines: map[string]*line{}}
}

// Wait waits until a request of a caller may be processed; end must be called when it is done. ok
// is false if too many requests wait, or after too long a wait.
func (t *Queue) Wait(ctx context.Context, who string) (end func(), ok bool) {
	mine := t.enter(who)
	if mine == nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, queueWait)
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
func (t *Queue) enter(who string) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.lines[who]
	if mine == nil {
		mine = &line{going: make(chan struct{}, queueOfOne)}
	}
	if t.inLine >= maxInLine || mine.inLine >= maxInLineOf {
		return nil
	}
	t.lines[who] = mine
	t.inLine++
	mine.inLine++
	return mine
}

func (t *Queue) leave(who string, mine *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inLine--
	if mine.inLine--; mine.inLine == 0 {
		delete(t.lines, who)
	}
}

// turn waits for the turn of a request, whose body has not been read yet.
func (g *guard) turn(w http.ResponseWriter, r *http.Request) (end func(), refused *Problem) {
	end, ok := g.route.Queue.Wait(r.Context(), CallerKey(r.Context()))
	if !ok {
		return nil, g.problems.TooMany(r.Context(), "too many such requests at a time", queueRetry)
	}
	// The time for the body begins now.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(ReadTimeout)) // not supported by every writer
	return end, nil
}

// TooMany returns the problem of a request that may be repeated later.
func (p Problems) TooMany(ctx context.Context, detail string, again time.Duration) *Problem {
	problem := p.Refuse(ctx, common.CodeTooMany, detail)
	problem.Hint = "retry after the time in Retry-After"
	problem.RetryAfter(again)
	return problem
}
