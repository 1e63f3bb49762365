package auth

import (
	"maps"
	"sync"
	"time"
)

// Rate bounds how often each of many keys may do something: so often a second, and as much
// as one second's worth at once. It keeps a bounded number of keys; when it is full of keys
// that are in use, newcomers share one entry. Safe for concurrent use.
type Rate struct {
	every time.Duration // between two; 0: no bound
	burst time.Duration

	mu    sync.Mutex
	next  map[string]time.Time // guarded by mu; when a key that never hurries would be due
	swept time.Time            // guarded by mu
}

const (
	// maxKeys bounds the memory of a Rate to about two megabytes.
	maxKeys = 16384
	// keyLife is how long a key is known that is not used.
	keyLife = time.Minute
)

// NewRate makes a bound of so many a second; 0 is none.
func NewRate(perSecond int) *Rate {
	r := &Rate{next: map[string]time.Time{}}
	if perSecond > 0 {
		r.every, r.burst = time.Second/time.Duration(perSecond), time.Second
	}
	return r
}

// Take counts one of a key and tells whether it may be; if not, how long to wait.
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

// Known tells whether a key was counted within the last minute or so.
func (r *Rate) Known(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.next[key]
	return ok
}

// Forget makes a key one that is not known.
func (r *Rate) Forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.next, key)
}

// sweep drops the keys that were not used for long; a flood must not make each call look
// at all of them.
func (r *Rate) sweep(now time.Time) {
	if now.Sub(r.swept) < time.Second {
		return
	}
	r.swept = now
	maps.DeleteFunc(r.next, func(_ string, due time.Time) bool { return now.Sub(due) >= keyLife })
}
