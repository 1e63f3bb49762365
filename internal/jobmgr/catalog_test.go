package jobmgr_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
)

// pages reads a whole list, page by page.
func (s *story) pages(q common.JobQuery) (names []string, sizes []int) {
	s.Helper()
	for {
		page, next, err := s.store.List(s.Context(), q)
		if err != nil {
			s.Fatal(err)
		}
		for i := range page {
			names = append(names, page[i].Name)
		}
		sizes = append(sizes, len(page))
		if next == "" {
			return names, sizes
		}
		q.After = next
	}
}

func TestCatalogTitle(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(common.Job{Name: "a", Title: "每晚 \"报表\"", Command: "true"})
	s.put(common.Job{Name: "b", Description: "no title", Command: "true", Labels: map[string]string{"title": "x"}})
	wants := func(name, title string) {
		t.Helper()
		eventually(t, "the title of "+name, func() bool { return s.catalog.Title(name) == title && s.catalog.Has("b") })
	}
	wants("a", "每晚 \"报表\"")
	wants("b", "")
	wants("none", "")
	s.put(common.Job{Name: "a", Title: "Reports", Command: "true"})
	wants("a", "Reports")
	s.remove("a")
	wants("a", "")
}

// The counts of a master follow each change of a job.
func TestCatalogCounts(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	wants := func(what string, paused int, needs ...string) {
		t.Helper()
		eventually(t, what, func() bool {
			return s.catalog.Paused(s.clock.now()) == paused && slices.Equal(s.catalog.Needs(), needs)
		})
	}
	detach := common.Job{Name: "a", Command: "true", OnLost: common.LostDetach}
	s.put(detach)
	s.put(common.Job{Name: "b", Command: "true"})
	wants("one job needs a feature", 0, common.FeatureDetach)
	detach.Name = "c"
	s.put(detach)
	s.put(common.Job{Name: "a", Command: "true"})
	wants("both jobs need it", 0, common.FeatureDetach)
	s.remove("c")
	wants("no job needs it any more", 0)
	for name, until := range map[string]*time.Time{"a": nil, "b": new(s.clock.now().Add(time.Hour))} {
		if _, err := s.store.Pause(t.Context(), actor, name, common.PauseRequest{Note: "why not", Until: until},
			any0); err != nil {
			t.Fatal(err)
		}
	}
	wants("both are paused", 2)
	s.clock.forward(time.Hour)
	wants("one pause has ended by itself", 1)
}

func TestListOrderPagesAndFilters(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	for _, job := range []common.Job{
		{Name: "b", Group: "g"}, {Name: "a-b"}, {Name: "a", Title: "Nightly Report"}, {Name: "a.b", Group: "g"},
		{Name: "c", Group: "g2", Title: "ÄRGER"},
		{Name: "report-2", Group: "g"},
	} {
		job.Command = "true"
		s.put(job)
	}
	all := []string{"a", "a-b", "a.b", "b", "c", "report-2"}
	for _, c := range []struct {
		q     common.JobQuery
		want  []string
		sizes []int
	}{
		{common.JobQuery{}, all, []int{6}},
		{common.JobQuery{Limit: 6}, all, []int{6}}, // no empty page at the end
		{common.JobQuery{Limit: 4}, all, []int{4, 2}},
		{common.JobQuery{Limit: 1}, all, []int{1, 1, 1, 1, 1, 1}},
		{common.JobQuery{Group: "g"}, []string{"a.b", "b", "report-2"}, []int{3}},
		{common.JobQuery{Group: "g", Limit: 3}, []string{"a.b", "b", "report-2"}, []int{3}},
		{common.JobQuery{Group: "none"}, nil, []int{0}},
		{common.JobQuery{Q: "REPORT"}, []string{"a", "report-2"}, []int{2}},
		{common.JobQuery{Q: "report", Limit: 1}, []string{"a", "report-2"}, []int{1, 1}},
		{common.JobQuery{Q: "ärg"}, []string{"c"}, []int{1}},
		{common.JobQuery{Q: "b", Group: "g"}, []string{"a.b", "b"}, []int{2}},
		{common.JobQuery{After: "a.a"}, []string{"a.b", "b", "c", "report-2"}, []int{4}},
		{common.JobQuery{After: "z"}, nil, []int{0}},
	} {
		if names, sizes := s.pages(c.q); !slices.Equal(names, c.want) || !slices.Equal(sizes, c.sizes) {
			t.Errorf("%+v: %v in pages of %v, want %v in %v", c.q, names, sizes, c.want, c.sizes)
		}
	}
}

// While jobs are created and deleted, each of the others is listed once and in order.
func TestPages_ConcurrentChanges_ListEachJobOnce(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	var stay []string
	for i := range 120 {
		stay = append(stay, fmt.Sprintf("j%03d", i))
		s.put(common.Job{Name: stay[i], Command: "true"})
	}
	var stop atomic.Bool
	changing := make(chan struct{})
	other := s.master(s.catalog)
	go func() {
		defer close(changing)
		for i := 0; !stop.Load() && t.Context().Err() == nil; i++ {
			name := fmt.Sprintf("j%03d-x", i*37%120)
			if _, err := other.Create(t.Context(), actor, common.Job{Name: name, Command: "true"}); err != nil {
				t.Error(err)
			}
			if err := other.Delete(t.Context(), actor, name, any0, common.DeleteRequest{}); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 20 {
		names, _ := s.pages(common.JobQuery{Limit: 7})
		if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Fatalf("out of order, or twice: %v", names)
		}
		if names = slices.DeleteFunc(names, func(n string) bool { return len(n) > 4 }); !slices.Equal(names, stay) {
			t.Fatalf("%d of %d jobs were listed", len(names), len(stay))
		}
	}
	stop.Store(true)
	<-changing
}

// A master's list shows its own writes at once. Only a list that waited its whole second may be behind: on a machine
// that is busy, such a list is read again.
func TestListReadsItsOwnWrites(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	list := func(q common.JobQuery) (names []string) {
		for {
			began := time.Now()
			if names, _ = s.pages(q); time.Since(began) < time.Second {
				return names
			}
		}
	}
	for i := range 50 {
		name := fmt.Sprintf("j%d", i)
		s.put(common.Job{Name: name, Command: "true"})
		if names := list(common.JobQuery{}); !slices.Contains(names, name) {
			t.Fatalf("%s is not listed", name)
		}
		s.put(common.Job{Name: name, Command: "true", Title: "changed"})
		if names := list(common.JobQuery{Q: "changed"}); len(names) != 1 {
			t.Fatalf("the change of %s is not listed", name)
		}
		s.remove(name)
		if names := list(common.JobQuery{}); slices.Contains(names, name) {
			t.Fatalf("%s is still listed", name)
		}
	}
}

// A list waits for changes of jobs only: no watch notifies the catalog of others.
func TestListDoesNotWaitForTriggers(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("a"))
	trigger := s.trigger("a")
	eventually(t, "the catalog is up to date after a trigger", s.store.UpToDate)
	if err := s.store.Kill(t.Context(), actor, trigger.RunID(), common.KillRequest{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the catalog is up to date after a kill", s.store.UpToDate)
	s.remove("a")
	eventually(t, "the catalog is up to date after a delete", s.store.UpToDate)
}

func TestCatalogReportsBadJobs(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("good"))
	turned := s.put(minutely("turned"))
	eventually(t, "the catalog has both", s.store.UpToDate)
	s.raw(common.JobKey("broken"), "{")
	s.raw(common.JobKey("headless"), encode(t, common.StoredJob{Job: minutely("headless"), UID: "u1"}))
	s.raw(common.JobKey("turned"), "[]")
	bad := func() []string {
		var names []string
		for name, err := range s.catalog.Bad() {
			if err == nil {
				t.Errorf("%s is bad without a reason", name)
			}
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	eventually(t, "three jobs are bad", func() bool {
		return slices.Equal(bad(), []string{"broken", "headless", "turned"})
	})
	if names, _ := s.pages(common.JobQuery{}); !slices.Equal(names, []string{"good"}) {
		t.Fatalf("listed: %v", names)
	}
	if _, known := s.catalog.Name(turned.UID); known {
		t.Fatal("a job that cannot be read has kept its uid")
	}
	s.remove("broken")
	s.remove("headless")
	s.raw(common.JobKey("turned"), encode(t, turned.StoredJob)) // repaired: its cursor still exists
	eventually(t, "none is bad", func() bool { return len(bad()) == 0 })
	if jobs, n := s.catalog.Len(); jobs != 2 || n != 0 {
		t.Fatalf("%d jobs, %d bad", jobs, n)
	}
	if name, known := s.catalog.Name(turned.UID); !known || name != "turned" {
		t.Fatalf("the repaired job is %q", name)
	}
}

func BenchmarkStorePut(b *testing.B) {
	s := newStory(b)
	job := minutely("a")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		job.Title = fmt.Sprint(i)
		s.put(job)
	}
}
