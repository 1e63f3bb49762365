package jobmgr_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

// A pause beyond the representable times is refused; one that was stored nevertheless lasts.
func TestPause_BeyondRepresentableTimes_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	until := time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC)
	job := s.put(minutely("a"))
	_, err := s.store.Pause(t.Context(), actor, "a", common.PauseRequest{Note: "n", Until: &until}, any0)
	wantCode(t, "a pause until 2500", err, common.CodeInvalid)
	job.Paused, job.PauseNote, job.PauseUntil = true, "n", &until
	s.raw(common.JobKey("a"), encode(t, job.StoredJob))
	eventually(t, "the pause is listed", func() bool {
		names, _ := s.pages(common.JobQuery{Phase: common.PhasePaused})
		return len(names) == 1
	})
}

// Every order, with every filter, lists each job once and in order, for any page size.
func TestListOrders(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	until := s.clock.now().Add(time.Hour)
	for i, job := range []common.Job{
		{Name: "d", CronExpr: "30 12 * * *", Group: "b", Labels: map[string]string{"team": "x"}},
		{Name: "a", CronExpr: "0 13 * * *", Group: "c"},
		{Name: "c", Group: "b", Labels: map[string]string{"team": "y", "tier": "1"}},
		{Name: "b", CronExpr: "30 12 * * *", Labels: map[string]string{"team": "x", "tier": "2"}},
		{Name: "e", CronExpr: "* * * * *", Group: "a", Paused: true, PauseNote: "n", PauseUntil: &until},
		{Name: "f", CronExpr: "* * * * *", Group: "a", Paused: true, PauseNote: "n"},
	} {
		job.Command = "true"
		s.clock.forward(time.Duration(i) * time.Second)
		s.put(job)
	}
	for _, c := range []struct {
		q    common.JobQuery
		want string
	}{
		{common.JobQuery{Descending: true}, "f e d c b a"},
		{common.JobQuery{Order: common.OrderUpdated}, "d a c b e f"},
		{common.JobQuery{Order: common.OrderUpdated, Descending: true}, "f e b c a d"},
		{common.JobQuery{Order: common.OrderGroup}, "b e f c d a"},
		{common.JobQuery{Order: common.OrderGroup, Descending: true}, "a d c f e b"},
		{common.JobQuery{Selector: "team=x"}, "b d"},
		{common.JobQuery{Selector: "team", Order: common.OrderUpdated}, "d c b"},
		{common.JobQuery{Selector: "!team"}, "a e f"},
		{common.JobQuery{Phase: common.PhasePaused}, "e f"},
		{common.JobQuery{Phase: common.PhaseManual}, "c"},
		{common.JobQuery{Phase: common.PhaseActive, Group: "b"}, "d"},
		{common.JobQuery{Phase: common.PhaseDone}, ""},
		{common.JobQuery{Ungrouped: true}, "b"},
	} {
		for _, limit := range []int{0, 1, 2, 3, 6} {
			c.q.Limit = limit
			names, _ := s.pages(c.q)
			if got := fmt.Sprint(names); got != "["+c.want+"]" {
				t.Errorf("%+v: %s, want %s", c.q, got, c.want)
			}
		}
	}
	// Ordered by the next fire; f does not fire, and c has no schedule.
	names, _ := s.pages(common.JobQuery{Order: common.OrderNextFire, Limit: 2})
	if len(names) != 6 || !slices.Equal(names[4:], []string{"c", "f"}) ||
		slices.Index(names, "b") > slices.Index(names, "d") {
		t.Error(names)
	}
	s.clock.forward(2 * time.Hour)
	if names, _ := s.pages(common.JobQuery{Phase: common.PhasePaused}); !slices.Equal(names, []string{"f"}) {
		t.Errorf("paused after the end of a pause: %v", names)
	}
	if names, _ := s.pages(common.JobQuery{Order: common.OrderNextFire}); names[0] != "e" {
		t.Errorf("first to fire after the end of its pause: %v", names)
	}
	if _, _, err := s.store.List(t.Context(),
		common.JobQuery{Selector: "="}); common.CodeOf(err) != common.CodeInvalid {
		t.Error(err)
	}
}

// Jobs below a group, the total of a query, and any position in a list.
func TestListBelowAndFrom(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	for i, group := range []string{"data", "data.etl", "data-lake", "data_x", "database", "other", ""} {
		s.put(common.Job{Name: fmt.Sprintf("j%d", i), Group: group, Command: "true"})
	}
	list := func(q common.JobQuery) string {
		page, _, err := s.store.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		names := make([]string, len(page))
		for i := range page {
			names[i] = page[i].Name
		}
		return strings.Join(names, " ")
	}
	for _, c := range []struct {
		q     common.JobQuery
		total int
		want  string
	}{
		{common.JobQuery{Below: "data"}, 3, "j0 j1 j2"},
		{common.JobQuery{Below: "data.etl"}, 1, "j1"},
		{common.JobQuery{Below: "dat"}, 0, ""},
		{common.JobQuery{Ungrouped: true}, 1, "j6"},
		{common.JobQuery{Skip: 2, Limit: 3}, 7, "j2 j3 j4"},
		{common.JobQuery{Skip: 5, Limit: 3}, 7, "j5 j6"},
		{common.JobQuery{Skip: 7, Limit: 3}, 7, ""},
		{common.JobQuery{Skip: math.MaxInt, Limit: 3, Order: common.OrderNextFire}, 7, ""},
		{common.JobQuery{Skip: 2, Limit: 3, Descending: true}, 7, "j4 j3 j2"},
		{common.JobQuery{Skip: 1, Limit: 2, Order: common.OrderGroup}, 7, "j0 j2"},
		{common.JobQuery{Skip: 4, Limit: 5, Order: common.OrderGroup, Descending: true}, 7, "j2 j0 j6"},
		{common.JobQuery{Skip: 1, Below: "data", Limit: 1}, 3, "j1"},
	} {
		if got := list(c.q); got != c.want {
			t.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
		if total, err := s.store.Count(t.Context(), c.q); err != nil || total != c.total {
			t.Errorf("%+v: %d in all, want %d: %v", c.q, total, c.total, err)
		}
	}
	if _, err := s.store.Count(t.Context(), common.JobQuery{Selector: "="}); common.CodeOf(err) != common.CodeInvalid {
		t.Error(err)
	}
}
