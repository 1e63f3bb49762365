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
	piece int
	away  bool
	reads int
}

func (h *history) Runs(_ context.Context, q runlog.Query) (page runlog.RunPage, err error) {
	h.reads++
	page.Partial = h.away
	all := slices.SortedFunc(slices.Values(h.runs), q.CompareRuns)
	for i := range all {
		if !q.Matches(&all[i]) {
			continue
		}
		if len(page.Runs) == q.Limit && q.Limit > 0 {
			break
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

// skip returns a fire that was skipped.
func skip(at time.Time, uid, reason string) common.Run {
	run := ofPlan(at, common.CauseCron, 0)
	run.Fire = common.PlannedFire(uid, at)
	run.ID, run.JobUID = common.RunID(run.Fire, 1), uid
	run.Status, run.Reason = common.StatusSkipped, &common.Reason{Code: reason}
	return run
}

// A backfill lists the planned fires that were skipped because of it, as a range that another one can run; without
// those that were run since.
func TestYielded(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	again := func(minutes int, cause common.Cause) common.Run {
		run := ofPlan(at(minutes), cause, 0)
		run.Attempt, run.ID = 2, common.RunID(run.Fire, 2)
		return run
	}
	h := &history{piece: 10_000, runs: []common.Run{
		skip(at(9), "u", common.ReasonBackfill), skip(at(4), "u", common.ReasonBackfill),
		skip(at(3), "u", common.ReasonOverlap), skip(at(2), "u", common.ReasonBackfill),
		skip(at(1), "v", common.ReasonBackfill),
		skip(at(3).Add(1), "u", common.ReasonBackfill), skip(at(2).Add(1), "u", common.ReasonBackfill)}}
	rerun, backfilled := again(3, common.CauseRerun), again(2, common.CauseBackfill)
	rerun.PlannedAt, backfilled.PlannedAt = at(3).Add(1), at(2).Add(1)
	for _, run := range []*common.Run{&rerun, &backfilled} {
		run.Fire = common.PlannedFire("u", run.PlannedAt)
	}
	h.runs = append(h.runs, rerun, backfilled)
	s := &Resource{Runs: h, Now: func() time.Time { return noon.Add(time.Hour) }}
	got, err := s.yielded(t.Context(), "a", "u", noon, at(5))
	if err != nil || got == nil || got.Count != 2 || len(got.Times) != 2 || !got.From.Equal(at(2)) ||
		!got.To.After(at(4)) || !got.To.Before(at(5)) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.yielded(t.Context(), "a", "u", at(10), noon.Add(time.Hour)); got != nil || err != nil {
		t.Errorf("of another one: %+v, %v", got, err)
	}
}

// All pages of the skipped fires are read, up to a bound, and the list shows that the log store is away.
func TestYielded_Many_ReadsAllPages(t *testing.T) {
	t.Parallel()
	h := &history{piece: 100_000}
	for i := range 12_000 {
		h.runs = append(h.runs, skip(noon.Add(-time.Duration(i)*time.Second), "u", common.ReasonBackfill))
	}
	s := &Resource{Runs: h, Now: func() time.Time { return noon }}
	begun := noon.Add(-1499 * time.Second)
	got, err := s.yielded(t.Context(), "a", "u", begun, noon)
	if err != nil || got.Count != 1500 || got.More || got.Partial || len(got.Times) != 100 || !got.From.Equal(begun) {
		t.Errorf("%+v, %v", got, err)
	}
	h.reads = 0
	if got, err = s.yielded(t.Context(), "a", "u", noon.Add(-time.Hour*9), noon); err != nil || got.Count != 10_000 ||
		!got.More || h.reads > 20 {
		t.Errorf("more than are read, in %d reads: %+v, %v", h.reads, got, err)
	}
	h.away, h.runs = true, nil
	if got, err = s.yielded(t.Context(), "a", "u", begun, noon); err != nil || got == nil || !got.Partial ||
		got.Count != 0 || got.Times == nil {
		t.Errorf("without the log store: %+v, %v", got, err)
	}
}
