package dispatch

import (
	"testing"
	"time"

	"carillon/internal/common"
)

// A single worker does not read before its claims, however late they are, but checks whether it may still claim a fire
// that has waited.
func TestOnlyWorker_ClaimsWithoutARead(t *testing.T) {
	for _, drained := range []bool{false, true} {
		bubble(t, nil, func(r *rig) {
			r.cluster.alive(member("w"))
			r.slots.Store(1)
			r.long("long")
			r.hand(r.fire("long"))
			r.hand(r.fire("a"))
			time.Sleep(3 * time.Second)
			r.cluster.alive(member("w", func(m *common.Member) { m.Settings.Drain = drained }))
			r.release("long")
			want := 2
			if drained {
				want = 1
			}
			if n := len(r.claimer.claims()); n != want || r.claimer.looked() != 0 {
				r.Fatalf("drained %t: %d claims after %d looks", drained, n, r.claimer.looked())
			}
			if s := r.settled(); drained && s[len(s)-1].RetryAt.IsZero() {
				r.Fatalf("settled: %+v", s)
			}
		})
	}
}
