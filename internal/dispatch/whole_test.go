package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/scheduler"
)

// fakeEtcd is what the claim and finish transactions do, in memory and under one
// lock, with answers that fail and jobs that are edited.
type fakeEtcd struct {
	mu       sync.Mutex
	random   *rand.Rand
	revision int64
	jobs     map[string]*common.JobState
	records  map[string]common.Record // by job
	ledger   map[string][]common.Run  // by job
	watchers []func(scheduler.Jobs)
	terms    *common.Terms
}

func (e *fakeEtcd) ReadFires(_ context.Context, looks []common.FireQuery) []common.FireState {
	time.Sleep(time.Millisecond)
	e.mu.Lock()
	defer e.mu.Unlock()
	found := make([]common.FireState, len(looks))
	for i, l := range looks {
		found[i].Cursor = e.jobs[l.Job].Cursor
	}
	return found
}

func (e *fakeEtcd) news(j *common.JobState, s schedule.Schedule) scheduler.Jobs {
	return scheduler.Jobs{Put: []scheduler.Job{{
		Name:     j.Name,
		UID:      j.UID,
		Version:  j.Version,
		Cursor:   j.Cursor,
		Schedule: s,
		Terms:    e.terms,
	}}}
}

// edit saves a job again, and all workers learn of it some time later.
func (e *fakeEtcd) edit(name string, s schedule.Schedule) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.revision++
	e.jobs[name].Version = e.revision
	news := e.news(e.jobs[name], s)
	for _, tell := range e.watchers {
		tell(news)
	}
}

func (e *fakeEtcd) Claim(_ context.Context, claims []common.Claim) []common.ClaimResult {
	time.Sleep(2 * time.Millisecond)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.revision++
	results := make([]common.ClaimResult, len(claims))
	fails := e.random.IntN(20) == 0
	for i := range claims {
		if results[i].Err = errors.New("refused"); !fails {
			results[i] = e.claim(&claims[i])
		}
	}
	return results
}

func (e *fakeEtcd) claim(c *common.Claim) common.ClaimResult {
	job := e.jobs[c.Job]
	if job.Version != c.Version || !job.Cursor.Equal(c.From) {
		return common.ClaimResult{Verdict: common.Stale, State: new(*job)}
	}
	job.Cursor = c.To
	if c.Gap != nil {
		e.ledger[c.Job] = append(e.ledger[c.Job], *c.Gap)
	}
	if c.Record.Run == "" {
		return common.ClaimResult{Verdict: common.Passed}
	}
	if _, stands := e.records[c.Job]; stands {
		e.ledger[c.Job] = append(e.ledger[c.Job], c.Skipped)
		return common.ClaimResult{Verdict: common.Skipped}
	}
	e.records[c.Job] = c.Record
	return common.ClaimResult{Verdict: common.Claimed, Fence: e.revision, Job: job.StoredJob}
}

func (e *fakeEtcd) Finish(_ context.Context, outcomes []common.Outcome) []error {
	time.Sleep(2 * time.Millisecond)
	e.mu.Lock()
	defer e.mu.Unlock()
	errs := make([]error, len(outcomes))
	for i, o := range outcomes {
		switch record, stands := e.records[o.Run.Job]; {
		case e.random.IntN(20) == 0:
			errs[i] = errors.New("refused")
		case !stands || record.Run != o.Run.ID:
			errs[i] = common.ErrNotOurs
		default:
			delete(e.records, o.Run.Job)
			e.ledger[o.Run.Job] = append(e.ledger[o.Run.Job], o.Run)
		}
	}
	return errs
}

// runner runs for a while that depends on the run.
type runner func(Task) time.Duration

func (r runner) Run(ctx context.Context, t Task) common.Run {
	select {
	case <-time.After(r(t)):
	case <-ctx.Done():
	}
	return t.Record.AsRun(common.StatusSucceeded)
}

type quiet struct{}

func (quiet) Planned(int)             {}
func (quiet) QueueDepth(string, int)  {}
func (quiet) ClockJump(time.Duration) {}

// Two workers with scheduler and dispatcher share jobs for an hour, in which one stops for a while, jobs are edited,
// and claims and finishes fail: each fire has one entry in the ledger, and none is missed.
func TestTwoWorkersAccountForEveryFire(t *testing.T) {
	in := schedule.NewInterner()
	var timetables []schedule.Schedule
	for _, expr := range []string{"* * * * * * *", "*/5 * * * * * *", "0 * * * * * *", "30 */7 * * * * *"} {
		s, err := in.Parse(schedule.Spec{Expr: expr, Zone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		timetables = append(timetables, s)
	}
	virtualtime.Test(t, func(t *testing.T) {
		start := time.Now().Round(0)
		etcd := &fakeEtcd{
			random:  rand.New(rand.NewPCG(1, 2)),
			jobs:    map[string]*common.JobState{},
			records: map[string]common.Record{},
			ledger:  map[string][]common.Run{},
			terms:   terms(),
		}
		cluster := &fakeCluster{}
		members := map[string]common.Member{}
		retry := map[string]func(){}
		// alive says who is, to all who are.
		alive := func(id string, loop *scheduler.Loop) {
			if loop == nil {
				delete(members, id)
				delete(retry, id)
			} else {
				members[id], retry[id] = member(id), loop.Retry
			}
			cluster.alive(slices.Collect(maps.Values(members))...)
			for _, tell := range retry {
				tell()
			}
		}
		var names []string
		for i := range 20 {
			name := fmt.Sprintf("j%02d", i)
			names = append(names, name)
			etcd.jobs[name] = &common.JobState{
				StoredJob: common.StoredJob{UID: "uid" + name, Job: common.Job{Name: name}},
				Cursor:    start,
			}
		}
		takes := func(task Task) time.Duration { return time.Duration(task.Fence%7) * 400 * time.Millisecond }

		// worker starts a worker and gives what stops it.
		worker := func(name string) (stop func()) {
			loop := scheduler.New(slog.New(slog.DiscardHandler), quiet{}, func() time.Time {
				return time.Now().Round(0)
			}, scheduler.NewTimer(), scheduler.NewRanking(common.Life{Worker: name}, cluster,
				func() scheduler.OwnReplicas { return scheduler.OwnReplicas{} }).Action)
			d := New(Config{
				Plan:     loop,
				Claimer:  etcd,
				Finisher: etcd,
				Runner:   runner(takes),
				Causes:   Causes{Stopping: errStopping},
				Session:  &fakeSession{},
				Locks:    &fakeLocks{all: func() map[string]bool { return nil }},
				Boot:     sinceStart(),
				Beat:     func(time.Duration) {},
				Cluster:  cluster,
				Written:  func([]common.Run) {},
				Unsure:   func() {},
				Life:     common.Life{Worker: name, Life: name},
				TTL:      func() time.Duration { return 15 * time.Second },
				Slots:    func() int { return 15 },
				MaxBatch: 10,
				Drain:    drain,
				Stop:     halt,
				Now:      time.Now,
				Log:      slog.New(slog.DiscardHandler),
				Metrics:  &fakeMetrics{outcomes: map[common.Status]int{}},
			})
			ctx, cancel := context.WithCancel(t.Context())
			updates := make(chan scheduler.Jobs, 1000)
			var all scheduler.Jobs
			etcd.mu.Lock()
			for i, name := range names {
				all.Put = append(all.Put, etcd.news(etcd.jobs[name], timetables[i%len(timetables)]).Put...)
			}
			etcd.watchers = append(etcd.watchers, func(u scheduler.Jobs) { updates <- u })
			etcd.mu.Unlock()
			all.Whole = true
			updates <- all

			var looping, dispatching sync.WaitGroup
			looping.Go(func() { _ = loop.Run(ctx) })
			looping.Go(func() {
				for {
					select {
					case u := <-updates:
						time.Sleep(20 * time.Millisecond)
						_ = loop.Jobs(ctx, u)
					case <-ctx.Done():
						return
					}
				}
			})
			dispatch, end := context.WithCancel(t.Context())
			dispatching.Go(func() { _ = d.Run(dispatch) })
			alive(name, loop)
			return func() {
				end()
				dispatching.Wait()
				alive(name, nil)
				cancel()
				looping.Wait()
			}
		}

		stopFirst, stopSecond := worker("first"), worker("second")
		for minute := range 60 {
			time.Sleep(time.Minute)
			i := minute * 7 % len(names)
			etcd.edit(names[i], timetables[i%len(timetables)])
			switch minute {
			case 20:
				stopFirst()
			case 40:
				stopFirst = worker("first again")
			}
		}
		stopFirst()
		stopSecond()

		skipped, ran := 0, 0
		for i, name := range names {
			timetable, cursor := timetables[i%len(timetables)], etcd.jobs[name].Cursor
			want, _, err := timetable.Passed(start, cursor, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if behind := time.Since(cursor); behind > 8*time.Minute {
				t.Errorf("%s is %v behind", name, behind)
			}
			seen := map[string]bool{}
			for _, run := range etcd.ledger[name] {
				switch {
				case seen[run.Fire]:
					t.Errorf("%s is in the ledger twice", run.Fire)
				case run.Gap != nil || run.Status == common.StatusMissed:
					t.Errorf("%s: %+v was missed", name, run.PlannedAt)
				case run.Status == common.StatusSkipped:
					skipped++
				default:
					ran++
				}
				seen[run.Fire] = true
			}
			if len(seen) != int(want) {
				t.Errorf("%s has %d entries up to %v, want %d", name, len(seen), cursor, want)
			}
			if _, stands := etcd.records[name]; stands {
				t.Errorf("%s has a run that is not resolved", name)
			}
		}
		if ran == 0 || skipped == 0 {
			t.Errorf("%d ran, %d were skipped: too tame a story", ran, skipped)
		}
	})
}
