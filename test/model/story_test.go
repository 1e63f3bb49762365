package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// putJob writes a job that allows overlap, and its cursor, and gives its version.
func putJob(ctx context.Context, client *clientv3.Client, name string, cursor time.Time) int64 {
	data, err := json.Marshal(common.StoredJob{
		Job: common.Job{Name: name, CronExpr: "@every 5s", Command: "true", Overlap: common.OverlapAllow},
		UID: common.NewID(),
	})
	if err != nil {
		panic(err)
	}
	resp, err := client.Txn(ctx).Then(clientv3.OpPut(common.JobKey(name), string(data)),
		clientv3.OpPut(common.CursorKey(name), common.TimeKey(cursor))).Commit()
	if err != nil {
		panic(err)
	}
	return resp.Header.Revision
}

// fireOfPlan is a claim of the fire at to.
func fireOfPlan(job string, version int64, from, to time.Time, owner common.Life) common.Claim {
	fire := common.PlannedFire("uid-"+job, to)
	return common.Claim{
		Job:     job,
		Version: version,
		From:    from,
		To:      to,
		Record: common.Record{Run: common.RunID(fire, 1), Fire: fire, Job: job, JobUID: "uid-" + job,
			PlannedAt: to, Attempt: 1, Cause: common.CauseCron, Owner: owner, Nonce: common.NewID(), TTL: ttl,
			Policy: common.Policy{Overlap: common.OverlapAllow, LostAfter: time.Minute}},
	}
}

// cluster plays a part with a cluster of its own, and checks the promises after it.
func cluster(t *testing.T, seed uint64, skews []time.Duration, part func(context.Context, *script)) *world {
	t.Helper()
	w, broken := without(t, nothing, seed, skews, part)
	for _, b := range broken {
		t.Error(b)
		t.Log(w.trace(b))
	}
	return w
}

// without leaves a rule out, and gives what was broken.
func without(t *testing.T, m mutation, seed uint64, skews []time.Duration, part func(context.Context, *script)) (*world,
	[]string) {
	t.Helper()
	s := startServer(t)
	s.wipe(t)
	w := newWorld(s, seed, m)
	w.beCalm()
	var until time.Time
	inBubble(t, func(t *testing.T) {
		until = run(t.Context(), w, []string{"a"}, skews, part)
	})
	return w, check(w, until)
}

var level = []time.Duration{0, 0, 0}

// A job is edited, paused, resumed, deleted and made again under its name while three
// workers claim its fires.
func TestJobChangesWhileItIsClaimed(t *testing.T) {
	w := cluster(t, 1, level, func(ctx context.Context, s *script) {
		m := s.masters[0]
		must := func(_ common.JobState, err error) {
			if err != nil {
				t.Error(err)
			}
		}
		for i := range 12 {
			job := common.Job{
				Name:      "a",
				Timezone:  "UTC",
				Command:   "true",
				CronExpr:  fmt.Sprintf("@every %ds", 2+i%3),
				LostAfter: "20s",
				KillGrace: "1s",
				Placement: &common.Placement{Strategy: common.StrategyAny},
			}
			time.Sleep(s.between(time.Second, 8*time.Second))
			state, _, err := m.store.Put(ctx, modelActor, job, common.Precondition{})
			must(state, err)
			time.Sleep(s.between(time.Second, 8*time.Second))
			must(m.store.Pause(ctx, modelActor, "a", common.PauseRequest{}, common.Precondition{}))
			time.Sleep(s.between(time.Second, 8*time.Second))
			must(m.store.Resume(ctx, modelActor, "a", common.Precondition{}))
			time.Sleep(s.between(time.Second, 8*time.Second))
			if err := m.store.Delete(ctx, modelActor, "a", common.Precondition{},
				common.DeleteRequest{Kill: i%2 == 0}); err != nil {
				t.Error(err)
			}
			must(m.store.Create(ctx, modelActor, job))
		}
	})
	if len(w.diary) < 30 {
		t.Errorf("there were only %d runs", len(w.diary))
	}
}

// Of two saves that were made from the same version one is refused, and the fires that
// both would have passed over are accounted for once.
func TestConcurrentSaves_LoseNoFire(t *testing.T) {
	cluster(t, 2, level, func(ctx context.Context, s *script) {
		for i := range 10 {
			time.Sleep(s.between(2*time.Second, 10*time.Second))
			seen, err := s.masters[0].store.Get(ctx, "a")
			if err != nil {
				t.Fatal(err)
			}
			var racing sync.WaitGroup
			errs := make([]error, len(s.masters))
			for n, m := range s.masters {
				job := seen.Job
				job.CronExpr = fmt.Sprintf("@every %ds", 3+(2*i+n)%5)
				job.Title = fmt.Sprintf("save %d of master %d", i, n)
				racing.Go(func() {
					_, _, errs[n] = m.store.Put(ctx, modelActor, job, common.Precondition{Version: seen.Version})
				})
			}
			racing.Wait()
			if refused := errors.Join(errs...); (errs[0] == nil) == (errs[1] == nil) ||
				common.CodeOf(refused) != common.CodeStale {
				t.Errorf("two saves of version %d: %v, %v", seen.Version, errs[0], errs[1])
			}
		}
	})
}

// A worker whose clock is a day ahead consumes nothing of the future, and the others do
// not wait for it.
func TestClockAhead_ConsumesNoFire(t *testing.T) {
	w := cluster(t, 3, []time.Duration{24 * time.Hour, 0, 0}, func(ctx context.Context, s *script) {
		job := common.Job{Name: "a", Timezone: "UTC", Command: "true", CronExpr: "@every 3s"}
		if _, _, err := s.masters[0].store.Put(ctx, modelActor, job, common.Precondition{}); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
	})
	honest := 0
	for _, x := range w.diary {
		if x.worker != "worker0" {
			honest++
		}
	}
	if honest < 30 {
		t.Errorf("the others ran only %d", honest)
	}
}

// A worker that is stopped when it has just started a command is ended by its guardian, and the
// command with it, before another worker runs the job again: the guardian was notified of the run before.
func TestWorkerFrozen_AtTheStartOfACommand(t *testing.T) {
	part := func(ctx context.Context, s *script) {
		s.world.last(50 * time.Second)
		job := common.Job{
			Name:      "a",
			Timezone:  "UTC",
			Command:   "true",
			CronExpr:  "@every 10s",
			LostAfter: "20s",
			KillGrace: "0s",
		}
		if _, _, err := s.masters[0].store.Put(ctx, modelActor, job, common.Precondition{}); err != nil {
			t.Error(err)
		}
		for _, b := range s.boxes {
			s.act(func() {
				var starts <-chan struct{}
				b.with(func(l *life) { starts = l.nextBegin() })
				select {
				case <-starts:
					s.freeze(ctx, b, 2*time.Minute, false)
				case <-time.After(3 * time.Minute):
				}
			})
		}
		s.actors.Wait()
		s.world.last(0)
	}
	w := cluster(t, 4, level, part)
	if w.counts["killed by its guardian"] == 0 || w.counts["reruns"] == 0 {
		t.Errorf("there were %v", w.counts)
	}
	_, broken := without(t, lateBeat, 4, level, part)
	if !slices.ContainsFunc(broken, func(b string) bool { return strings.HasPrefix(b, "G3") }) {
		t.Errorf("with a guardian that is notified only after the start, only this was broken: %v", broken)
	}
}

// The log store is away for a day. The outboxes hold no more than they may and what was under way
// when they were full, fires wait at their cursors, also those of a job whose worker is not there,
// and a save in that time accounts for the fires that it passes with one entry. When the store is
// back each fire of the day has its one outcome.
func TestLogStoreUnavailable_ForADay(t *testing.T) {
	const room, onTheWay = 30, 12
	away := 24 * time.Hour
	part := func(ctx context.Context, s *script) {
		put := func(name, line string, pinned ...string) {
			job := common.Job{
				Name:          name,
				Timezone:      "UTC",
				Command:       "true",
				CronExpr:      line,
				LostAfter:     "20s",
				KillGrace:     "1s",
				StartDeadline: "20s",
			}
			if len(pinned) > 0 {
				job.Placement, job.CatchUp = &common.Placement{Workers: pinned},
					&common.CatchUp{Policy: common.CatchUpNone}
			}
			if _, _, err := s.masters[0].store.Put(ctx, modelActor, job, common.Precondition{}); err != nil {
				t.Error(err)
			}
		}
		s.world.last(time.Second)
		s.world.storeAway(true, room)
		put("a", "@every 7s")
		put("b", "* * * * *", "elsewhere")
		time.Sleep(away / 2)
		put("a", "@every 9s")
		time.Sleep(away / 2)
		s.world.mu.Lock()
		s.world.counts["outcomes in the outboxes"] = s.world.most
		s.world.mu.Unlock()
		s.world.storeAway(false, room)
	}
	w := cluster(t, 5, level[:2], part)
	if most := w.counts["outcomes in the outboxes"]; most < room || most > room+onTheWay {
		t.Errorf("the outboxes held %d outcomes, where %d is the bound", most, room)
	}
	away = 2 * time.Hour
	w, _ = without(t, givenUpFull, 5, level[:2], part)
	if most := w.counts["outcomes in the outboxes"]; most < 10*room {
		t.Errorf("where fires are given up all the same, the outboxes held no more than %d", most)
	}
}
