package conformance

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

func last(t *testing.T, s Store, size Size) {
	all := anyRuns(size.pick(400, 60))
	lost := ended("u1.lost", moment(moments))
	lost.Status = common.StatusLost
	write(t, s, runlog.Batch{Runs: append(all, lost), Late: []common.LateEnd{fullLate(lost.ID)}})
	lost.Orphaned = new(fullLate(lost.ID))
	all = append(all, lost)

	for _, n := range []int{1, 20, size.pick(400, 60)} {
		want := map[string][]common.Run{}
		for _, job := range jobs {
			if runs := naive(all, runlog.Query{Job: job, Limit: n}); len(runs) > 0 {
				want[job] = runs
			}
		}
		got, err := s.Last(t.Context(), append([]string{"none", "\xff", "$ne"}, jobs...), n)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "the last runs of all jobs", got, want)
	}
	one, err := s.Last(t.Context(), jobs[:1], 1)
	if err != nil || len(one) != 1 {
		t.Fatalf("the last run of one job: %v, %v", one, err)
	}
	for _, none := range [][]string{nil, {"none"}} {
		if got, err := s.Last(t.Context(), none, 5); err != nil || len(got) != 0 {
			t.Errorf("the last runs of %v: %v, %v", none, got, err)
		}
	}
	// A later write is returned.
	newest := ended("u1.newest", base.Add(100*time.Hour))
	write(t, s, runlog.Batch{Runs: []common.Run{newest}})
	got, err := s.Last(t.Context(), []string{"report"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the last run", got, map[string][]common.Run{"report": {newest}})
}
