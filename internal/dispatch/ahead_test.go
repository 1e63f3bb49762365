package dispatch

import (
	"testing"
	"time"

	"carillon/internal/common"
)

// A worker whose clock is a day ahead decides by the cluster's clock: it neither expires nor catches up fires that are
// in time by that.
func TestClockADayAhead_DecidesByTheClusterClock(t *testing.T) {
	const day = 24 * time.Hour
	for _, drained := range []bool{false, true} {
		bubble(t, nil, func(r *rig) {
			r.cluster.mu.Lock()
			r.cluster.behind = day
			r.cluster.mu.Unlock()
			r.cluster.alive(member("w", func(m *common.Member) { m.Settings.Drain = drained }))
			f := r.fire("a", func(t *common.Terms) { t.CatchUp = common.CatchUpAll })
			f.At = f.At.Add(-day)
			f.Due, f.Cursor = f.At, f.At.Add(-time.Minute)
			r.hand(f)
			claims := r.claimer.claims()
			switch {
			case drained && len(claims) != 0:
				r.Fatalf("gave up: %+v", claims)
			case !drained && (len(claims) != 1 || !claims[0].To.Equal(f.At) ||
				claims[0].Record.Cause != common.CauseCron || claims[0].Gap != nil):
				r.Fatalf("claimed: %+v", claims)
			}
		})
	}
}
