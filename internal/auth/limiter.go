package auth

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

// Limiter bounds attempts per network: at most burst in a window. It keeps at most
// a bounded number of networks; when it is full and none of them has a window that
// is over, newcomers share one entry. Safe for concurrent use.
type Limiter struct {
	burst  int
	window time.Duration

	mu    sync.Mutex
	seen  map[netip.Prefix]*attempts // guarded by mu
	swept time.Time                  // guarded by mu; when entries that are over were last looked for
}

type attempts struct {
	since time.Time
	count int
}

// maxNetworks bounds the memory of a Limiter to well under a megabyte.
const maxNetworks = 4096

// NewLimiter makes a limiter.
func NewLimiter(burst int, window time.Duration) *Limiter {
	return &Limiter{burst: burst, window: window, seen: make(map[netip.Prefix]*attempts)}
}

// Take counts an attempt from an address and tells whether it may go on; if not,
// it tells how long to wait.
func (l *Limiter) Take(now time.Time, addr string) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.entry(now, network(addr))
	if a.count >= l.burst {
		return a.since.Add(l.window).Sub(now), false
	}
	a.count++
	return 0, true
}

// GiveBack takes an attempt out of the count: it succeeded, and was no guess.
func (l *Limiter) GiveBack(now time.Time, addr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.entry(now, network(addr)); a.count > 0 {
		a.count--
	}
}

func (l *Limiter) entry(now time.Time, key netip.Prefix) *attempts {
	if a := l.seen[key]; a != nil && now.Sub(a.since) < l.window {
		return a
	}
	// A flood must not make each attempt look at all entries.
	if len(l.seen) >= maxNetworks && now.Sub(l.swept) >= l.window/4 {
		l.swept = now
		maps.DeleteFunc(l.seen, func(_ netip.Prefix, a *attempts) bool { return now.Sub(a.since) >= l.window })
	}
	if len(l.seen) >= maxNetworks {
		key = netip.Prefix{}
		if a := l.seen[key]; a != nil && now.Sub(a.since) < l.window {
			return a
		}
	}
	a := &attempts{since: now}
	l.seen[key] = a
	return a
}

// network is the /24 or /56 that an address belongs to: whoever has one address of
// it usually has them all.
func network(addr string) netip.Prefix {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return netip.Prefix{}
	}
	a = a.Unmap().WithZone("")
	bits := 56
	if a.Is4() {
		bits = 24
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
