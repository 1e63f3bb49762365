package lock

import (
	"context"
	"testing"
	"time"

	"carillon/internal/platform/virtualtime"
)

// moment lets one client hold the lock and another wait for it, and returns both of them.
func moment(ctx context.Context, w *world, m mutation, ttl, grace time.Duration) (holder *link, first *Held,
	second chan *Held) {
	start := time.Now()
	w.beCalm()
	one := &machine{world: w, name: "a", rate: 1, start: start, m: m, ttl: ttl, grace: grace}
	other := &machine{world: w, name: "b", rate: 1, start: start, m: m, ttl: ttl, grace: grace}
	holder = newLink(w, "a")
	first, err := one.lock(ctx, holder, 1).Acquire(ctx)
	if err != nil {
		panic(err)
	}
	second = make(chan *Held, 1)
	waiting := other.lock(ctx, newLink(w, "b"), 1)
	go func() {
		if held, err := waiting.Acquire(ctx); err == nil {
			second <- held
		}
	}()
	time.Sleep(time.Second)
	return holder, first, second
}

// A holder that dies is succeeded within TTL + grace + 5 s + 1 % (L6).
func TestModel_DeadHolder_IsSucceededInTime(t *testing.T) {
	s := startServer(t)
	w := newWorld(s, 1, modelTTL)
	virtualtime.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		link, first, second := moment(ctx, w, nothing, modelTTL, modelGrace)
		link.die()
		died := time.Now()
		held := <-second
		if took := time.Since(died); took > modelTTL+modelGrace+5*time.Second+modelGrace/100 || took < modelGrace {
			t.Errorf("succeeded after %v", took)
		}
		if was, ok := held.TookOver(); !ok || was.ID != "a-1" {
			t.Errorf("took over from %+v", was)
		}
		if err := held.Release(ctx); err != nil {
			t.Error(err)
		}
		cancel()
		_ = first.Release(ctx) // ends its goroutines
		time.Sleep(time.Minute)
	})
}

// An answer to a keep-alive that arrives late proves that the lock was held when the request was sent, and no later.
func TestModel_LateAnswer_DoesNotExtendTheFence(t *testing.T) {
	const ttl, grace = time.Minute, 90 * time.Second
	s := startServer(t)
	for m, overlaps := range map[mutation]bool{nothing: false, byReceipt: true} {
		w := newWorld(s, 1, ttl)
		virtualtime.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			link, first, second := moment(ctx, w, m, ttl, grace)
			link.mu.Lock()
			link.late = ttl/5 - 500*time.Millisecond
			link.mu.Unlock()
			<-first.Context().Done()
			ended := time.Now().Add(modelStop)
			var began time.Time
			select {
			case held := <-second: // it may already have it
				began = time.Now()
				if err := held.Release(ctx); err != nil {
					t.Error(err)
				}
			case <-time.After(time.Until(ended)):
			}
			if got := !began.IsZero(); got != overlaps {
				t.Errorf("%q: overlap %v, want %v", m, got, overlaps)
			}
			cancel()
			_ = first.Release(ctx) // ends its goroutines
			time.Sleep(3 * time.Minute)
		})
	}
}
