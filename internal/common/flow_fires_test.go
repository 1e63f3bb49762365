package common_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"carillon/internal/common"
)

// The fires of a backfill that has ended are packed with their outcomes.
func TestPackEnds_ReturnsTheOutcomes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC)
	fires := []common.BackfillFire{
		{At: at, Attempt: 1, Status: common.StatusSucceeded, Last: 1},
		{At: at.Add(time.Hour), Attempt: 2, After: common.StatusFailed, Status: common.StatusFailed, Last: 4},
		{At: at.Add(3 * time.Hour), Attempt: 1, Status: common.StatusSkipped},
		{At: at.Add(-time.Hour), Attempt: 1, Last: 1},
	}
	packed, err := common.PackEnds(fires)
	if err != nil {
		t.Fatal(err)
	}
	got, err := common.UnpackEnds(packed)
	if err != nil || !reflect.DeepEqual(got, fires) {
		t.Errorf("%+v, %v", got, err)
	}
	if a, b, c := fires[0].RunID("u"), fires[1].RunID("u"), fires[2].RunID("u"); a == "" || c != "" ||
		b != common.RunID(common.PlannedFire("u", fires[1].At), 4) {
		t.Errorf("runs %q, %q, %q", a, b, c)
	}
}

// What a head holds is the first attempt of each fire, and the outcome before.
func TestPackFires_ReturnsWhatIsToRun(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC)
	fires := []common.BackfillFire{{At: at, Attempt: 1}, {At: at.Add(time.Hour), Attempt: 3, After: common.StatusLost}}
	packed, err := common.PackFires(fires)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := common.UnpackFires(packed); err != nil || !reflect.DeepEqual(got, fires) {
		t.Errorf("%+v, %v", got, err)
	}
}

// The outcomes of as many fires as a backfill may have take at most 64 KiB, however they differ: also if each was to
// run again after another outcome, and took another number of attempts.
func TestPackEnds_MostOutcomes_TakeLittle(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same numbers each time
	fires := make([]common.BackfillFire, common.MaxBackfill)
	for i := range fires {
		attempt := 2 + random.IntN(3)
		fires[i] = common.BackfillFire{At: time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC), Attempt: attempt,
			After: common.Statuses[3+random.IntN(5)], Status: common.Statuses[2+random.IntN(6)],
			Last: attempt + random.IntN(4)}
	}
	packed, err := common.PackEnds(fires)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := common.UnpackEnds(packed); err != nil || !reflect.DeepEqual(got, fires) {
		t.Errorf("%d fires, %v", len(got), err)
	}
	if len(packed) > 64<<10 {
		t.Errorf("%d bytes", len(packed))
	}
}
