package access

import (
	"maps"
	"sync"
	"time"
)

// Rate bounds how often each key may do something: a number per second, with bursts of up to one
// second's worth. The number of keys is bounded: if all entries are in use, new keys share one.
// Safe for concurrent use.
type Rate struct {
	every time.Duration // interval between two; 0: unlimited
	burst time.Duration

	mu    sync.Mutex
	next  map[string]time.Time // guarded by mu; when the next use would be due at an even rate
	swept time.Time            // guarded by mu; when the next one would be due at an even rate
}

const (
	// maxKeys bounds the memory of a Rate to about two megabytes.
	maxKeys = 16384
	// keyLife is how long an unused key is remembered.
	keyLife = time.Minute
)

// NewRate returns a limit of perSecond per second and key; 0 is unlimited.
func NewRate(perSecond int) *Rate {
	r := &Rate{next: map[string]time.Time{}}
	if perSecond > 0 {
		r.every, r.burst = time.Second/time.Duration(perSecond), time.Second
	}
	return r
}

// Take counts one use of a key and reports whether it is allowed; if not, wait is the time until it
// is.
func (r *Rate) Take(now time.Time, key string) (wait time.Duration, ok bool) {
	if r.every == 0 {
		return 0, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	due, known := r.next[key]
	if !known && len(r.next) >= maxKeys {
		r.sweep(now)
		if len(r.next) >= maxKeys {
			key = ""
			due = r.next[key]
		}
	}
	if due.Before(now) {
		due = now
	}
	if wait := due.Add(r.every).Sub(now) - r.burst; wait > 0 {
		return wait, false
	}
	r.next[key] = due.Add(r.every)
	return 0, true
}

// Known reports whether a key was used within about the last minute.
func (r *Rate) Known(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.next[key]
	return ok
}

// Forget removes a key.
func (r *Rate) Forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.next, key)
}

// sweep drops the keys that were not used for long; a flood must not make each call look
// sweep removes keys that were not used for keyLife. Under a flood, it scans at most once a second.
func (r *Rate) sweep(now time.Time) {
	if now.Sub(r.swept) < time.Second {
		return
	}
	r.swept = now
	maps.DeleteFunc(r.next, func(_ string, due time.Time) bool { return now.Sub(due) >= keyLife })
}
