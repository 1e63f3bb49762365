package dispatch

import (
	"context"
	"sync"
	"time"
)

// inbox gathers items for the next batch. put never blocks; the owner of the inbox bounds its size.
type inbox[T any] struct {
	mu     sync.Mutex
	items  []T
	closed bool
	wake   chan struct{}
}

func newInbox[T any]() *inbox[T] { return &inbox[T]{wake: make(chan struct{}, 1)} }

func (b *inbox[T]) put(items ...T) {
	b.mu.Lock()
	b.items = append(b.items, items...)
	b.mu.Unlock()
	b.poke()
}

// close marks the end of the items.
func (b *inbox[T]) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.poke()
}

func (b *inbox[T]) poke() {
	select {
	case b.wake <- struct{}{}:
	default: // already notified
	}
}

func (b *inbox[T]) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.items)
}

// take waits for items and removes up to most with different keys, in order; further items with the same key remain for
// the next call. It returns false when the inbox is closed and empty, or the context ends.
func (b *inbox[T]) take(ctx context.Context, most int, key func(*T) string) ([]T, bool) {
	for {
		if batch, closed := b.distinct(most, key); len(batch) > 0 {
			return batch, true
		} else if closed {
			return nil, false
		}
		select {
		case <-ctx.Done():
			return nil, false
		case <-b.wake:
		}
	}
}

// gather waits for an item and then, if expected reports that more will follow, until there are most items or for a
// limited time.
func (b *inbox[T]) gather(ctx context.Context, most int, limit time.Duration, expected func() bool) {
	var over <-chan time.Time
	for {
		b.mu.Lock()
		n, closed := len(b.items), b.closed
		b.mu.Unlock()
		if n >= most || closed {
			return
		}
		if n > 0 && over == nil {
			if !expected() {
				return
			}
			timer := time.NewTimer(limit)
			defer timer.Stop()
			over = timer.C
		}
		select {
		case <-ctx.Done():
			return
		case <-over:
			return
		case <-b.wake:
		}
	}
}

func (b *inbox[T]) distinct(most int, key func(*T) string) (batch []T, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := make(map[string]bool, min(most, len(b.items)))
	var stay []T
	looked := 0 // later items are not touched: the cost depends only on the size of the batch
	for ; looked < len(b.items) && len(batch) < most; looked++ {
		k := key(&b.items[looked])
		if seen[k] {
			stay = append(stay, b.items[looked])
			continue
		}
		seen[k] = true
		batch = append(batch, b.items[looked])
	}
	first := looked - len(stay)
	copy(b.items[first:], stay)
	clear(b.items[:first])
	if b.items = b.items[first:]; len(b.items) == 0 {
		b.items = nil // frees the memory of a burst
	}
	return batch, b.closed
}
