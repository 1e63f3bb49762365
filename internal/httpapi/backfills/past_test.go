package backfills

import (
	"context"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// history is a list of runs, of which so many are read at once.
type history struct {
	runs  []common.Run
	fires []common.Fire
	piece int
	away  bool
}

func (h *history) Runs(_ context.Context, q runlog.Query) (page runlog.RunPage, err error) {
	all := slices.SortedFunc(slices.Values(h.runs), q.CompareRuns)
	for i := range all {
		if !q.Matches(&all[i]) {
			continue
		}
		if len(page.Runs) == h.piece {
			page.Until = new(runlog.PositionOf(&page.Runs[h.piece-1]))
			break
		}
		page.Runs = append(page.Runs, all[i])
	}
	return page, nil
}

func (h *history) Run(context.Context, string) (run common.Run, err error) { return run, nil }

func (h *history) Fires(_ context.Context, q runlog.FireQuery) (page runlog.FirePage, err error) {
	page.Partial = h.away
	for i := range h.fires {
		if !q.Matches(&h.fires[i]) {
			continue
		}
		if len(page.Fires) == q.Limit {
			page.Next = &runlog.FireCursor{Position: runlog.PositionOfFire(&page.Fires[q.Limit-1]), Settled: true}
			break
		}
		page.Fires = append(page.Fires, h.fires[i])
	}
	return page, nil
}

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func ofPlan(at time.Time, cause common.Cause, took time.Duration) common.Run {
	fire := common.PlannedFire("u", at)
	return common.Run{ID: common.RunID(fire, 1), Job: "a", JobUID: "u", Fire: fire, PlannedAt: at, Cause: cause,
		Attempt: 1, Status: common.StatusSucceeded, EndedAt: new(at.Add(took))}
}

// The history begins where the schedule has fired and retention has deleted nothing: runs of backfills and re-runs of
// old dates stay longer, as does a run that took long.
func TestSince(t *testing.T) {
	t.Parallel()
	h := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Hour) }
	long := ofPlan(h(-30), common.CauseCron, 20*time.Hour)
	gap := common.Run{ID: common.GapID("u", h(-20)), Fire: common.GapID("u", h(-20)), Job: "a", JobUID: "u",
		PlannedAt: h(-6), Cause: common.CauseCron, Status: common.StatusMissed,
		Gap: &common.Gap{From: h(-20), To: h(-6), Count: 14}}
	other := ofPlan(h(-50), common.CauseCron, 0)
	other.JobUID = "before"
	manual := ofPlan(h(-40), common.CauseManual, 0)
	old := ofPlan(h(-100), common.CauseBackfill, 0)
	at := ofPlan(h(-3), common.CauseCron, time.Minute)
	for name, c := range map[string]struct {
		runs []common.Run
		want time.Time
	}{
		"nothing":                     {nil, time.Time{}},
		"none of the schedule":        {[]common.Run{old, manual, other}, time.Time{}},
		"the first one's end":         {[]common.Run{old, manual, other, at}, h(-3).Add(time.Minute)},
		"not that of a long run":      {[]common.Run{long, at}, h(-10)},
		"an earlier one of those":     {[]common.Run{long, ofPlan(h(-12), common.CauseCron, 0), at}, h(-12)},
		"the beginning of an outage":  {[]common.Run{gap, at}, h(-20)},
		"after a long run, an outage": {[]common.Run{long, gap, at}, h(-20)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Resource{Runs: &history{runs: c.runs, piece: 1}}
			job := &common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "a"}, UID: "u"}}
			if got, err := s.since(t.Context(), job); err != nil || !got.Equal(c.want) {
				t.Errorf("%v, %v, want %v", got, err, c.want)
			}
		})
	}
}

// A backfill lists the planned fires that were skipped because of it, as a range that another one can run.
func TestYielded(t *testing.T) {
	t.Parallel()
	fire := func(minutes int, uid, reason string) common.Fire {
		at := noon.Add(time.Duration(minutes) * time.Minute)
		return common.Fire{ID: common.PlannedFire(uid, at), Job: "a", JobUID: uid, PlannedAt: at,
			Status: common.StatusSkipped, Reason: &common.Reason{Code: reason}}
	}
	h := &history{fires: []common.Fire{fire(9, "u", common.ReasonBackfill), fire(4, "u", common.ReasonBackfill),
		fire(3, "u", common.ReasonOverlap), fire(2, "u", common.ReasonBackfill), fire(1, "v", common.ReasonBackfill)}}
	s := &Resource{Runs: h, Now: func() time.Time { return noon.Add(time.Hour) }}
	got, err := s.yielded(t.Context(), "a", "u", noon, noon.Add(5*time.Minute))
	if err != nil || got == nil || got.Count != 2 || len(got.Times) != 2 || !got.From.Equal(noon.Add(2*time.Minute)) ||
		!got.To.After(noon.Add(4*time.Minute)) || !got.To.Before(noon.Add(5*time.Minute)) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.yielded(t.Context(), "a", "u", noon.Add(10*time.Minute), noon.Add(time.Hour)); got != nil {
		t.Errorf("of another one: %+v, %v", got, err)
	}
}

// All pages of the skipped fires are read, up to a bound, and the list shows that the log store is away.
func TestYielded_Many_ReadsAllPages(t *testing.T) {
	t.Parallel()
	h := &history{}
	for i := range 12_000 {
		at := noon.Add(-time.Duration(i) * time.Second)
		h.fires = append(h.fires, common.Fire{ID: common.PlannedFire("u", at), Job: "a", JobUID: "u", PlannedAt: at,
			Status: common.StatusSkipped, Reason: &common.Reason{Code: common.ReasonBackfill}})
	}
	s := &Resource{Runs: h, Now: func() time.Time { return noon }}
	begun := noon.Add(-1499 * time.Second)
	got, err := s.yielded(t.Context(), "a", "u", begun, noon)
	if err != nil || got.Count != 1500 || got.More || got.Partial || len(got.Times) != 100 || !got.From.Equal(begun) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = s.yielded(t.Context(), "a", "u", noon.Add(-time.Hour*9), noon); err != nil || got.Count != 10_000 ||
		!got.More {
		t.Errorf("more than are read: %+v, %v", got, err)
	}
	h.away, h.fires = true, nil
	if got, err = s.yielded(t.Context(), "a", "u", begun, noon); err != nil || got == nil || !got.Partial ||
		got.Count != 0 || got.Times == nil {
		t.Errorf("without the log store: %+v, %v", got, err)
	}
}
