package jobmgr_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/jobmgr"
	"carillon/internal/jobmgr/live"
	"carillon/internal/runlog"
)

// shelf is a log store that holds some runs, or does not answer.
type shelf struct {
	runlog.Reader
	runs []common.Run
	away bool
}

func (s *shelf) Runs(_ context.Context, q runlog.Query) (found runlog.Found, err error) {
	if s.away {
		return found, common.Errorf(common.CodeUnavailable, "away")
	}
	for i := range s.runs {
		if q.Matches(&s.runs[i]) {
			found.Runs = append(found.Runs, s.runs[i])
		}
	}
	slices.SortFunc(found.Runs, q.CompareRuns)
	if q.Limit > 0 && len(found.Runs) > q.Limit {
		found.Runs = found.Runs[:q.Limit]
	}
	return found, nil
}

func (s *shelf) Last(ctx context.Context, jobs []string, n int) (map[string][]common.Run, error) {
	last := map[string][]common.Run{}
	for _, job := range jobs {
		found, err := s.Runs(ctx, runlog.Query{Job: job, Limit: n})
		if err != nil {
			return nil, err
		}
		if len(found.Runs) > 0 {
			last[job] = found.Runs
		}
	}
	return last, nil
}

func (s *shelf) Run(_ context.Context, id string) (common.Run, error) {
	if s.away {
		return common.Run{}, common.Errorf(common.CodeUnavailable, "away")
	}
	if i := slices.IndexFunc(s.runs, func(r common.Run) bool { return r.ID == id }); i >= 0 {
		return s.runs[i], nil
	}
	return common.Run{}, common.Errorf(common.CodeNotFound, "no run %s", id)
}

// nothingDue is a plan without fires.
type nothingDue struct{}

func (nothingDue) Due(context.Context, *runlog.FireQuery) ([]common.Fire, bool, error) {
	return nil, true, nil
}
func (nothingDue) Planned(context.Context, *runlog.FireQuery) ([]common.Fire, bool, error) {
	return nil, true, nil
}

// outcomes draws runs of all kinds: planned fires with one attempt and with several, triggered ones, gap
// entries, and skipped fires.
func outcomes(random *rand.Rand, n int) (runs []common.Run) {
	jobs := []common.Run{{Job: "a", JobUID: "uid-a", Group: "ops"}, {Job: "b", JobUID: "uid-b"},
		{Job: "b", JobUID: "uid-b2"}, {Job: "c", JobUID: "c", Group: "ops"}}
	exits := []*int{nil, new(0), new(1)}
	for seen := map[string]bool{}; len(runs) < n; {
		run := jobs[random.IntN(len(jobs))]
		run.PlannedAt = noon.Add(time.Duration(random.IntN(n/3)) * time.Second)
		run.Status = common.Statuses[2+random.IntN(len(common.Statuses)-2)]
		run.Cause = common.Causes[random.IntN(len(common.Causes))]
		run.Worker = fmt.Sprint("w", random.IntN(3))
		run.ExitCode = exits[random.IntN(3)]
		run.Note = fmt.Sprint("note ", random.IntN(10))
		attempts := 1
		switch kind := random.IntN(10); kind {
		case 0:
			run = common.PassedOver(&common.JobState{
				StoredJob: common.StoredJob{Job: common.Job{Name: run.Job, Group: run.Group}, UID: run.JobUID},
				Cursor:    run.PlannedAt.Add(-time.Hour),
			}, run.PlannedAt, int64(1+random.IntN(3)), common.StatusMissed, common.Reason{Code: common.ReasonLate,
				Text: "note 3"})
			attempts = 0
		case 1:
			run.Fire = common.TriggeredFire(run.JobUID, common.NewID())
		default:
			run.Fire = common.PlannedFire(run.JobUID, run.PlannedAt)
			if kind < 4 {
				attempts = 1 + random.IntN(11)
			}
		}
		if seen[run.Fire] {
			continue
		}
		seen[run.Fire] = true
		if attempts == 0 {
			runs = append(runs, run)
		}
		for i := range attempts {
			run.Attempt = i + 1
			run.ID = common.RunID(run.Fire, run.Attempt)
			if run.Status = common.StatusFailed; i == attempts-1 {
				run.Status = common.Statuses[2+random.IntN(len(common.Statuses)-2)]
			}
			runs = append(runs, run)
		}
	}
	return runs
}

// inOutboxes writes outcomes to several outboxes.
func (s *story) inOutboxes(runs []common.Run) {
	s.Helper()
	for part := range slices.Chunk(runs, 100) {
		ops := make([]clientv3.Op, len(part))
		for i := range part {
			ops[i] = clientv3.OpPut(common.OutboxKey([]string{"w0", "w1", common.MasterOutbox}[i%3], part[i].ID),
				encode(s, part[i]))
		}
		if _, err := s.client.Txn(s.Context()).Then(ops...).Commit(); err != nil {
			s.Fatal(err)
		}
	}
}

// indexed returns a second store on the same keyspace that finds outcomes by an index.
func (s *story) indexed(run bool) master {
	outboxes := live.NewOutboxes(s.client, func(err error) {
		if err != nil {
			s.Log("trouble:", err)
		}
	})
	if run {
		ctx, cancel := context.WithCancel(s.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = outboxes.Run(ctx) }()
		s.Cleanup(func() { cancel(); <-done })
	}
	return s.with(jobmgr.Config{}, outboxes)
}

// For any query, lists are the same whether all outcomes are read or the index finds them.
func TestOutboxIndex_FindsWhatReadingAllDoes(t *testing.T) {
	s := newStory(t)
	random := rand.New(rand.NewPCG(1, 2))
	s.put(minutely("a"))
	all := outcomes(random, 400)
	live, stored := all[:320], all[290:] // some are in both
	s.inOutboxes(live)
	trigger := s.trigger("a")
	s.claim(s.trigger("a"), "w1")
	store := s.indexed(true)
	for _, away := range []bool{true, false} {
		log := &shelf{runs: stored, away: away}
		plain, fast := runlog.NewView(s.store, nothingDue{}, log), runlog.NewView(store, nothingDue{}, log)
		for range 12 {
			q := runlog.Query{Limit: 1 + random.IntN(60), Oldest: random.IntN(3) == 0}
			narrow(random, &q)
			s.sameRuns(plain, fast, q)
			f := runlog.FireQuery{
				Job:      q.Job,
				Group:    q.Group,
				Statuses: q.Statuses,
				From:     q.From,
				To:       cmp.Or(q.To, noon.Add(time.Hour)),
				Now:      noon.Add(time.Hour),
				Limit:    q.Limit,
			}
			s.sameFires(plain, fast, f)
		}
		for _, each := range []int{1, 3, 20} {
			names := []string{"a", "b", "c", "none"}
			want, _, err := plain.Last(t.Context(), names, each)
			got, partial, err2 := fast.Last(t.Context(), names, each)
			if err != nil || err2 != nil || partial != away || !reflect.DeepEqual(got, want) {
				t.Fatalf("last %d: %v, %v, partial %t", each, err, err2, partial)
			}
		}
	}
	for _, run := range live[:50] {
		if got, found, err := store.LiveRun(t.Context(), run.ID); err != nil || !found || got.ID != run.ID ||
			got.Note != run.Note {
			t.Fatalf("run %s: %v, %t, %+v", run.ID, err, found, got)
		}
	}
	for _, id := range []string{trigger.RunID(), "uid-a", "", "uid-a.nothing.1"} {
		if _, found, err := store.LiveRun(t.Context(), id); err != nil || found != (id == trigger.RunID()) {
			t.Errorf("run %q: found %t, %v", id, found, err)
		}
	}
}

// narrow draws filters.
func narrow(random *rand.Rand, q *runlog.Query) {
	some := func(apply func()) {
		if random.IntN(5) == 0 {
			apply()
		}
	}
	some(func() { q.Job = []string{"a", "b", "none"}[random.IntN(3)] })
	some(func() { q.JobUID = "uid-b2" })
	some(func() { q.Group = "ops" })
	some(func() { q.Statuses = []common.Status{common.StatusFailed, common.StatusMissed}[:1+random.IntN(2)] })
	some(func() { q.Worker = fmt.Sprint("w", random.IntN(4)) })
	some(func() { q.Cause = common.CauseRetry })
	some(func() { q.ExitCode = new(random.IntN(2)) })
	some(func() { q.From = noon.Add(time.Duration(random.IntN(300)) * time.Second) })
	some(func() { q.To = noon.Add(time.Duration(100+random.IntN(300)) * time.Second) })
	some(func() { q.Text = "NOTE 3" })
}

// sameRuns pages through a list in both views.
func (s *story) sameRuns(plain, fast *runlog.View, q runlog.Query) {
	s.Helper()
	for pages := 0; ; pages++ {
		want, err := plain.Runs(s.Context(), q)
		got, err2 := fast.Runs(s.Context(), q)
		if err != nil || err2 != nil || got.Partial != want.Partial ||
			!reflect.DeepEqual(ids(got.Runs), ids(want.Runs)) {
			s.Fatalf("page %d of %+v: %v, %v\n got %v\nwant %v", pages, q, err, err2, ids(got.Runs), ids(want.Runs))
		}
		if len(want.Runs) < q.Limit {
			return
		}
		q.Before = new(runlog.PositionOf(&want.Runs[len(want.Runs)-1]))
	}
}

func ids(runs []common.Run) (ids []string) {
	for i := range runs {
		ids = append(ids, runs[i].ID+" "+string(runs[i].Status))
	}
	return ids
}

// sameFires does the same for fires; pages of the two may end at different positions.
func (s *story) sameFires(plain, fast *runlog.View, q runlog.FireQuery) {
	s.Helper()
	list := func(v *runlog.View) (all []common.Fire) {
		q := q
		for pages := 0; ; pages++ {
			page, err := v.Fires(s.Context(), q)
			if err != nil || pages > 3000 {
				s.Fatal(err, pages)
			}
			if all = append(all, page.Fires...); page.Next == nil {
				return all
			}
			q.Before = &page.Next.Position
		}
	}
	if got, want := list(fast), list(plain); !reflect.DeepEqual(got, want) {
		i := 0
		for ; i < min(len(got), len(want)) && reflect.DeepEqual(got[i], want[i]); i++ {
		}
		s.Fatalf("fires of %+v: %d, want %d; they differ at %d:\n got %+v\nwant %+v", q, len(got), len(want), i,
			got[min(i, len(got)):min(i+2, len(got))], want[min(i, len(want)):min(i+2, len(want))])
	}
}

// A run is found, and listed once, at each stage, for any number of outcomes; an outcome that was deleted
// from the outboxes is no longer listed.
func TestOutboxIndex_FollowsRuns(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := s.put(minutely("a"))
	eventually(t, "the catalog has the job", func() bool { _, known := s.catalog.Name(job.UID); return known })
	waiting := outcomes(rand.New(rand.NewPCG(3, 4)), 700)
	s.inOutboxes(waiting)
	s.store = s.indexed(true)
	for range 20 {
		trigger := s.trigger("a")
		id := trigger.RunID()
		s.wantLive(id, common.StatusWaiting, "")
		r := s.claim(trigger, "w1")
		s.wantLive(id, common.StatusRunning, "w1")
		s.finish(r)
		s.wantLive(id, common.StatusSucceeded, "w1")
		s.erase(common.OutboxKey("w1", id))
		if _, found, err := s.store.LiveRun(t.Context(), id); err != nil || found {
			t.Fatalf("run %s: found %t, %v", id, found, err)
		}
	}
	before, err := liveRuns(t.Context(), s.store)
	if err != nil || len(before) != len(waiting) {
		t.Fatalf("%d runs, %v", len(before), err)
	}
	lost := before[0]
	lost.Status = common.StatusLost
	s.raw(common.LateKey("w1", lost.ID), encode(t, lost.Late()))
	eventually(t, "the index has the late end", func() bool {
		late, err := s.store.LateEnds(t.Context())
		return err == nil && len(late) == 1 && late[0].Run == lost.ID
	})
	if _, err := s.client.Delete(t.Context(), common.OutboxPrefix, clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	if left, err := liveRuns(t.Context(), s.store); err != nil || len(left) != 0 {
		t.Fatalf("%d runs are left, %v", len(left), err)
	}
}

// Before its first list the index reports that lists are incomplete.
func TestOutboxIndex_PartialBeforeTheFirstList(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("a"))
	trigger := s.trigger("a")
	s.inOutboxes(outcomes(rand.New(rand.NewPCG(5, 6)), 600))
	store := s.indexed(false)
	live, err := store.LiveRuns(t.Context(), &runlog.LiveQuery{})
	if err != nil || !live.Partial || len(live.Runs) != 1 || live.Runs[0].ID != trigger.RunID() {
		t.Fatalf("%v, %+v", err, live)
	}
	page, err := runlog.NewView(store, nothingDue{}, &shelf{}).Runs(t.Context(), runlog.Query{Limit: 10})
	if err != nil || !page.Partial {
		t.Fatalf("%v, %+v", err, page)
	}
}
