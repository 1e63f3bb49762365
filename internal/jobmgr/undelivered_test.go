package jobmgr_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	auditetcd "carillon/internal/audit/etcd"
	"carillon/internal/common"
	"carillon/internal/runlog"
)

// live returns all changes that match a query.
func (s *story) live(q runlog.ChangeQuery) ([]common.Change, error) {
	found, partial, err := auditetcd.NewUnsealed(s.client, s.clock.now).LiveChanges(s.Context(), q,
		func(*common.Change) bool { return true })
	if partial {
		s.Error("partial")
	}
	return found, err
}

// The changes of a job are found among many others, each with the version that it created.
func TestLiveChanges(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	for n := range 150 {
		s.put(minutely(fmt.Sprintf("other-%03d", n)))
	}
	made := s.put(minutely("wanted"))
	s.raw(common.ChangeKey("zz-not-a-change"), "{")
	s.clock.forward(1)
	s.remove("wanted")
	s.clock.forward(1)
	again := s.put(minutely("wanted"))
	found, err := s.live(runlog.ChangeQuery{Kind: "job", Name: "wanted"})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 3 || found[2].Verb != "create" || found[2].Revision != made.Version || found[1].Verb != "delete" ||
		found[0].Revision != again.Version || found[0].Actor.Name == "" {
		t.Errorf("found %+v", found)
	}
	if all, err := s.live(runlog.ChangeQuery{}); err != nil || len(all) != 153 {
		t.Errorf("%d of 153 changes in all, %v", len(all), err)
	}
	if none, err := s.live(runlog.ChangeQuery{Kind: "worker", Name: "wanted"}); err != nil || len(none) != 0 {
		t.Errorf("changes of another kind: %+v, %v", none, err)
	}
}

// For any distribution of changes over time, the pages together are the complete list, the newest first.
func TestLiveChangesInPages(t *testing.T) {
	s := newStory(t)
	var ids []string
	var ops []clientv3.Op
	at := s.clock.now()
	for n := range 3000 {
		switch { // some at one instant, most after a while, some after a year
		case n%1000 == 999:
			at = at.Add(-365 * 24 * time.Hour)
		case n > 500:
			at = at.Add(-time.Duration(rand.Int64N(int64(10 * time.Second))))
		}
		change, err := common.NewChange(at, actor, []string{"replace", "run"}[n%2], "job",
			fmt.Sprintf("j%d", n%7), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, change.ID)
		ops = append(ops, clientv3.OpPut(common.ChangeKey(change.ID), encode(t, change)))
	}
	for part := range slices.Chunk(ops, 100) {
		if _, err := s.client.Txn(t.Context()).Then(part...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	for _, limit := range []int{1, 100, 701} {
		var got []string
		for before := ""; ; {
			page, err := s.live(runlog.ChangeQuery{Before: before, Limit: limit})
			if err != nil || len(page) > limit {
				t.Fatalf("%d of %d, %v", len(page), limit, err)
			}
			for i := range page {
				got = append(got, page[i].ID)
			}
			if len(page) < limit || limit == 1 && len(got) == 20 {
				break
			}
			before = page[limit-1].ID
		}
		if want := ids[:len(got)]; limit > 1 && len(got) != len(ids) || !slices.Equal(got, want) {
			t.Errorf("pages of %d: %d changes, or in another order", limit, len(got))
		}
	}
	query := runlog.ChangeQuery{Kind: "job", Name: "j3", Limit: 10_000}
	of, _, err := auditetcd.NewUnsealed(s.client, s.clock.now).LiveChanges(t.Context(), query,
		func(c *common.Change) bool {
			return c.Verb == "run"
		})
	if err != nil || len(of) < 200 || slices.ContainsFunc(of, func(c common.Change) bool {
		return c.Name != "j3" || c.Verb != "run"
	}) {
		t.Errorf("%d changes of one job, %v", len(of), err)
	}
	to, from := s.clock.now().Add(-5*time.Minute), s.clock.now().Add(-25*time.Minute)
	within, err := s.live(runlog.ChangeQuery{From: from, To: to})
	n := 0
	for _, id := range ids {
		if id >= common.TimeKey(from) && id < common.TimeKey(to) {
			n++
		}
	}
	if err != nil || len(within) != n || n == 0 {
		t.Errorf("%d of %d changes within that time, %v", len(within), n, err)
	}
	if late, err := s.live(runlog.ChangeQuery{
		To:    time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC),
		Limit: 5,
	}); err != nil || len(late) != 5 {
		t.Errorf("%d changes before 2500, %v", len(late), err)
	}
}
