package common_test

import (
	"reflect"
	"testing"
	"time"

	"carillon/internal/common"
)

// The fires of a backfill are packed with their outcomes, once they have one. What was packed without them, by an
// earlier version or for a head, is read as before.
func TestPackFires_WithOutcomes_ReturnsThem(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC)
	fires := []common.BackfillFire{
		{At: at, Attempt: 1, Status: common.StatusSucceeded, Last: 1},
		{At: at.Add(time.Hour), Attempt: 2, After: common.StatusFailed, Status: common.StatusFailed, Last: 4},
		{At: at.Add(3 * time.Hour), Attempt: 1, Status: common.StatusSkipped},
		{At: at.Add(-time.Hour), Attempt: 1},
	}
	packed, err := common.PackFires(fires)
	if err != nil {
		t.Fatal(err)
	}
	got, err := common.UnpackFires(packed)
	if err != nil || !reflect.DeepEqual(got, fires) {
		t.Errorf("%+v, %v", got, err)
	}
	if a, b, c := fires[0].RunID("u"), fires[1].RunID("u"), fires[2].RunID("u"); a == "" || c != "" ||
		b != common.RunID(common.PlannedFire("u", fires[1].At), 4) {
		t.Errorf("runs %q, %q, %q", a, b, c)
	}
}

// The outcomes of as many fires as a backfill may have fit beside them.
func TestPackFires_MostOutcomes_Fit(t *testing.T) {
	t.Parallel()
	fires := make([]common.BackfillFire, common.MaxBackfill)
	for i := range fires {
		fires[i] = common.BackfillFire{At: time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC), Attempt: 1,
			Status: common.Statuses[3+i*i%5], Last: 1 + i*i%3}
	}
	packed, err := common.PackFires(fires)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := common.UnpackFires(packed); err != nil || !reflect.DeepEqual(got, fires) {
		t.Errorf("%d bytes, %d fires, %v", len(packed), len(got), err)
	}
}
