package runlog

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common"
)

// The stages of a run, in order.
const (
	nowhere = iota
	inTrigger
	inRecord
	inOutbox
	inBoth // the outbox and the store: stored, not yet acked
	inStore
	places
)

// history is a set of moving runs, and the two ports of a view on them. Between two reads, any move may
// happen.
type history struct {
	runs    []common.Run // newest first
	at      []int        // the place of each
	between func()       // called between the two reads of a view
	late    []common.LateEnd

	patience int // of the store, with one list
}

// as returns a run as its stage shows it.
func (h *history) as(i int) common.Run {
	run := h.runs[i]
	switch h.at[i] {
	case inTrigger:
		run.Status = common.StatusWaiting
	case inRecord:
		run.Status = common.StatusRunning
	default:
		run.Status = common.StatusSucceeded
	}
	return run
}

func (h *history) LiveRuns(context.Context, *LiveQuery) (Lives, error) {
	var live []common.Run
	for i := range h.runs {
		if h.at[i] >= inTrigger && h.at[i] <= inBoth {
			live = append(live, h.as(i))
		}
	}
	slices.Reverse(live) // in no order that helps
	h.between()
	return Lives{Runs: live}, nil
}

func (h *history) LiveRun(ctx context.Context, id string) (common.Run, bool, error) {
	lives, err := h.LiveRuns(ctx, nil)
	live := lives.Runs
	i := slices.IndexFunc(live, func(r common.Run) bool { return r.ID == id })
	if i < 0 {
		return common.Run{}, false, err
	}
	return live[i], true, err
}

func (h *history) Runs(_ context.Context, q Query) (Found, error) {
	var stored []common.Run
	for i := range h.runs {
		if h.at[i] >= inBoth {
			stored = append(stored, h.as(i))
		}
	}
	slices.SortFunc(stored, q.CompareRuns)
	return lookAt(stored, q, h.patience, func(*common.Run) bool { return true }), nil
}

func (h *history) Last(context.Context, []string, int) (map[string][]common.Run, error) {
	return nil, nil
}

func (h *history) Run(_ context.Context, id string) (common.Run, error) {
	for i := range h.runs {
		if h.runs[i].ID == id && h.at[i] >= inBoth {
			return h.as(i), nil
		}
	}
	return common.Run{}, common.Errorf(common.CodeNotFound, "no run %s", id)
}

func (h *history) LateEnds(context.Context) ([]common.LateEnd, error) { return h.late, nil }

func (h *history) Output(context.Context, string, int64, int) ([]common.Chunk, error) {
	return nil, nil
}
func (h *history) Changes(context.Context, ChangeQuery) ([]common.Change, error) { return nil, nil }

// drawHistory draws runs with planned times that are often equal, and lets any of them advance by any number
// of stages at each read.
func drawHistory(t *rapid.T) *history {
	h := &history{patience: rapid.IntRange(0, 3).Draw(t, "patience")}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range rapid.IntRange(0, 20).Draw(t, "runs") {
		h.runs = append(h.runs, common.Run{
			ID:        fmt.Sprintf("run-%02d", i),
			Job:       rapid.SampledFrom([]string{"a", "b"}).Draw(t, "job"),
			PlannedAt: start.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "planned"))),
		})
		h.at = append(h.at, rapid.IntRange(nowhere, places-1).Draw(t, "place"))
	}
	slices.SortFunc(h.runs, func(a, b common.Run) int { return PositionOf(&a).Compare(PositionOf(&b)) })
	h.between = func() {
		for i := range h.at {
			if rapid.Bool().Draw(t, "moves") {
				h.at[i] = rapid.IntRange(h.at[i], places-1).Draw(t, "to")
			}
		}
	}
	return h
}

func TestView_MovingRuns_ListedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		view := NewView(h, nil, h)
		q := Query{
			Limit:  rapid.IntRange(1, 5).Draw(t, "limit"),
			Job:    rapid.SampledFrom([]string{"", "a"}).Draw(t, "job"),
			Oldest: rapid.Bool().Draw(t, "oldest"),
		}
		var must []string // runs that were accepted before the first read
		for i := range h.runs {
			if h.at[i] != nowhere && (q.Job == "" || h.runs[i].Job == q.Job) {
				must = append(must, h.runs[i].ID)
			}
		}
		var listed []common.Run
		for {
			h.between()
			found, err := view.Runs(t.Context(), q)
			if err != nil || found.Partial {
				t.Fatalf("partial %v, %v", found.Partial, err)
			}
			page := found.Runs
			if len(page) > q.Limit {
				t.Fatalf("%d runs on a page of %d", len(page), q.Limit)
			}
			listed = append(listed, page...)
			switch {
			case found.Until != nil:
				q.Before = found.Until
			case len(page) < q.Limit:
				q.Before = nil
			default:
				q.Before = new(PositionOf(&page[len(page)-1]))
			}
			if q.Before == nil {
				break
			}
		}
		count := map[string]int{}
		for i := range listed {
			count[listed[i].ID]++
			if i > 0 && q.CompareRuns(listed[i-1], listed[i]) >= 0 {
				t.Fatalf("%s is listed after %s", listed[i].ID, listed[i-1].ID)
			}
			if q.Job != "" && listed[i].Job != q.Job {
				t.Fatalf("%s is of job %s", listed[i].ID, listed[i].Job)
			}
		}
		for _, id := range must {
			if count[id] != 1 {
				t.Fatalf("%s is listed %d times", id, count[id])
			}
		}
		for id, n := range count { // later runs may be listed, once
			if n != 1 {
				t.Fatalf("%s is listed %d times", id, n)
			}
		}
	})
}

func TestView_MovingRuns_Found(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		view := NewView(h, nil, h)
		for i := range h.runs {
			accepted := h.at[i] != nowhere
			run, err := view.Run(t.Context(), h.runs[i].ID)
			switch {
			case err == nil && run.ID != h.runs[i].ID:
				t.Fatalf("asked for %s, got %s", h.runs[i].ID, run.ID)
			case err != nil && (accepted || common.CodeOf(err) != common.CodeNotFound):
				t.Fatalf("%s: %v", h.runs[i].ID, err)
			}
		}
		if _, err := view.Run(t.Context(), "never"); common.CodeOf(err) != common.CodeNotFound {
			t.Fatalf("a run that never existed: %v", err)
		}
	})
}

// A stored run is shown as it is stored, and not as it was live before.
func TestView_StoredAndLive_StoredWins(t *testing.T) {
	run := common.Run{ID: "r", PlannedAt: time.Unix(5, 0)}
	h := &history{runs: []common.Run{run}, at: []int{inRecord}}
	h.between = func() { h.at[0] = inStore }
	page, err := NewView(h, nil, h).Runs(t.Context(), Query{})
	if err != nil || len(page.Runs) != 1 || page.Runs[0].Status != common.StatusSucceeded {
		t.Fatalf("listed %+v, %v", page, err)
	}
}

func TestViewPassesErrorsOn(t *testing.T) {
	away := errors.New("away")
	h := &history{between: func() {}}
	for _, view := range []*View{NewView(broken{away}, nil, h), NewView(h, nil, brokenStore{h, away})} {
		if _, err := view.Runs(t.Context(), Query{}); !errors.Is(err, away) {
			t.Errorf("list: %v", err)
		}
		if _, err := view.Run(t.Context(), "r"); !errors.Is(err, away) {
			t.Errorf("run: %v", err)
		}
	}
}

type broken struct{ err error }

func (b broken) LiveRuns(context.Context, *LiveQuery) (Lives, error) { return Lives{}, b.err }
func (b broken) LiveRun(context.Context, string) (common.Run, bool, error) {
	return common.Run{}, false, b.err
}
func (b broken) LateEnds(context.Context) ([]common.LateEnd, error) { return nil, b.err }

type brokenStore struct {
	*history
	err error
}

func (b brokenStore) Runs(context.Context, Query) (Found, error)      { return Found{}, b.err }
func (b brokenStore) Run(context.Context, string) (common.Run, error) { return common.Run{}, b.err }

// While the store is unavailable, live runs are listed, and the page is marked as partial.
func TestView_StoreAway_ListsLiveRuns(t *testing.T) {
	away := common.Errorf(common.CodeUnavailable, "the store does not answer")
	now := dawn.Add(time.Hour)
	running, ended := attempt("u.1", dawn.Add(time.Minute), 1, common.StatusRunning),
		attempt("u.2", dawn.Add(2*time.Minute), 1, common.StatusFailed)
	w := &shelf{
		live:    []common.Run{running, ended},
		due:     []common.Fire{planFire("u.3", dawn.Add(3*time.Minute), common.StatusWaiting)},
		planned: []common.Fire{planFire("u.4", now.Add(time.Minute), common.StatusPlanned)},
	}
	view := NewView(w, w, brokenStore{&history{between: func() {}}, away})
	page, err := view.Runs(t.Context(), Query{Limit: 10})
	if err != nil || !page.Partial || len(page.Runs) != 2 || page.Runs[0].ID != ended.ID ||
		page.Runs[1].ID != running.ID {
		t.Errorf("runs: %+v, %v", page, err)
	}
	// The ledger has pages as usual: each known fire is listed once, to the end.
	q := FireQuery{Now: now, To: now.Add(time.Hour), Limit: 3}
	fires, err := view.Fires(t.Context(), q)
	if err != nil || !fires.Partial || len(fires.Fires) != 3 || fires.Fires[0].ID != "u.4" ||
		fires.Fires[2].ID != "u.2" || fires.Next == nil {
		t.Fatalf("fires: %+v, %v", fires, err)
	}
	q.Before, q.Settled = &fires.Next.Position, fires.Next.Settled
	if fires, err = view.Fires(t.Context(), q); err != nil || !fires.Partial || len(fires.Fires) != 1 ||
		fires.Fires[0].ID != "u.1" || fires.Next != nil {
		t.Errorf("the rest: %+v, %v", fires, err)
	}
	// A caller that has left gets no partial result.
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := view.Runs(gone, Query{}); !errors.Is(err, away) {
		t.Errorf("after its end: %v", err)
	}
}

// A late end that the store does not have yet is shown, and only for a lost run.
func TestView_LateEndInOutbox_IsShown(t *testing.T) {
	lost, ended := common.Run{ID: "u.1.1", Status: common.StatusLost},
		common.Run{ID: "u.2.1", Status: common.StatusSucceeded}
	stored := common.Run{
		ID:       "u.3.1",
		Status:   common.StatusLost,
		Orphaned: &common.LateEnd{Run: "u.3.1", Status: common.StatusKilled},
	}
	late := func(r common.Run) common.LateEnd { return common.LateEnd{Run: r.ID, Status: common.StatusFailed} }
	for name, view := range map[string]*View{
		"live": NewView(&shelf{
			live: []common.Run{lost, ended, stored},
			late: []common.LateEnd{late(lost), late(ended), late(stored)},
		}, nil, &shelf{}),
		"stored": NewView(&shelf{late: []common.LateEnd{late(ended), late(stored), late(lost)}}, nil,
			&shelf{stored: []common.Run{lost, ended, stored}}),
	} {
		page, err := view.Runs(t.Context(), Query{})
		if err != nil || len(page.Runs) != 3 {
			t.Fatalf("%s: %v, %+v", name, err, page)
		}
		for _, r := range page.Runs {
			one, err := view.Run(t.Context(), r.ID)
			if err != nil || !reflect.DeepEqual(one, r) {
				t.Errorf("%s: %v, one is %+v, listed is %+v", name, err, one, r)
			}
			switch want := map[string]common.Status{
				lost.ID:   common.StatusFailed,
				stored.ID: common.StatusKilled,
			}[r.ID]; {
			case want == "" && r.Orphaned != nil, want != "" && (r.Orphaned == nil || r.Orphaned.Status != want):
				t.Errorf("%s: run %s has the late end %+v", name, r.ID, r.Orphaned)
			}
		}
	}
}

func TestQueryMatches(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 5, time.UTC)
	run := common.Run{
		ID:        "m",
		Job:       "j",
		JobUID:    "u",
		Group:     "g",
		Worker:    "w",
		Cause:     common.CauseCron,
		Status:    common.StatusLost,
		PlannedAt: at,
	}
	for _, c := range []struct {
		q    Query
		want bool
	}{
		{Query{}, true},
		{Query{
			Job:      "j",
			JobUID:   "u",
			Group:    "g",
			Worker:   "w",
			Cause:    common.CauseCron,
			Statuses: []common.Status{common.StatusKilled, common.StatusLost},
		}, true},
		{Query{Job: "x"}, false},
		{Query{JobUID: "x"}, false},
		{Query{Group: "x"}, false},
		{Query{Worker: "x"}, false},
		{Query{Cause: common.CauseManual}, false},
		{Query{Statuses: []common.Status{common.StatusKilled}}, false},
		{Query{From: at}, true},
		{Query{From: at.Add(1)}, false},
		{Query{To: at}, false},
		{Query{To: at.Add(1)}, true},
		{Query{Before: &Position{at, "m"}}, false},
		{Query{Before: &Position{at, "n"}}, true},
		{Query{Before: &Position{at, "l"}}, false},
		{Query{Before: &Position{at.Add(1), "a"}}, true},
		{Query{Before: &Position{at.Add(-1), "z"}}, false},
	} {
		if got := c.q.Matches(&run); got != c.want {
			t.Errorf("%+v: %v", c.q, got)
		}
	}
}
