package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/catalog"
)

// A thousand names stay in order while names are added and removed.
func TestNames_KeepTheirOrder(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 4))
	there := map[string]bool{}
	all := catalog.New(nil, schedule.NewInterner(), time.Now)
	var jobs []common.JobState
	for i := range 3000 {
		name := fmt.Sprintf("j%04d", dice.IntN(10_000))
		there[name] = true
		jobs = append(jobs, common.JobState{
			StoredJob: common.StoredJob{UID: fmt.Sprint(i), Job: common.Job{Name: name, Command: "true"}},
			Version:   int64(i),
		})
	}
	all.Fill(jobs, false)
	for name := range there {
		if dice.IntN(3) == 0 {
			all.Remove(name)
			delete(there, name)
		}
	}
	var names []string
	for after := ""; ; {
		page, next, err := all.List(t.Context(), common.JobQuery{Limit: 100, After: after})
		if err != nil {
			t.Fatal(err)
		}
		for i := range page {
			names = append(names, page[i].Name)
		}
		if after = next; next == "" {
			break
		}
	}
	if !slices.IsSorted(names) || len(names) != len(there) {
		t.Errorf("%d of %d names, sorted: %t", len(names), len(there), slices.IsSorted(names))
	}
}
