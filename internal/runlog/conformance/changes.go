package conformance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

func changes(t *testing.T, s Store, _ Size) {
	var all []common.Change // the newest last
	for i := range 20 {
		c := common.Change{
			ID:    fmt.Sprintf("%s-%d", common.TimeKey(base.Add(time.Duration(i/2))), i),
			At:    base.Add(time.Duration(i / 2)),
			Actor: common.Actor{Name: []string{"admin <&>", "me"}[i/3%2], Remote: "[::1]:9"},
			Verb:  []string{"replace", "create", "run"}[i%3],
			Kind:  []string{"job", "token"}[i%2],
			Name:  []string{"a", "b", "a.b"}[i%3],
		}
		// Byte for byte: spaces, order, escapes and big numbers stay.
		if i%4 != 0 {
			c.Before = []byte(`{ "b":1,"a" : "<&>\u003c", "n": 12345678901234567890.10 }`)
		}
		if i%4 != 1 {
			c.After = []byte("[1,\n 2]")
		}
		all = append(all, c)
	}
	write(t, s, runlog.Batch{Changes: all[10:]})
	write(t, s, runlog.Batch{Changes: all[:12]})
	slices.Reverse(all)

	for _, q := range []runlog.ChangeQuery{
		{}, {Limit: 3}, {Kind: "job"}, {Name: "a"}, {Kind: "job", Name: "a"}, {Kind: "job", Name: "a", Limit: 2},
		{Before: all[5].ID}, {Kind: "token", Before: all[5].ID, Limit: 4},
		{Kind: "token", Name: "b", Before: all[7].ID},
		{Before: all[19].ID}, {Kind: "none"}, {Verb: "create"}, {Verb: "CREATE"}, {Actor: "me"},
		{Actor: "me", Verb: "run", Limit: 1}, {Actor: "\xff"},
		{From: all[8].At}, {To: all[8].At}, {From: all[12].At, To: all[5].At}, {From: all[5].At, To: all[12].At},
		{From: all[5].At, Limit: 2},
		{Kind: "job", Verb: "replace", Actor: "admin <&>", From: all[15].At, To: all[2].At, Before: all[3].ID},
		{Kind: "job", Name: "a", Actor: "me"}, {Kind: "job", Names: []string{"a", "a.b", "none"}},
		{Kind: "token", Names: []string{"b"}, Limit: 2}, {Names: []string{"a", "b"}, Verb: "replace"},
	} {
		var want []common.Change
		for _, c := range all {
			if (q.Kind == "" || c.Kind == q.Kind) && (q.Name == "" || c.Name == q.Name) &&
				(len(q.Names) == 0 || slices.Contains(q.Names, c.Name)) &&
				(q.Before == "" || c.ID < q.Before) &&
				(q.Verb == "" || c.Verb == q.Verb) && (q.Actor == "" || c.Actor.Name == q.Actor) &&
				(q.From.IsZero() || !c.At.Before(q.From)) && (q.To.IsZero() || c.At.Before(q.To)) &&
				(q.Limit == 0 || len(want) < q.Limit) {
				want = append(want, c)
			}
		}
		got, err := s.Changes(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("changes %+v", q), got, want)
	}
}

// Sealed changes are found by their position in the chain, and deleted by it alone.
func sealed(t *testing.T, s Store, _ Size) {
	var all []common.Change
	for i := range 12 {
		at := base.Add(time.Duration(i) * time.Hour)
		c := common.Change{
			ID:    fmt.Sprintf("%s-%d", common.TimeKey(at), i),
			At:    at,
			Verb:  "create",
			Kind:  "job",
			Name:  "a",
			After: []byte(`{"n": 1}`),
		}
		if i != 3 && i != 7 { // written by an older version, or not sealed
			c.Link = &common.Link{
				Seq:      int64(len(all) + 1),
				Previous: fmt.Sprintf("%x", i),
				Hash:     fmt.Sprintf("%x", i+1),
				Text: fmt.Sprintf(
					`{ "after":"abc", "at":%q,"id":%q,"kind":"job","name":"a","seq":1,"unknown":[1], "verb":"create","actor":{"name":""}}`, at.Format(time.RFC3339Nano), c.ID),
			}
		}
		all = append(all, c)
	}
	write(t, s, runlog.Batch{Changes: all[6:]})
	write(t, s, runlog.Batch{Changes: all[:8]}) // in any order, and twice
	list := func(after int64, limit int, want ...common.Change) {
		t.Helper()
		got, err := s.Sealed(t.Context(), after, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 && len(want) == 0 {
			return
		}
		same(t, fmt.Sprintf("%d after %d", limit, after), got, want)
	}
	chain := slices.DeleteFunc(slices.Clone(all), func(c common.Change) bool { return c.Link == nil })
	list(0, 100, chain...)
	list(-1, 2, chain[:2]...)
	list(chain[4].Link.Seq, 3, chain[5:8]...)
	list(chain[9].Link.Seq, 3)
	got, err := s.Changes(t.Context(), runlog.ChangeQuery{Kind: "job"})
	slices.Reverse(got)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "changes", got, all)

	tidied(t, s, runlog.Tidy{Changes: base.AddDate(1, 0, 0), Sealed: chain[2].Link.Seq})
	list(0, 100, chain[3:]...)
	if got, err = s.Changes(t.Context(), runlog.ChangeQuery{}); err != nil || len(got) != len(chain)-3 {
		t.Errorf("%d changes are left, %v", len(got), err)
	}
	for _, bad := range []common.Link{{}, {Seq: -1}, {Seq: 1, Hash: "\xff"}} {
		wantCode(t, "an invalid position", s.Write(t.Context(),
			runlog.Batch{Changes: []common.Change{{ID: "x", Link: &bad}}}), common.CodeInvalid)
	}
}
