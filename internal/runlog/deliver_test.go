package runlog

import (
	"errors"
	"fmt"
	"testing"
)

// All readable entries are delivered, however many before them are unreadable; entries that the store did not
// accept stay in the source.
func TestDeliver_UnreadableAndFailing_RestIsDelivered(t *testing.T) {
	w := newWorld(t)
	w.unread = 2*deliverAtOnce + 1
	const n = 2*deliverAtOnce + 200
	for i := range n {
		w.finish(fmt.Sprint(i))
	}
	w.away = func(nth int) error {
		if nth == 2 {
			return errors.New("away")
		}
		return nil
	}
	delivered, err := Deliver(t.Context(), w, w)
	if err == nil || delivered == 0 || delivered == n {
		t.Fatalf("%d delivered, %v", delivered, err)
	}
	w.expect(delivered, 0, n-delivered)
	rest, err := Deliver(t.Context(), w, w)
	if err != nil || delivered+rest != n {
		t.Fatalf("%d delivered after %d, %v", rest, delivered, err)
	}
	w.expect(n, 0, 0)
}
