package flow

import (
	"testing"
	"time"

	"carillon/internal/common"
)

// A backfill has as many dates as its limit says.
func TestBackfill_MostDates_IsAGraph(t *testing.T) {
	fires := make([]common.BackfillFire, common.MaxBackfill)
	for i := range fires {
		fires[i] = common.BackfillFire{At: time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC), Attempt: 1}
	}
	packed, err := common.PackFires(fires)
	if err != nil {
		t.Fatal(err)
	}
	head := common.Head{Kind: common.KindBackfill, Fires: packed, Concurrency: 4}
	graph, found, err := Backfill(&head)
	if err != nil || len(found) != common.MaxBackfill {
		t.Fatalf("%d dates, %v", len(found), err)
	}
	head.Run = "u1.b1.1"
	started := 0
	for state := New(graph, &head); ; {
		work := state.Next(100)
		if started += len(work.Starts); len(work.Starts) == 0 {
			break
		}
	}
	if started != 4 {
		t.Errorf("%d dates are started at once, want 4", started)
	}
}
