package dispatch

// queue gathers items for the next batch, of which each contains at most one item of a key.
type queue[T any] struct {
	key   func(*T) string
	items []T
}

func (q *queue[T]) put(items ...T) { q.items = append(q.items, items...) }

func (q *queue[T]) len() int { return len(q.items) }

// take removes up to most items with different keys, in order; further items with the same key remain for the next
// call.
func (q *queue[T]) take(most int) (batch []T) {
	seen := make(map[string]bool, min(most, len(q.items)))
	var stay []T
	taken := 0 // later items are not touched: the cost depends only on the size of the batch
	for ; taken < len(q.items) && len(batch) < most; taken++ {
		k := q.key(&q.items[taken])
		if seen[k] {
			stay = append(stay, q.items[taken])
			continue
		}
		seen[k] = true
		batch = append(batch, q.items[taken])
	}
	first := taken - len(stay)
	copy(q.items[first:], stay)
	clear(q.items[:first])
	if q.items = q.items[first:]; len(q.items) == 0 {
		q.items = nil // frees the memory of a burst
	}
	return batch
}
