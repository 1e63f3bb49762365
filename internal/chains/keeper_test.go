package chains

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/maintenance"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/scheduler"
)

// store is etcd as far as the keepers need it: it compares what a fire was decided on, and notifies the keepers that
// see it.
type store struct {
	mu        sync.Mutex
	revision  int64
	jobs      map[string]Job
	successes map[string]common.JobValue[common.Success]
	after     map[string]common.JobValue[common.After]
	triggers  map[string]common.Trigger // by job
	fired     []common.Trigger
	refused   int
	fail      error
	keepers   []*Keeper
}

func newStore() *store {
	return &store{jobs: map[string]Job{}, successes: map[string]common.JobValue[common.Success]{},
		after: map[string]common.JobValue[common.After]{}, triggers: map[string]common.Trigger{}}
}

// Fire is Committer's.
func (s *store) Fire(_ context.Context, fires []common.AfterFire) ([]bool, error) {
	time.Sleep(time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return nil, s.fail
	}
	granted := make([]bool, len(fires))
	for i, f := range fires {
		granted[i] = s.after[f.Job].Revision == f.Seen && s.jobs[f.Job].Version == f.Version
		for parent, seen := range f.Successes {
			granted[i] = granted[i] && s.successes[parent].Revision == seen
		}
		if f.Trigger != nil {
			_, pending := s.triggers[f.Job]
			granted[i] = granted[i] && !pending
		}
		if !granted[i] {
			s.refused++
			continue
		}
		s.revision++
		if f.Trigger != nil {
			s.triggers[f.Job] = *f.Trigger
			s.fired = append(s.fired, *f.Trigger)
		}
		s.setAfter(f.Job, f.After)
	}
	return granted, nil
}

// setAfter stores a value at the present revision, as it is read.
func (s *store) setAfter(job string, a common.After) {
	a.Consumed = maps.Clone(a.Consumed)
	if a.Created == 0 {
		a.Created = s.revision
	}
	for parent, consumed := range a.Consumed {
		if consumed == 0 {
			a.Consumed[parent] = s.revision
		}
	}
	s.after[job] = common.JobValue[common.After]{Job: job, Revision: s.revision, Value: a}
}

// show sends the whole state to a keeper.
func (s *store) show(t *testing.T, k *Keeper) {
	t.Helper()
	s.mu.Lock()
	jobs := Jobs{Whole: true, Put: slices.Collect(maps.Values(s.jobs))}
	successes := Successes{Whole: true, Put: slices.Collect(maps.Values(s.successes))}
	consumed := Consumed{Whole: true, Put: slices.Collect(maps.Values(s.after))}
	triggers := scheduler.Triggers{Whole: true}
	for _, one := range s.triggers {
		triggers.Put = append(triggers.Put, scheduler.Trigger{Trigger: one})
	}
	s.mu.Unlock()
	if err := errors.Join(k.Jobs(t.Context(), jobs), k.Consumed(t.Context(), consumed),
		k.Successes(t.Context(), successes), k.Triggers(t.Context(), triggers)); err != nil {
		t.Fatal(err)
	}
}

func (s *store) showAll(t *testing.T) {
	t.Helper()
	for _, k := range s.keepers {
		s.show(t, k)
	}
}

// job saves a child, from which on successes of its parents count.
func (s *store) job(name string, parents ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	s.jobs[name] = Job{Name: name, UID: "uid-" + name, Version: s.revision, Created: s.revision, Parents: parents}
	a := common.After{Consumed: map[string]int64{}}
	for _, p := range parents {
		a.Consumed[p] = 0
	}
	s.setAfter(name, a)
}

func (s *store) succeed(job string, planned time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	s.successes[job] = common.JobValue[common.Success]{Job: job, Revision: s.revision,
		Value: common.Success{Run: job, PlannedAt: planned}}
}

// claim takes the trigger of a job, as a worker that starts it does.
func (s *store) claim(job string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.triggers, job)
}

// change changes what only the story knows of.
func (s *store) change(how func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how()
}

func (s *store) refusals() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

func (s *store) created(job string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.after[job].Value.Created
}

func (s *store) fires() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.fired)
}

type cluster []common.Member

func (c cluster) Members() ([]common.Member, uint64) { return c, 1 }
func (c cluster) Latest(now time.Time) time.Time     { return now }
func (c cluster) Trouble() string                    { return "" }
func (c cluster) Windows() *maintenance.Set          { return nil }
func (c cluster) Full() bool                         { return false }
func (c cluster) FlowsFull(int) bool                 { return false }
func member(id string, features ...string) common.Member {
	m := common.Member{}
	m.Life = common.Life{Worker: id, Life: "l"}
	m.Lease, m.Slots, m.Features = 1, 1, features
	return m
}

// bubble runs a story with keepers of some of the workers.
func bubble(t *testing.T, all cluster, keeping []string, story func(t *testing.T, s *store)) {
	t.Helper()
	virtualtime.Test(t, func(t *testing.T) {
		s := newStore()
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for _, id := range keeping {
			k := New(Config{Committer: s, Cluster: all, Life: common.Life{Worker: id}, MaxBatch: 100, Now: time.Now,
				Log: slog.New(slog.DiscardHandler)})
			s.keepers = append(s.keepers, k)
			running.Go(func() { _ = k.Run(ctx) })
		}
		story(t, s)
		cancel()
		running.Wait()
	})
}

var (
	alone = cluster{member("w1", common.FeatureAfter)}
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// A job gets a fire when each of its parents has succeeded since the last one, and no other.
func TestKeeper_FiresWhenEachParentHasSucceeded(t *testing.T) {
	bubble(t, alone, []string{"w1"}, func(t *testing.T, s *store) {
		s.succeed("p", noon) // before the child names it
		s.job("child", "p", "q")
		rounds := []struct {
			succeeds string
			fires    int
		}{{"q", 0}, {"q", 0}, {"p", 1}, {"p", 1}, {"p", 1}, {"q", 2}}
		for i, round := range rounds {
			s.succeed(round.succeeds, noon.Add(time.Duration(i)*time.Minute))
			s.showAll(t)
			time.Sleep(20 * time.Millisecond)
			s.showAll(t)
			s.claim("child")
			s.showAll(t)
			time.Sleep(time.Minute)
			if n := s.fires(); n != round.fires {
				t.Fatalf("after success %d, of %s: %d fires, want %d", i, round.succeeds, n, round.fires)
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		last := s.fired[1]
		if last.ID != common.AfterTrigger || last.Cause != common.CauseAfter || last.JobUID != "uid-child" ||
			!last.PlannedAt.Equal(noon.Add(5*time.Minute)) || last.Attempt != 1 || last.Fire == s.fired[0].Fire {
			t.Errorf("fired %+v", last)
		}
		if want := []common.ParentRun{{Job: "p", Run: "p", PlannedAt: noon.Add(4 * time.Minute)},
			{Job: "q", Run: "q", PlannedAt: noon.Add(5 * time.Minute)}}; !slices.Equal(last.Parents, want) {
			t.Errorf("it consumed %+v", last.Parents)
		}
	})
}

// Successes while a fire is pending are consumed together, by the one after it.
func TestKeeper_PendingFire_GathersSuccesses(t *testing.T) {
	bubble(t, alone, []string{"w1"}, func(t *testing.T, s *store) {
		s.job("child", "p")
		for range 5 {
			s.succeed("p", noon)
			s.showAll(t)
			time.Sleep(time.Minute)
		}
		if n := s.fires(); n != 1 {
			t.Fatalf("%d fires", n)
		}
		s.claim("child")
		s.showAll(t)
		time.Sleep(time.Second)
		s.showAll(t)
		s.claim("child")
		s.showAll(t)
		time.Sleep(time.Minute)
		if n := s.fires(); n != 2 {
			t.Fatalf("%d fires after the first was claimed", n)
		}
	})
}

// Each fire is requested by one worker at once, and by another one soon after if that one is gone.
func TestKeeper_FirstRankIsGone_NextOneActs(t *testing.T) {
	three := cluster{member("w1", common.FeatureAfter), member("w2", common.FeatureAfter),
		member("w3", common.FeatureAfter)}
	took := map[time.Duration]int{}
	for _, keeping := range [][]string{{"w1", "w2", "w3"}, {"w1"}, {"w2"}, {"w3"}} {
		bubble(t, three, keeping, func(t *testing.T, s *store) {
			s.job("child", "p")
			s.succeed("p", noon)
			s.showAll(t)
			began := time.Now()
			for s.fires() == 0 && time.Since(began) < time.Minute {
				time.Sleep(time.Millisecond)
			}
			s.showAll(t)
			if len(keeping) == 1 {
				took[time.Since(began).Round(time.Second)]++
			}
			time.Sleep(time.Minute)
			if n := s.fires(); n != 1 || s.refusals() > 0 {
				t.Errorf("with %v: %d fires, %d requests refused", keeping, n, s.refusals())
			}
		})
	}
	if want := map[time.Duration]int{0: 1, stagger: 1, 2 * stagger: 1}; !maps.Equal(took, want) {
		t.Errorf("the workers took %v", took)
	}
}

// A worker of an older version takes no part, and delays nothing.
func TestKeeper_OlderWorkers_AreNotRanked(t *testing.T) {
	mixed := cluster{member("w1", common.FeatureAfter), member("w2"), member("w3"), member("w4"), member("w5")}
	bubble(t, mixed, []string{"w1"}, func(t *testing.T, s *store) {
		for _, name := range []string{"a", "b", "c", "d"} {
			s.job(name, "p")
		}
		s.succeed("p", noon)
		s.showAll(t)
		time.Sleep(stagger / 2)
		if n := s.fires(); n != 4 {
			t.Errorf("%d fires", n)
		}
	})
}

// What a keeper has received late is refused by the store, and requested again when the change has arrived.
func TestKeeper_ViewIsBehind_IsRefusedAndFiresOnce(t *testing.T) {
	bubble(t, alone, []string{"w1"}, func(t *testing.T, s *store) {
		s.job("child", "p", "q")
		s.succeed("p", noon)
		s.succeed("q", noon)
		s.mu.Lock()
		s.revision++
		changed := s.jobs["child"]
		changed.Version = s.revision
		s.jobs["child"] = changed
		s.mu.Unlock()
		behind := changed
		behind.Version = 1
		k := s.keepers[0]
		if err := k.Jobs(t.Context(), Jobs{Put: []Job{behind}}); err != nil {
			t.Fatal(err)
		}
		for _, v := range s.after {
			_ = k.Consumed(t.Context(), Consumed{Put: []common.JobValue[common.After]{v}})
		}
		_ = k.Successes(t.Context(), Successes{Put: slices.Collect(maps.Values(s.successes))})
		time.Sleep(time.Hour)
		if n := s.fires(); n != 0 || s.refusals() == 0 || s.refusals() > 3600/4 {
			t.Fatalf("%d fires, %d requests refused", n, s.refusals())
		}
		s.showAll(t)
		time.Sleep(2 * refusedMost)
		if n := s.fires(); n != 1 {
			t.Errorf("%d fires", n)
		}
	})
}

// The parents are those of the stored value that the transaction compares: a job that was received before its change
// does not fire for the parents that it had.
func TestKeeper_ParentsChange_OldOnesDoNotFire(t *testing.T) {
	bubble(t, alone, []string{"w1"}, func(t *testing.T, s *store) {
		s.job("child", "p", "q")
		s.succeed("p", noon)
		k := s.keepers[0]
		s.show(t, k)
		old := s.jobs["child"]
		old.Parents = []string{"p"}
		_ = k.Jobs(t.Context(), Jobs{Put: []Job{old}})
		time.Sleep(time.Minute)
		if n := s.fires(); n != 0 {
			t.Errorf("%d fires", n)
		}
	})
}

// A missing value, or one of an earlier job of the name, is written again, from which on successes count.
func TestKeeper_ConsumedIsMissing_IsWrittenAnew(t *testing.T) {
	for name, lose := range map[string]func(*store){
		"missing": func(s *store) { delete(s.after, "child") },
		"of an earlier job": func(s *store) {
			s.revision++
			s.setAfter("child", common.After{Created: 1 << 40, Consumed: map[string]int64{"p": 1}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, alone, []string{"w1"}, func(t *testing.T, s *store) {
				s.job("child", "p")
				s.succeed("p", noon)
				s.change(func() { lose(s) })
				s.showAll(t)
				time.Sleep(mendAfter / 2)
				if s.refusals() > 0 || s.created("child") == s.jobs["child"].Created {
					t.Fatal("written at once")
				}
				time.Sleep(mendAfter)
				s.showAll(t)
				time.Sleep(time.Minute)
				if n := s.fires(); n != 0 {
					t.Errorf("%d fires for a success from before", n)
				}
				s.succeed("p", noon)
				s.showAll(t)
				time.Sleep(time.Minute)
				if n := s.fires(); n != 1 {
					t.Errorf("%d fires", n)
				}
			})
		})
	}
}

// A failed commit is repeated.
func TestKeeper_CommitFails_IsRepeated(t *testing.T) {
	bubble(t, alone, []string{"w1"}, func(t *testing.T, s *store) {
		var reported []error
		s.keepers[0].cfg.Report = func(err error) { s.change(func() { reported = append(reported, err) }) }
		s.job("child", "p")
		s.succeed("p", noon)
		s.change(func() { s.fail = errors.New("no space") })
		s.showAll(t)
		time.Sleep(10 * time.Second)
		s.change(func() { s.fail = nil })
		time.Sleep(2 * retryAfter)
		n := s.fires()
		s.mu.Lock()
		defer s.mu.Unlock()
		if n != 1 || len(reported) < 5 || reported[0] == nil || reported[len(reported)-1] != nil {
			t.Errorf("%d fires, reported %v", n, reported)
		}
	})
}

// A job is a parent as long as another one names it.
func TestKeeper_Parent(t *testing.T) {
	bubble(t, alone, []string{"w1"}, func(t *testing.T, s *store) {
		k := s.keepers[0]
		is := func(want bool) {
			t.Helper()
			virtualtime.Wait()
			if k.Parent("p") != want {
				t.Errorf("is a parent: %t", !want)
			}
		}
		state := func(name string, version int64, after ...string) common.JobState {
			return common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: name, After: after}},
				Version: version}
		}
		send := func(u Jobs) {
			t.Helper()
			if err := k.Jobs(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		is(true) // not known yet
		if k.Parent("flow:step") {
			t.Error("a step of a flow is a parent")
		}
		send(JobsOf(true, true, []common.JobState{state("a", 1, "p")}, nil, nil))
		send(JobsOf(false, false, []common.JobState{state("b", 2, "p"), state("p", 3)}, nil, nil))
		is(true)
		send(JobsOf(false, false, []common.JobState{state("a", 4)}, nil, nil))
		is(true)
		send(JobsOf(false, false, []common.JobState{state("b", 1)}, nil, []string{"b"}))
		is(false)
		send(JobsOf(false, false, []common.JobState{state("a", 5, "p")}, nil, nil))
		is(true)
		send(JobsOf(true, true, []common.JobState{state("p", 3)}, nil, nil))
		is(true) // the list is not complete
		send(JobsOf(false, false, nil, nil, nil))
		is(false)
	})
}
