package auth

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

// Limiter bounds attempts by key, of a network or of an account: at most burst in a
// window. It keeps a bounded number of keys; when it is full and none of them has a
// window that is over, newcomers share one entry. Safe for concurrent use.
type Limiter struct {
	burst  int
	window time.Duration

	mu    sync.Mutex
	seen  map[string]*attempts // guarded by mu
	swept time.Time            // guarded by mu; when entries that are over were last looked for
}

type attempts struct {
	since time.Time
	count int
}

// maxAttempted bounds the memory of a Limiter to well under a megabyte.
const maxAttempted = 4096

// NewLimiter makes a limiter.
func NewLimiter(burst int, window time.Duration) *Limiter {
	return &Limiter{burst: burst, window: window, seen: make(map[string]*attempts)}
}

// Burst is how many attempts a key has in a window.
func (l *Limiter) Burst() int { return l.burst }

// Take counts an attempt and tells whether it may go on; if not, it tells how long to
// wait.
func (l *Limiter) Take(now time.Time, key string) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.entry(now, key)
	if a.count >= l.burst {
		return a.since.Add(l.window).Sub(now), false
	}
	a.count++
	return 0, true
}

// GiveBack takes an attempt out of the count: it succeeded, and was no guess.
func (l *Limiter) GiveBack(now time.Time, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.entry(now, key); a.count > 0 {
		a.count--
	}
}

func (l *Limiter) entry(now time.Time, key string) *attempts {
	if a := l.seen[key]; a != nil && now.Sub(a.since) < l.window {
		return a
	}
	// A flood must not make each attempt look at all entries.
	if len(l.seen) >= maxAttempted && now.Sub(l.swept) >= l.window/4 {
		l.swept = now
		maps.DeleteFunc(l.seen, func(_ string, a *attempts) bool { return now.Sub(a.since) >= l.window })
	}
	if len(l.seen) >= maxAttempted {
		key = ""
		if a := l.seen[key]; a != nil && now.Sub(a.since) < l.window {
			return a
		}
	}
	a := &attempts{since: now}
	l.seen[key] = a
	return a
}

// Network is the /24 or /56 that an address belongs to, as a key: whoever has one
// address of it usually has them all.
func Network(addr string) string {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return ""
	}
	a = a.Unmap().WithZone("")
	bits := 56
	if a.Is4() {
		bits = 24
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return ""
	}
	return p.String()
}
