package access

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

// Limiter bounds attempts per key (a network or an account): at most burst per window. The number
// of keys is bounded: if the limiter is full of keys whose window is open, new keys share one
// entry. Safe for concurrent use.
type Limiter struct {
	burst  int
	window time.Duration

	mu    sync.Mutex
	seen  map[string]*attempts // guarded by mu
	swept time.Time            // guarded by mu; last removal of expired entries
}

type attempts struct {
	since time.Time
	count int
}

// maxAttempted bounds the memory of a Limiter to well under a megabyte.
const maxAttempted = 4096

// NewLimiter returns a limiter.
func NewLimiter(burst int, window time.Duration) *Limiter {
	return &Limiter{burst: burst, window: window, seen: make(map[string]*attempts)}
}

// Burst returns the number of attempts that a key has per window.
func (l *Limiter) Burst() int { return l.burst }

// Take counts an attempt and reports whether it is allowed; if not, wait is the time until the next
// one is.
func (l *Limiter) Take(now time.Time, key string) (wait time.Duration, ok bool) {
	return l.TakeUpTo(now, key, l.burst)
}

// TakeUpTo is Take for a key that has a number of attempts per window of its own.
func (l *Limiter) TakeUpTo(now time.Time, key string, burst int) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.entry(now, key)
	if a.count >= burst {
		return a.since.Add(l.window).Sub(now), false
	}
	a.count++
	return 0, true
}

// GiveBack removes an attempt from the count, because it succeeded.
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
	// Under a flood, not every attempt scans all entries.
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

// Network returns the /24 (IPv4) or /56 (IPv6) of an address as a key, since a client often
// controls its whole network.
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
