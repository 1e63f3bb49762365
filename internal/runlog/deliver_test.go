package runlog

import (
	"errors"
	"fmt"
	"testing"
)

// What is delivered is all that can be read, however much before it cannot; what the
// store did not take stays where it was.
func TestDeliver(t *testing.T) {
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
