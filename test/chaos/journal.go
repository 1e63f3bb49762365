package main

import (
	"sync"

	"carillon/test/chaos/check"
)

// journal is what was done and seen, and when.
type journal struct {
	mu     sync.Mutex
	events []check.Event // owned under mu
}

// add writes down something of an instant, or something that is over.
func (j *journal) add(e check.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.At == 0 {
		e.At = check.Now()
	}
	j.events = append(j.events, e)
}

// begin writes down something that has begun; the function that it gives writes down
// its end, at the first call.
func (j *journal) begin(e check.Event) (end func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.At = check.Now()
	at := len(j.events)
	j.events = append(j.events, e)
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.events[at].Until == 0 {
			j.events[at].Until = check.Now()
		}
	}
}

func (j *journal) all() []check.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]check.Event(nil), j.events...)
}
