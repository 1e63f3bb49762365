package jobmgr_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/jobmgr/catalog"
)

// table holds what a receiver of the watcher's updates knows.
type table struct {
	mu      sync.Mutex
	jobs    map[string]common.JobState
	bad     map[string]error
	wholes  int
	updates int
	worst   []catalog.BadJob // all jobs that were ever bad
	last    catalog.Update
	trouble []error
}

func (r *table) receive(_ context.Context, u catalog.Update) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.updates++
	r.last = u
	if u.Whole {
		r.wholes++
		clear(r.jobs)
		clear(r.bad)
	}
	for _, j := range u.Jobs {
		delete(r.bad, j.Name)
		r.jobs[j.Name] = j
	}
	r.worst = append(r.worst, u.Bad...)
	for _, b := range u.Bad {
		delete(r.jobs, b.Name)
		r.bad[b.Name] = b.Err
	}
	for _, name := range u.Gone {
		delete(r.jobs, name)
		delete(r.bad, name)
	}
	return nil
}

// has waits until the table has the jobs of these names, with their cursors, and the bad ones.
func (r *table) has(t testing.TB, bad []string, cursors map[string]time.Time) {
	t.Helper()
	eventually(t, fmt.Sprintf("the table has %d jobs and %v are bad", len(cursors), bad), func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		got := map[string]time.Time{}
		for name, j := range r.jobs {
			got[name] = j.Cursor
		}
		return maps.EqualFunc(got, cursors, time.Time.Equal) && slices.Equal(slices.Sorted(maps.Keys(r.bad)), bad)
	})
}

func (r *table) count() (wholes, troubles int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wholes, len(r.trouble)
}

// watch runs a watcher until the test ends.
func watch(t testing.TB, client *clientv3.Client, silence time.Duration) *table {
	r := &table{jobs: map[string]common.JobState{}, bad: map[string]error{}}
	w := catalog.NewWatcher(client, func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil {
			r.trouble = append(r.trouble, err)
		}
	})
	w.Silence = silence
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.Run(ctx, r.receive) }()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

func TestWatcherDeliversAllThenChanges(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("a"))
	s.put(minutely("b"))
	s.raw(common.JobKey("broken"), "{")
	s.raw(common.JobKey("misnamed"), encode(t, common.StoredJob{Job: minutely("other"), UID: "u1"}))
	s.raw(common.JobKey("headless"), encode(t, common.StoredJob{Job: minutely("headless"), UID: "u2"}))
	s.raw(common.JobKey("no-time"), encode(t, common.StoredJob{Job: minutely("no-time"), UID: "u3"}))
	s.raw(common.CursorKey("no-time"), "yesterday")
	bad := []string{"broken", "headless", "misnamed", "no-time"}
	r := watch(t, s.client, 0)
	r.has(t, bad, map[string]time.Time{"a": noon, "b": noon})

	s.clock.forward(time.Minute)
	at := s.clock.now()
	job := minutely("b")
	job.CronExpr = "@daily"
	state := s.put(job)
	s.put(minutely("c"))
	r.has(t, bad, map[string]time.Time{"a": noon, "b": at, "c": at})
	r.mu.Lock()
	got := r.jobs["b"]
	r.mu.Unlock()
	if got.Version != state.Version || got.UID != state.UID || got.CronExpr != "@daily" {
		t.Fatalf("received %+v, want %+v", got, state)
	}
	s.remove("a")
	s.remove("broken")
	s.raw(common.JobKey("c"), "{")
	r.has(t, []string{"c", "headless", "misnamed", "no-time"}, map[string]time.Time{"b": at})
	s.remove("headless")
	s.put(minutely("headless")) // it is repaired
	r.has(t, []string{"c", "misnamed", "no-time"}, map[string]time.Time{"b": at, "headless": at})
	if wholes, troubles := r.count(); wholes != 1 || troubles != 0 {
		t.Fatalf("%d whole tables, %d troubles: bad jobs are no reason to list again", wholes, troubles)
	}
}

// A job that is deleted while its cursor is being read is not broken.
func TestWatcherRacingWithDeletions(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("stays"))
	r := watch(t, s.client, 0)
	for i := range 150 {
		name := fmt.Sprintf("j%d", i%3)
		s.put(minutely(name))
		s.remove(name)
	}
	s.put(minutely("last"))
	r.has(t, nil, map[string]time.Time{"stays": noon, "last": noon})
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.worst) != 0 {
		t.Fatalf("%d jobs were reported as broken: %v", len(r.worst), r.worst[0])
	}
}

// The cursor of a job is not read when the job is created; it is read for a list, and for a job without a
// creation time.
func TestWatcherDeliversNewJobs(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	r := watch(t, s.client, 0)
	eventually(t, "there is a list", func() bool { wholes, _ := r.count(); return wholes == 1 })
	moved := noon.Add(time.Hour)
	for name, created := range map[string]time.Time{"new": noon, "old": {}} {
		if _, err := s.client.Txn(t.Context()).Then(
			clientv3.OpPut(common.JobKey(name), encode(t, common.StoredJob{
				Job:       minutely(name),
				UID:       name,
				CreatedAt: created,
			})),
			clientv3.OpPut(common.CursorKey(name), common.TimeKey(moved))).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	r.has(t, nil, map[string]time.Time{"new": noon, "old": moved})
	watch(t, s.client, 0).has(t, nil, map[string]time.Time{"new": moved, "old": moved})
}

func TestWatcherPagesManyJobs(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	const n = 3000
	want := make(map[string]time.Time, n)
	for first := 0; first < n; first += 50 {
		ops := make([]clientv3.Op, 0, 100)
		for i := first; i < first+50; i++ {
			name := fmt.Sprintf("j%05d", i)
			want[name] = noon.Add(time.Duration(i) * time.Second)
			ops = append(ops, clientv3.OpPut(common.JobKey(name),
				encode(t, common.StoredJob{Job: minutely(name), UID: "u-" + name})),
				clientv3.OpPut(common.CursorKey(name), common.TimeKey(want[name])))
		}
		if _, err := s.client.Txn(t.Context()).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	r := watch(t, s.client, 0)
	r.has(t, nil, want)
	r.mu.Lock()
	if r.updates != 2 || r.last.Whole || r.last.More || len(r.last.Jobs) != n-2000 {
		t.Errorf("%d updates, the last with %d jobs", r.updates, len(r.last.Jobs))
	}
	r.mu.Unlock()
	// A job saved many at a time: more of them than one transaction may read cursors of.
	ops := make([]clientv3.Op, 0, 120)
	for i := range 120 {
		name := fmt.Sprintf("j%05d", i)
		ops = append(ops, clientv3.OpPut(common.JobKey(name),
			encode(t, common.StoredJob{Job: minutely(name), UID: "v-" + name})))
	}
	if _, err := s.client.Txn(t.Context()).Then(ops...).Commit(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all changes are delivered", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.jobs["j00000"].UID == "v-j00000" && r.jobs["j00119"].UID == "v-j00119" &&
			r.jobs["j00120"].UID == "u-j00120"
	})
	r.has(t, nil, want)
}

// While a watcher is disconnected, changes that it has not received are compacted: it delivers the complete
// list again, which corrects all that it missed, including deletions.
func TestWatcherDeliversAllAgainAfterACut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		silence time.Duration
		cut     func(testing.TB, *etcdtest.Link, *table)
		mend    func(*etcdtest.Link)
	}{
		{"connections closed", 0, func(_ testing.TB, l *etcdtest.Link, _ *table) { l.Cut() }, (*etcdtest.Link).Join},
		{"silent", 600 * time.Millisecond, func(t testing.TB, l *etcdtest.Link, r *table) {
			l.Hang()
			eventually(t, "the silence is noticed", func() bool { _, troubles := r.count(); return troubles > 0 })
		}, (*etcdtest.Link).Unhang},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := ownStory(t)
			s.put(minutely("stays"))
			s.put(minutely("goes"))
			s.put(minutely("changes"))
			link, client := etcdtest.NewLink(t, s.server)
			r := watch(t, client, c.silence)
			r.has(t, nil, map[string]time.Time{"stays": noon, "goes": noon, "changes": noon})
			s.put(minutely("first")) // the watch is up
			r.has(t, nil, map[string]time.Time{"stays": noon, "goes": noon, "changes": noon, "first": noon})

			c.cut(t, link, r)
			s.clock.forward(time.Minute)
			s.remove("goes")
			job := minutely("changes")
			job.CronExpr = "@daily"
			s.put(job)
			s.put(minutely("comes"))
			if _, err := s.client.Compact(t.Context(), s.revision()); err != nil {
				t.Fatal(err)
			}
			c.mend(link)
			at := s.clock.now()
			r.has(t, nil, map[string]time.Time{"stays": noon, "changes": at, "first": noon, "comes": at})
			if wholes, troubles := r.count(); wholes < 2 || troubles == 0 {
				t.Fatalf("%d whole tables, %d troubles", wholes, troubles)
			}
			s.put(minutely("after"))
			r.has(t, nil, map[string]time.Time{"stays": noon, "changes": at, "first": noon, "comes": at, "after": at})
		})
	}
}

// An error of the receiver ends the watcher, and so does the context.
func TestWatcherEnds(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	w := catalog.NewWatcher(s.client, func(err error) {
		if err != nil {
			t.Error(err)
		}
	})
	refusal := common.Errorf(common.CodeInternal, "no more")
	if err := w.Run(t.Context(), func(context.Context, catalog.Update) error {
		return refusal
	}); !errors.Is(err, refusal) {
		t.Fatalf("ended with %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err := w.Run(ctx, func(context.Context, catalog.Update) error { cancel(refusal); return nil })
	if !errors.Is(err, refusal) {
		t.Fatalf("ended with %v", err)
	}
}
