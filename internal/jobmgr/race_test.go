package jobmgr_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// claimed is the prefix under which the workers of these stories record the fires that they claimed.
const claimed = "/test/claimed/"

// claimNext claims the next fire of a job that fires every second, if it is due, in the way of a worker: by
// compares with what it read. It returns false if there is no job.
func (s *story) claimNext(ctx context.Context, name string) bool {
	resp, err := s.client.Txn(ctx).Then(clientv3.OpGet(common.JobKey(name)),
		clientv3.OpGet(common.CursorKey(name))).Commit()
	if err != nil {
		s.Error(err)
		return false
	}
	job, cursor := resp.Responses[0].GetResponseRange().Kvs, resp.Responses[1].GetResponseRange().Kvs
	if len(job) == 0 || len(cursor) == 0 {
		return false
	}
	from, err := common.ParseTimeKey(string(cursor[0].Value))
	if err != nil {
		s.Error(err)
		return false
	}
	to := from.Truncate(time.Second).Add(time.Second)
	if to.After(s.clock.now()) {
		return true
	}
	stored, err := common.Decode[common.StoredJob](job[0].Value)
	if err != nil {
		s.Error(err)
		return false
	}
	if stored.PausedAt(s.clock.now()) {
		return true
	}
	_, err = s.client.Txn(ctx).If(
		clientv3.Compare(clientv3.ModRevision(common.JobKey(name)), "=", job[0].ModRevision),
		clientv3.Compare(clientv3.Value(common.CursorKey(name)), "=", string(cursor[0].Value)),
	).Then(clientv3.OpPut(common.CursorKey(name), common.TimeKey(to)),
		clientv3.OpPut(claimed+stored.UID+"/"+common.TimeKey(to), "")).Commit()
	if err != nil {
		s.Error(err)
	}
	return true
}

// account counts how often each second after from was accounted for, up to now.
func (s *story) account(uid string) map[time.Time]int {
	s.Helper()
	times := map[time.Time]int{}
	for _, key := range s.keys(claimed + uid + "/") {
		at, err := common.ParseTimeKey(key[len(claimed+uid+"/"):])
		if err != nil {
			s.Fatal(err)
		}
		times[at]++
	}
	for _, run := range s.outcomes(uid) {
		if run.Gap == nil {
			times[run.PlannedAt]++
			continue
		}
		n := int64(0)
		for at := run.Gap.From.Truncate(time.Second).Add(time.Second); !at.After(run.Gap.To); at = at.Add(time.Second) {
			times[at]++
			n++
		}
		if n != run.Gap.Count {
			s.Errorf("the gap %+v counts %d fires, has %d", *run.Gap, run.Gap.Count, n)
		}
	}
	return times
}

// Saves that change the schedule and claims move the same cursor at the same time. Each planned fire is
// accounted for once: it was claimed, or a save recorded it as missed.
func TestSavesRacingWithClaimsLoseNoFire(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	// Three names of the same zone, so that the plan stays the same with each save.
	zones := []string{"UTC", "Etc/UTC", "Etc/GMT"}
	job := common.Job{Name: "a", CronExpr: "* * * * * * *", Timezone: zones[0], Command: "true"}
	uid := s.put(job).UID

	workers, stop := context.WithCancel(t.Context())
	defer stop()
	var working, saving sync.WaitGroup
	for range 3 {
		working.Go(func() {
			for workers.Err() == nil && s.claimNext(t.Context(), "a") {
			}
		})
	}
	var saves, busy atomic.Int64
	for m := range 3 {
		master := s.master(s.catalog)
		saving.Go(func() {
			for i := range 40 {
				s.clock.forward(time.Duration(i%5) * 700 * time.Millisecond)
				mine := job
				mine.Timezone = zones[(i+m)%len(zones)]
				mine.Title = fmt.Sprint(m, i)
				switch _, _, err := master.Put(t.Context(), actor, mine, any0); {
				case err == nil:
					saves.Add(1)
				case common.CodeOf(err) == common.CodeConflict:
					busy.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	saving.Wait()
	s.clock.forward(3 * time.Second)
	stop()
	working.Wait()
	taken := len(s.keys(claimed))
	s.remove("a")

	end := s.clock.now().Truncate(time.Second)
	times := s.account(uid)
	for at := noon.Add(time.Second); !at.After(end); at = at.Add(time.Second) {
		if times[at] != 1 {
			t.Errorf("the fire at %v is accounted for %d times", at, times[at])
		}
		delete(times, at)
	}
	if len(times) != 0 {
		t.Errorf("accounted for, but not in the plan: %v", times)
	}
	if saves.Load() == 0 || taken == 0 {
		t.Fatalf("%d saves, %d claims: this was no race", saves.Load(), taken)
	}
	if n := int64(len(s.changes("a"))); n != saves.Load()+2 {
		t.Errorf("%d changes of %d saves", n, saves.Load())
	}
	t.Logf("%d saves, %d claims, %d saves gave up", saves.Load(), taken, busy.Load())
}

// runTrigger claims one pending trigger of a job that has no unresolved run, and otherwise ends that run.
func (s *story) runTrigger(ctx context.Context, name string) {
	resp, err := s.client.Txn(ctx).Then(clientv3.OpGet(common.JobKey(name)),
		clientv3.OpGet(common.RecordsOf(name), clientv3.WithPrefix()),
		clientv3.OpGet(common.TriggersOf(name), clientv3.WithPrefix(), clientv3.WithLimit(1))).Commit()
	if err != nil {
		s.Error(err)
		return
	}
	job, runs, waiting := resp.Responses[0].GetResponseRange().Kvs, resp.Responses[1].GetResponseRange().Kvs,
		resp.Responses[2].GetResponseRange().Kvs
	var txn clientv3.Txn
	switch {
	case len(runs) > 0:
		r, err := common.Decode[common.Record](runs[0].Value)
		if err != nil {
			s.Error(err)
			return
		}
		txn = s.client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(string(runs[0].Key)), "=",
			runs[0].CreateRevision)).
			Then(clientv3.OpDelete(string(runs[0].Key)), clientv3.OpDelete(common.KillKey("w1", r.Run)),
				clientv3.OpPut(claimed+r.JobUID+"/"+r.Run, ""))
	case len(job) > 0 && len(waiting) > 0:
		trigger, err := common.Decode[common.Trigger](waiting[0].Value)
		if err != nil {
			s.Error(err)
			return
		}
		run := record(name, trigger.JobUID, trigger.RunID(), "w1")
		txn = s.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(common.JobKey(name)), "=", job[0].ModRevision),
			clientv3.Compare(clientv3.CreateRevision(string(waiting[0].Key)), "=", waiting[0].CreateRevision),
			clientv3.Compare(clientv3.CreateRevision(common.RecordsOf(name)), "=", 0).WithPrefix()).
			Then(clientv3.OpDelete(string(waiting[0].Key)),
				clientv3.OpPut(common.RecordKey(name, run.Run), encode(s, run)))
	default:
		return
	}
	if _, err := txn.Commit(); err != nil {
		s.Error(err)
	}
}

// A trigger that was accepted runs, or is skipped because the job was deleted, never both and never neither;
// and none is left behind. A kill request remains for an unresolved run only.
func TestDeleteRacingWithTriggers(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	for round := range 16 {
		name := fmt.Sprintf("job-%d", round)
		job := s.put(common.Job{Name: name, Command: "true"})
		kill := round%2 == 0
		var mu sync.Mutex
		var accepted []string
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range 15 {
					trigger, err := s.store.Trigger(t.Context(), actor, common.TriggerRequest{Job: name})
					switch {
					case err == nil:
						mu.Lock()
						accepted = append(accepted, trigger.RunID())
						mu.Unlock()
					case common.CodeOf(err) == common.CodeNotFound:
						return
					default:
						t.Error(err)
						return
					}
				}
			})
		}
		var deleted atomic.Bool
		wg.Go(func() {
			for !deleted.Load() && t.Context().Err() == nil {
				s.runTrigger(t.Context(), name)
			}
		})
		eventually(t, "some triggers are pending", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(accepted) > round%7
		})
		for {
			err := s.store.Delete(t.Context(), actor, name, any0, common.DeleteRequest{Kill: kill})
			if err == nil {
				break
			}
			if common.CodeOf(err) != common.CodeConflict {
				t.Fatal(err)
			}
		}
		deleted.Store(true)
		wg.Wait()
		if left := s.keys(common.TriggersOf(name)); len(left) != 0 {
			t.Fatalf("left behind: %v", left)
		}
		ends := map[string]int{}
		for _, key := range s.keys(claimed + job.UID + "/") {
			ends[key[len(claimed+job.UID+"/"):]]++
		}
		var unresolved []string
		for _, r := range all[common.Record](s, common.RecordsOf(name)) {
			ends[r.Run]++
			unresolved = append(unresolved, common.KillKey("w1", r.Run))
		}
		for _, r := range s.outcomes(job.UID) {
			if r.Status != common.StatusSkipped || r.Reason.Code != "deleted" {
				t.Errorf("%+v", r)
			}
			ends[r.ID]++
		}
		for _, run := range accepted {
			if ends[run] != 1 {
				t.Errorf("round %d: run %s has %d ends", round, run, ends[run])
			}
		}
		if len(ends) != len(accepted) {
			t.Errorf("round %d: %d accepted, %d ended", round, len(accepted), len(ends))
		}
		kills := slices.DeleteFunc(s.keys(common.KillsOf("w1")), func(k string) bool {
			return !strings.Contains(k, job.UID)
		})
		if kill && !slices.Equal(kills, unresolved) || !kill && len(kills) != 0 {
			t.Errorf("round %d: %v run, kill requests for %v", round, unresolved, kills)
		}
	}
}

// Concurrent requests to run one job, at several masters, all succeed despite their conflicts.
func TestTrigger_BurstOfOneJob_AllAccepted(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("burst"))
	masters := []master{s.store, s.master(s.catalog), s.master(s.catalog)}
	var asking sync.WaitGroup
	begin := make(chan struct{})
	for i := range 50 { // the most that one job may have pending
		asking.Go(func() {
			<-begin
			if _, err := masters[i%len(masters)].Trigger(t.Context(), actor,
				common.TriggerRequest{Job: "burst"}); err != nil {
				t.Error(err)
			}
		})
	}
	close(begin)
	asking.Wait()
}
