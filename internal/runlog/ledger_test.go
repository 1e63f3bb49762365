package runlog

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common"
)

var dawn = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// shelf is runs that live or are stored, and a plan.
type shelf struct {
	live, stored []common.Run
	due, planned []common.Fire
	looked       []string
	late         []common.LateEnd
	patience     int // of the store, with one list
}

func (w *shelf) LiveRuns(context.Context, *LiveQuery) (Lives, error) {
	w.looked = append(w.looked, "live")
	return Lives{Runs: w.live}, nil
}
func (w *shelf) LiveRun(_ context.Context, id string) (common.Run, bool, error) {
	i := slices.IndexFunc(w.live, func(r common.Run) bool { return r.ID == id })
	if i < 0 {
		return common.Run{}, false, nil
	}
	return w.live[i], true, nil
}
func (w *shelf) LateEnds(context.Context) ([]common.LateEnd, error) { return w.late, nil }

func (w *shelf) Due(_ context.Context, q *FireQuery) ([]common.Fire, bool, error) {
	w.looked = append(w.looked, "due")
	found, cut := newestOf(w.due, q)
	return found, !cut, nil
}

func (w *shelf) Planned(_ context.Context, q *FireQuery) ([]common.Fire, bool, error) {
	found, cut := newestOf(w.planned, q)
	return found, !cut, nil
}

func newestOf(all []common.Fire, q *FireQuery) (found []common.Fire, cut bool) {
	for i := range all {
		if q.Matches(&all[i]) {
			found = append(found, all[i])
		}
	}
	slices.SortFunc(found, CompareFires)
	if len(found) > q.Limit+1 {
		return found[:q.Limit+1], true
	}
	return found, false
}

func (w *shelf) Runs(_ context.Context, q Query) (Found, error) {
	w.looked = append(w.looked, "stored")
	all := slices.Clone(w.stored)
	slices.SortFunc(all, q.CompareRuns)
	return lookAt(all, q, w.patience, func(r *common.Run) bool { return r.Status.Terminal() }), nil
}

// lookAt answers as a store that ends a list when it has looked at so many runs; 0 for all.
func lookAt(all []common.Run, q Query, patience int, stored func(*common.Run) bool) (found Found) {
	looked := 0
	for i := range all {
		run := &all[i]
		if !stored(run) || q.Before != nil && q.Compare(*q.Before, PositionOf(run)) >= 0 {
			continue
		}
		if q.Matches(run) {
			found.Runs = append(found.Runs, *run)
		}
		if q.Limit > 0 && len(found.Runs) == q.Limit {
			return found
		}
		if looked++; q.Limit > 0 && looked == patience {
			found.Until = new(PositionOf(run))
			return found
		}
	}
	return found
}

func (w *shelf) Last(context.Context, []string, int) (map[string][]common.Run, error) {
	return nil, nil
}
func (w *shelf) Run(_ context.Context, id string) (common.Run, error) {
	for i := range w.stored {
		if w.stored[i].ID == id {
			return w.stored[i], nil
		}
	}
	return common.Run{}, common.Errorf(common.CodeNotFound, "no run %s", id)
}
func (w *shelf) Output(context.Context, string, int64, int) ([]common.Chunk, error) {
	return nil, nil
}
func (w *shelf) Changes(context.Context, ChangeQuery) ([]common.Change, error) { return nil, nil }

func attempt(fire string, at time.Time, n int, status common.Status) common.Run {
	cause := common.CauseCron
	if n > 1 {
		cause = common.CauseRetry
	}
	return common.Run{
		ID:        common.RunID(fire, n),
		Fire:      fire,
		Job:       "a",
		JobUID:    "u",
		PlannedAt: at,
		Attempt:   n,
		Status:    status,
		Cause:     cause,
	}
}

func planFire(fire string, at time.Time, status common.Status) common.Fire {
	return common.Fire{
		ID:        fire,
		Job:       "a",
		JobUID:    "u",
		PlannedAt: at,
		Status:    status,
		Cause:     common.CauseCron,
		Attempts:  []string{},
	}
}

// pagesOf lists all pages of a query.
func pagesOf(t rapid.TB, w *shelf, q FireQuery) (all []common.Fire) {
	view := NewView(w, w, w)
	for range 10_000 {
		page, err := view.Fires(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Fires) > q.Limit {
			t.Fatalf("%d fires on a page of %d", len(page.Fires), q.Limit)
		}
		all = append(all, page.Fires...)
		if page.Next == nil {
			return all
		}
		if q.Before != nil && q.Before.Compare(page.Next.Position) >= 0 {
			t.Fatalf("the page after %v ends at %v", *q.Before, page.Next.Position)
		}
		q.Before, q.Now, q.Settled = &page.Next.Position, page.Next.Now, page.Next.Settled
	}
	t.Fatalf("the list has no end")
	return nil
}

func TestLedger_Fires(t *testing.T) {
	now := dawn.Add(time.Hour)
	gap := common.Run{
		ID:        common.GapID("u", dawn),
		Fire:      common.GapID("u", dawn),
		Job:       "a",
		JobUID:    "u",
		PlannedAt: dawn.Add(9 * time.Minute),
		Status:    common.StatusMissed,
		Cause:     common.CauseCron,
		Gap:       &common.Gap{From: dawn, To: dawn.Add(9 * time.Minute), Count: 9},
	}
	at := func(m int) time.Time { return dawn.Add(time.Duration(m) * time.Minute) }
	w := &shelf{
		stored: []common.Run{gap,
			attempt("u.f10", at(10), 1, common.StatusFailed), attempt("u.f10", at(10), 2, common.StatusSucceeded),
			attempt("u.f11", at(11), 1, common.StatusFailed),
			attempt("u.f12", at(12), 1, common.StatusFailed), attempt("u.f12", at(12), 2, common.StatusFailed),
			attempt("u.f13", at(13), 0, common.StatusSkipped),
			attempt("u.f14", at(14), 1, common.StatusSucceeded)},
		live: []common.Run{attempt("u.f11", at(11), 2, common.StatusWaiting),
			attempt("u.f12", at(12), 2, common.StatusRunning),
			attempt("u.f15", at(15), 1, common.StatusRunning), attempt("u.f14", at(14), 1, common.StatusRunning)},
		due: []common.Fire{planFire("u.f15", at(15), common.StatusWaiting),
			planFire("u.f16", at(16), common.StatusWaiting)},
		planned: []common.Fire{planFire("u.f70", at(70), common.StatusPlanned),
			planFire("u.f80", at(80), common.StatusPlanned)},
	}
	for name, c := range map[string]struct {
		q    FireQuery
		want []string // id, status and number of attempts
	}{
		"all of it": {FireQuery{To: at(100)}, []string{"u.f80 planned 0", "u.f70 planned 0", "u.f16 waiting 0",
			"u.f15 running 1", "u.f14 succeeded 1",
			"u.f13 skipped 0", "u.f12 failed 2", "u.f11 waiting 2", "u.f10 succeeded 2", gap.ID + " missed 0"}},
		"no future": {FireQuery{To: now, From: at(13)},
			[]string{"u.f16 waiting 0", "u.f15 running 1", "u.f14 succeeded 1", "u.f13 skipped 0"}},
		"failed in the end": {FireQuery{
			To:       at(100),
			Statuses: []common.Status{common.StatusFailed},
		}, []string{"u.f12 failed 2"}},
		"waiting, also again": {FireQuery{
			To:       at(100),
			Statuses: []common.Status{common.StatusWaiting},
		}, []string{"u.f16 waiting 0", "u.f11 waiting 2"}},
		"planned": {FireQuery{
			To:       at(75),
			Statuses: []common.Status{common.StatusPlanned},
		}, []string{"u.f70 planned 0"}},
		// What ended between the looks shows as it was: its outcome is not asked for.
		"running": {FireQuery{
			To:       at(75),
			Statuses: []common.Status{common.StatusRunning},
		}, []string{"u.f15 running 1", "u.f14 running 1", "u.f12 running 2"}},
		"of another job":   {FireQuery{To: at(100), Job: "b"}, nil},
		"of another group": {FireQuery{To: at(100), Group: "b"}, nil},
		"exactly one, and gaps": {FireQuery{To: at(11), From: at(9)},
			[]string{"u.f10 succeeded 2", gap.ID + " missed 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, limit := range []int{1, 2, 50, 1, 2, 50} {
				c.q.Limit, c.q.Now = limit, now
				w.patience = i / 3 * 2 // then the store ends its lists early
				var got []string
				for _, f := range pagesOf(t, w, c.q) {
					got = append(got, fmt.Sprintf("%s %s %d", f.ID, f.Status, len(f.Attempts)))
					if want := f.ID == gap.ID; want != (f.Gap != nil) || f.Cause != common.CauseCron {
						t.Errorf("%+v", f)
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("limit %d:\ngot  %q\nwant %q", limit, got, c.want)
				}
			}
		})
	}
	// What moves on between the looks is found: first what is due, then what lives, then what is stored.
	w.looked, w.patience = nil, 0
	pagesOf(t, w, FireQuery{To: at(100), Now: now, Limit: 50})
	if !slices.Equal(w.looked, []string{"due", "live", "stored"}) {
		t.Errorf("looked at %q", w.looked)
	}
}

func TestFireOf(t *testing.T) {
	runs := []common.Run{attempt("u.f1", dawn, 2, common.StatusFailed), attempt("u.f1", dawn, 3, common.StatusWaiting)}
	due := dawn.Add(time.Second)
	runs[1].DueAt, runs[1].Reason = &due, &common.Reason{Code: common.ReasonBackoff}
	want := common.Fire{
		ID:        "u.f1",
		Job:       "a",
		JobUID:    "u",
		PlannedAt: dawn,
		DueAt:     &due,
		Cause:     common.CauseCron,
		Status:    common.StatusWaiting,
		Reason:    runs[1].Reason,
		Attempts:  []string{"u.f1.1", "u.f1.2", "u.f1.3"},
	}
	if got := FireOf(runs); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := FireOf([]common.Run{attempt("u.tx", dawn, 2, common.StatusFailed)}); got.Cause != common.CauseManual {
		t.Errorf("a retry of a trigger: %+v", got)
	}
}

// Every page concatenated is the whole list, in order, and nothing stands twice,
// whatever the limit.
func TestLedger_Pages_EqualTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &shelf{}
		now := dawn.Add(50)
		final := map[string]common.Fire{}
		for i := range rapid.IntRange(0, 60).Draw(t, "fires") {
			id := fmt.Sprintf("u%d.f%02d", i%3, i)
			at := dawn.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "at")))
			n := rapid.IntRange(1, 4).Draw(t, "attempts")
			statuses := make([]common.Status, n)
			for k := range n {
				statuses[k] = rapid.SampledFrom([]common.Status{common.StatusFailed, common.StatusLost,
					common.StatusSucceeded}).Draw(t, "status")
			}
			switch rapid.IntRange(0, 3).Draw(t, "place") {
			case 0: // all stored
				statuses[n-1] = rapid.SampledFrom([]common.Status{common.StatusFailed, common.StatusSucceeded,
					common.StatusKilled}).Draw(t, "last")
				for k := range n {
					w.stored = append(w.stored, attempt(id, at, k+1, statuses[k]))
				}
				final[id] = FireOf([]common.Run{attempt(id, at, n, statuses[n-1]), attempt(id, at, 1, "")})
			case 1: // the last one lives
				statuses[n-1] = rapid.SampledFrom([]common.Status{common.StatusWaiting, common.StatusRunning,
					common.StatusFailed}).Draw(t, "last")
				for k := range n - 1 {
					w.stored = append(w.stored, attempt(id, at, k+1, statuses[k]))
				}
				w.live = append(w.live, attempt(id, at, n, statuses[n-1]))
				if rapid.Bool().Draw(t, "just taken") {
					w.due = append(w.due, planFire(id, at, common.StatusWaiting))
				}
				final[id] = FireOf([]common.Run{attempt(id, at, n, statuses[n-1]), attempt(id, at, 1, "")})
			case 2:
				final[id] = planFire(id, at, common.StatusWaiting)
				w.due = append(w.due, final[id])
			case 3:
				final[id] = planFire(id, now.Add(at.Sub(dawn)+1), common.StatusPlanned)
				w.planned = append(w.planned, final[id])
			}
		}
		q := FireQuery{Now: now, To: dawn.Add(100), Limit: rapid.IntRange(1, 12).Draw(t, "limit")}
		if rapid.Bool().Draw(t, "narrowed") {
			q.Statuses = rapid.SliceOfNDistinct(rapid.SampledFrom([]common.Status{common.StatusFailed,
				common.StatusSucceeded, common.StatusWaiting,
				common.StatusRunning, common.StatusPlanned, common.StatusLost}), 1, 3, rapid.ID).Draw(t, "statuses")
		}
		if rapid.Bool().Draw(t, "bounded") {
			q.From, q.To = dawn.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "from"))),
				dawn.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "to")))
		}
		var want []common.Fire
		for _, f := range final {
			if q.Matches(&f) {
				want = append(want, f)
			}
		}
		slices.SortFunc(want, CompareFires)
		got := pagesOf(t, w, q)
		if !slices.EqualFunc(got, want, func(a, b common.Fire) bool { return reflect.DeepEqual(a, b) }) {
			t.Fatalf("query %+v\ngot  %+v\nwant %+v", q, got, want)
		}
	})
}

// Where what is looked for is rare, a page ends after so many reads, and the list goes on.
func TestLedger_RareFires_FewReads(t *testing.T) {
	w := &shelf{}
	for i := range 1500 {
		status := common.StatusSucceeded
		if i == 0 {
			status = common.StatusFailed
		}
		fire := fmt.Sprintf("u.f%04d", i)
		at := dawn.Add(time.Duration(i))
		w.stored = append(w.stored, attempt(fire, at, 1, common.StatusFailed), attempt(fire, at, 2, status))
	}
	q := FireQuery{
		Now:      dawn.Add(time.Hour),
		To:       dawn.Add(time.Hour),
		Limit:    5,
		Statuses: []common.Status{common.StatusFailed},
	}
	page, err := NewView(w, w, w).Fires(t.Context(), q)
	if err != nil || page.Next == nil || len(page.Fires) != 0 {
		t.Fatalf("%+v, %v", page, err)
	}
	if all := pagesOf(t, w, q); len(all) != 1 || all[0].ID != "u.f0000" || len(all[0].Attempts) != 2 {
		t.Fatalf("found %+v", all)
	}
}

// A missed fire and one that succeeded may be run again on request: their entries have the status of that attempt.
func TestLedger_OfFiresRunAgain_IsFilteredByTheLastAttempt(t *testing.T) {
	w := &shelf{stored: []common.Run{
		attempt("u.f1", dawn, 0, common.StatusMissed), attempt("u.f1", dawn, 1, common.StatusSucceeded),
		attempt("u.f2", dawn, 1, common.StatusSucceeded), attempt("u.f2", dawn, 2, common.StatusFailed),
		attempt("u.f3", dawn, 0, common.StatusMissed),
		attempt("u.f4", dawn, 1, common.StatusSucceeded),
	}}
	for status, want := range map[common.Status][]string{
		common.StatusMissed:    {"u.f3"},
		common.StatusSucceeded: {"u.f4", "u.f1"},
		common.StatusFailed:    {"u.f2"},
	} {
		q := FireQuery{To: dawn.Add(1), Now: dawn, Statuses: []common.Status{status}, Limit: 10}
		var got []string
		for _, f := range pagesOf(t, w, q) {
			got = append(got, f.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
	}
}

func TestLedger_NodesOfFlowRuns_AreListedByTheirFlowRun(t *testing.T) {
	node := func(name, job string, n int, status common.Status) common.Run {
		run := attempt(common.NodeFire("u", "u.f1.1", name), dawn, n, status)
		run.Job, run.Flow = job, &common.FlowNode{Job: "a", Run: "u.f1.1", Node: name}
		return run
	}
	load, report := node("load@00001", "a:load", 2, common.StatusFailed), node("report", "b", 1, common.StatusRunning)
	flow := attempt("u.f1", dawn, 1, common.StatusRunning)
	w := &shelf{stored: []common.Run{load}, live: []common.Run{flow, report},
		due: []common.Fire{planFire("u.f2", dawn.Add(time.Minute), common.StatusWaiting)}}
	for name, c := range map[string]struct {
		q    FireQuery
		want []string
	}{
		"all":                {FireQuery{}, []string{"u.f2 cron", "u.f1 cron"}},
		"the flow":           {FireQuery{Job: "a"}, []string{"u.f2 cron", "u.f1 cron"}},
		"job of a step":      {FireQuery{Job: "b"}, []string{report.Fire + " cron"}},
		"inline step":        {FireQuery{Job: "a:load"}, []string{load.Fire + " flow"}},
		"flow run":           {FireQuery{FlowRun: "u.f1.1"}, []string{load.Fire + " flow", report.Fire + " cron"}},
		"step of a flow run": {FireQuery{FlowRun: "u.f1.1", Step: "load"}, []string{load.Fire + " flow"}},
		"another flow run":   {FireQuery{FlowRun: "u.f9.1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.q.Now, c.q.To, c.q.Limit = dawn.Add(time.Hour), dawn.Add(time.Hour), 10
			var got []string
			for _, f := range pagesOf(t, w, c.q) {
				got = append(got, f.ID+" "+string(f.Cause))
			}
			slices.SortFunc(c.want, func(a, b string) int { return strings.Compare(b, a) })
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestLedger_Cause_SelectsFires(t *testing.T) {
	now := dawn.Add(time.Hour)
	with := func(fire string, cause common.Cause) common.Run {
		run := attempt(fire, dawn, 1, common.StatusSucceeded)
		run.Cause = cause
		return run
	}
	w := &shelf{
		stored: []common.Run{with("u.nx", common.CauseFlow), with("u.f2", common.CauseBackfill),
			with("u.f1", common.CauseCron)},
		live: []common.Run{with("u.ny", common.CauseFlow), with("u.f3", common.CauseAfter)},
		due:  []common.Fire{planFire("u.f4", dawn, common.StatusWaiting)},
	}
	for cause, want := range map[common.Cause][]string{
		"":                   {"u.f4", "u.f3", "u.f2", "u.f1"},
		common.CauseCron:     {"u.f4", "u.f1"},
		common.CauseBackfill: {"u.f2"},
		common.CauseAfter:    {"u.f3"},
		common.CauseFlow:     {"u.ny", "u.nx"},
		common.CauseManual:   nil,
	} {
		for _, limit := range []int{1, 50} {
			var got []string
			for _, f := range pagesOf(t, w, FireQuery{Cause: cause, To: now, Now: now, Limit: limit}) {
				got = append(got, f.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("cause %q, %d at a time: %q, want %q", cause, limit, got, want)
			}
		}
	}
}

// The counts are those of the lists with the same filters, page by page.
func TestView_Waiting_CountsFiresOfPausedJobsApart(t *testing.T) {
	now := dawn.Add(time.Hour)
	paused := func(f common.Fire) common.Fire {
		f.Reason = &common.Reason{Code: common.ReasonPaused}
		return f
	}
	gap := func(id string, n int64) common.Fire {
		f := planFire(id, dawn, common.StatusWaiting)
		f.Gap = &common.Gap{From: dawn, To: now, Count: n}
		return f
	}
	retry := attempt("u.f1", dawn, 2, common.StatusWaiting)
	held := attempt("u.f2", dawn, 1, common.StatusWaiting)
	held.Reason = &common.Reason{Code: common.ReasonPaused}
	node := attempt(common.NodeFire("u", "u.f1.1", "load"), dawn, 1, common.StatusWaiting)
	node.Flow = &common.FlowNode{Job: "a", Run: "u.f1.1", Node: "load"}
	w := &shelf{
		stored: []common.Run{attempt("u.f1", dawn, 1, common.StatusFailed)},
		live:   []common.Run{retry, held, node, attempt("u.f3", dawn, 1, common.StatusRunning)},
		due: []common.Fire{
			planFire("u.f4", dawn, common.StatusWaiting), gap("u.f5", 5), paused(gap("u.f6", 8)),
			planFire("u.f7", dawn, common.StatusPlanned),         // jitter delays it
			paused(planFire("u.f3", dawn, common.StatusWaiting)), // claimed since
		},
	}
	got, err := NewView(w, w, w).Waiting(t.Context(), now)
	if want := (WaitingFires{Waiting: 1 + 1 + 5, Paused: 1 + 8}); err != nil || got != want {
		t.Errorf("counts %+v, %v, want %+v", got, err, want)
	}
	listed := func(paused PausedFires) (n int64) {
		for _, f := range pagesOf(t, w, FireQuery{Statuses: []common.Status{common.StatusWaiting, common.StatusRunning},
			Paused: paused, To: now, Now: now, Limit: 2}) {
			if n++; f.Gap != nil {
				n += f.Gap.Count - 1
			}
		}
		return n
	}
	const running = 1 // which the filter does not concern
	for filter, want := range map[PausedFires]int64{ExcludePaused: got.Waiting, OnlyPaused: got.Paused,
		"": got.Waiting + got.Paused} {
		if n := listed(filter); n != want+running {
			t.Errorf("filter %q lists %d fires, want %d", filter, n, want+running)
		}
	}
}
