package runlog

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common"
	"carillon/internal/runlog/rollup"
)

var errAway = common.Errorf(common.CodeUnavailable, "the store is away")

// annals is a store with its last runs and its changes, and the runs and changes in etcd.
type annals struct {
	*history
	away    bool
	stored  []common.Change
	waiting []common.Change
	moves   func() // called between the two reads
}

func (s *annals) Last(ctx context.Context, jobs []string, n int) (map[string][]common.Run, error) {
	if s.away {
		return nil, errAway
	}
	last := map[string][]common.Run{}
	for _, job := range jobs {
		if found, _ := s.history.Runs(ctx, Query{Job: job, Limit: n}); len(found.Runs) > 0 {
			last[job] = found.Runs
		}
	}
	return last, nil
}

func (s *annals) LiveChanges(_ context.Context, q ChangeQuery, keep func(*common.Change) bool) (found []common.Change,
	partial bool, err error) {
	defer s.moves()
	for _, c := range slices.Backward(s.waiting) {
		if q.Matches(&c) && keep(&c) && len(found) < q.Limit {
			found = append(found, c)
		}
	}
	return found, false, nil
}

func (s *annals) Changes(_ context.Context, q ChangeQuery) (found []common.Change, err error) {
	if s.away {
		return nil, errAway
	}
	for _, c := range slices.Backward(s.stored) {
		if q.Matches(&c) && len(found) < q.Limit {
			found = append(found, c)
		}
	}
	return found, nil
}

// The last runs are those of the list, whatever moves between the reads.
func TestLast_EqualsBeginningOfList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		h.patience, h.between = 0, func() {}
		s := &annals{history: h, away: rapid.Bool().Draw(t, "away")}
		view := NewView(h, nil, s)
		n := rapid.IntRange(1, 5).Draw(t, "n")
		last, partial, err := view.Last(t.Context(), []string{"a", "b", "none"}, n)
		if err != nil || partial != s.away {
			t.Fatalf("partial %v: %v", partial, err)
		}
		for _, job := range []string{"a", "b", "none"} {
			var want []common.Run
			for i := range h.runs {
				if h.at[i] > nowhere && (!s.away || h.at[i] <= inBoth) && h.runs[i].Job == job && len(want) < n {
					want = append(want, h.as(i))
				}
			}
			if !reflect.DeepEqual(last[job], want) {
				t.Fatalf("of %s: %v, want %v", job, last[job], want)
			}
		}
	})
}

// A change is listed at once, and once, also while it moves into the store.
func TestChanges_MovedBetweenReads_ListedOnce(t *testing.T) {
	change := func(n int, verb string) common.Change {
		return common.Change{ID: fmt.Sprintf("%02d", n), Kind: "job", Name: "a", Verb: verb}
	}
	ids := func(found []common.Change) (ids string) {
		for i := range found {
			ids += found[i].ID + " "
		}
		return ids
	}
	verbs := []string{"create", "replace"}
	for _, c := range []struct {
		name    string
		move    int // so many of those that wait move into the store between the looks
		before  string
		limit   int
		away    bool
		want    string
		partial bool
	}{
		{name: "all", limit: 10, want: "07 06 05 03 02 01 "},
		{name: "some move meanwhile", move: 2, limit: 10, want: "07 06 05 03 02 01 "},
		{name: "all move meanwhile", move: 4, limit: 10, want: "07 06 05 03 02 01 "},
		{name: "a page", limit: 2, want: "07 06 "},
		{name: "the page after it", before: "06", limit: 3, want: "05 03 02 "},
		{name: "the store is away", limit: 10, away: true, want: "07 06 05 03 ", partial: true},
	} {
		s := &annals{
			away:   c.away,
			stored: []common.Change{change(1, "create"), change(2, "replace"), change(3, "replace"), change(4, "run")},
			waiting: []common.Change{change(3, "replace"), change(5, "replace"), change(6, "create"),
				change(7, "replace"), change(8, "run")},
		}
		s.moves = func() {
			s.stored = append(s.stored, s.waiting[1:1+c.move]...) // the first one is there already
		}
		found, partial, err := NewChanges(s, s).Of(t.Context(), "job", "a", verbs, c.before, c.limit)
		if err != nil || ids(found) != c.want || partial != c.partial {
			t.Errorf("%s: %s(partial %v, %v), want %s", c.name, ids(found), partial, err, c.want)
		}
	}
	for _, c := range []struct {
		q    ChangeQuery
		move int
		away bool
		want string
	}{
		{q: ChangeQuery{Limit: 10}, want: "08 07 06 05 04 03 02 01 "},
		{q: ChangeQuery{Limit: 10}, move: 4, want: "08 07 06 05 04 03 02 01 "},
		{q: ChangeQuery{Limit: 3}, move: 2, want: "08 07 06 "},
		{q: ChangeQuery{Limit: 3, Before: "06"}, want: "05 04 03 "},
		{q: ChangeQuery{Limit: 10, Verb: "run", Kind: "job"}, want: "08 04 "},
		{q: ChangeQuery{Limit: 10, Name: "b"}, want: ""},
		{q: ChangeQuery{Limit: 10}, away: true, want: "08 07 06 05 03 "},
	} {
		s := &annals{
			away:   c.away,
			stored: []common.Change{change(1, "create"), change(2, "replace"), change(3, "replace"), change(4, "run")},
			waiting: []common.Change{change(3, "replace"), change(5, "replace"), change(6, "create"),
				change(7, "replace"), change(8, "run")},
		}
		s.stored[2].Link = &common.Link{Seq: 3}
		s.moves = func() { s.stored = append(s.stored, s.waiting[1:1+c.move]...) }
		found, partial, err := NewChanges(s, s).List(t.Context(), c.q)
		if err != nil || ids(found) != c.want || partial != c.away {
			t.Errorf("%+v: %s(partial %v, %v), want %s", c.q, ids(found), partial, err, c.want)
		}
		for i := range found {
			if found[i].ID == "03" && !c.away && found[i].Link == nil {
				t.Errorf("%+v: a sealed change is listed without its position", c.q)
			}
		}
	}
}

// abacus returns totals, and records the queries.
type abacus struct {
	asked []string
	from  time.Time
	away  bool
}

func (a *abacus) Rollups(context.Context, RollupQuery) ([]rollup.Row, error) { return nil, nil }

func (a *abacus) Totals(_ context.Context, jobs []string, from, _ time.Time) (map[string]rollup.Cell, error) {
	a.asked, a.from = append(a.asked, fmt.Sprint(jobs)), from
	if a.away {
		return nil, errAway
	}
	var c rollup.Cell
	for range EnoughRuns {
		c.Add(&common.Run{Status: common.StatusSucceeded, StartedAt: &nine, EndedAt: new(nine.Add(time.Second))})
	}
	return map[string]rollup.Cell{"a": c, "b": c}, nil
}

func TestHabits_AskedOften_QueriesOncePerMinute(t *testing.T) {
	store := &abacus{}
	now := nine.Add(30 * time.Minute)
	h := NewHabits(store, func() time.Time { return now })
	ask := func(jobs ...string) map[string]Usual {
		found, err := h.Of(t.Context(), jobs)
		if (err != nil) != store.away {
			t.Fatal(err)
		}
		return found
	}
	if found := ask("b", "a", "b", "a"); len(found) != 2 || found["a"].Samples != EnoughRuns ||
		found["a"].Fires[2] != EnoughRuns {
		t.Errorf("found %+v", found)
	}
	ask("a", "none")
	if found := ask("none", "a"); len(found) != 2 || found["none"].Samples != 0 {
		t.Errorf("of a job without runs: %+v", found)
	}
	if want := []string{"[a b]", "[none]"}; !slices.Equal(store.asked, want) ||
		!store.from.Equal(nine.Add(time.Hour-Recent)) {
		t.Errorf("asked %q from %v, want %q", store.asked, store.from, want)
	}
	now = now.Add(10 * time.Second)
	if ask("a", "none"); store.asked[len(store.asked)-1] != "[none]" {
		t.Errorf("a few seconds later asked %q: only a job with few runs is read again", store.asked)
	}
	now, store.away = now.Add(time.Minute), true
	if found := ask("a", "new"); len(found) != 1 || found["a"].Samples != EnoughRuns {
		t.Errorf("while the store is away: %+v", found)
	}
	store.away = false
	if found := ask("a", "new"); len(found) != 2 || store.asked[len(store.asked)-1] != "[a new]" {
		t.Errorf("when it is back: %+v, asked %q", found, store.asked)
	}
}
