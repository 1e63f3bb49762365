package joblock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/joblock"
)

// family is a child with two parents that have succeeded.
type family struct {
	*story
	fire common.AfterFire
}

func newFamily(t *testing.T) *family {
	f := &family{story: newStory(t)}
	f.fire = common.AfterFire{Job: "child", Version: f.put("child", t0), Successes: map[string]int64{}}
	for _, parent := range []string{"p", "q"} {
		f.fire.Successes[parent] = f.set(common.SucceededKey(parent), common.Success{Run: "uid-" + parent + ".1"})
	}
	f.fire.Seen = f.set(common.AfterKey("child"), common.After{Consumed: map[string]int64{"p": 1, "q": 1}})
	f.fire.After = common.After{Created: f.fire.Version, Consumed: f.fire.Successes}
	fire := common.TriggeredFire("uid-child", "x")
	f.fire.Trigger = &common.Trigger{ID: common.AfterTrigger, Job: "child", JobUID: "uid-child", Fire: fire, Attempt: 1,
		Cause: common.CauseAfter}
	return f
}

func (s *story) set(key string, v any) int64 {
	s.Helper()
	resp, err := s.client.Put(s.Context(), key, s.encode(v))
	if err != nil {
		s.Fatal(err)
	}
	return resp.Header.Revision
}

func (s *story) value(key string) *mvccpb.KeyValue {
	s.Helper()
	resp, err := s.client.Get(s.Context(), key)
	if err != nil || len(resp.Kvs) != 1 {
		s.Fatal(key, resp, err)
	}
	return resp.Kvs[0]
}

func (s *story) chain(client *clientv3.Client, fires ...common.AfterFire) []bool {
	s.Helper()
	granted, err := joblock.NewChainer(client, me, quiet, nil).Fire(s.Context(), fires)
	if err != nil {
		s.Fatal(err)
	}
	return granted
}

// A fire after the parents is granted only if nothing has changed that it was decided on.
func TestAfterFire_ComparesAllThatItWasDecidedOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(*family)
		granted   bool
	}{
		"nothing":             {func(*family) {}, true},
		"another job":         {func(f *family) { f.put("other", t0) }, true},
		"consumed by another": {func(f *family) { f.set(common.AfterKey("child"), f.fire.After) }, false},
		"a further success": {func(f *family) {
			f.set(common.SucceededKey("q"), common.Success{Run: "later"})
		}, false},
		"a parent is deleted": {func(f *family) { f.etcd(clientv3.OpDelete(common.SucceededKey("p"))) }, false},
		"the child is saved":  {func(f *family) { f.put("child", t0) }, false},
		"the child is deleted": {func(f *family) { f.etcd(clientv3.OpDelete(common.JobKey("child"))) },
			false},
		"a trigger is pending": {func(f *family) {
			f.set(common.TriggerKey("child", common.AfterTrigger), f.fire.Trigger)
		}, false},
		"another trigger is pending": {func(f *family) {
			f.set(common.TriggerKey("child", "t1"), f.fire.Trigger)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t)
			c.meanwhile(f)
			before := len(f.keys(common.TriggersPrefix))
			if granted := f.chain(f.client, f.fire)[0]; granted != c.granted {
				t.Fatalf("granted: %t", granted)
			}
			if n := len(f.keys(common.TriggersPrefix)) - before; (n == 1) != c.granted {
				t.Errorf("%d triggers were put", n)
			}
		})
	}
}

// Two workers request the same fire: one of them is granted.
func TestAfterFire_RequestedTwice_IsGrantedOnce(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	if !f.chain(f.client, f.fire)[0] {
		t.Fatal("not granted")
	}
	f.etcd(clientv3.OpDelete(common.TriggerKey("child", common.AfterTrigger))) // it was claimed
	if f.chain(f.client, f.fire)[0] {
		t.Error("granted again")
	}
	if kv := f.value(common.AfterKey("child")); kv.ModRevision <= f.fire.Seen {
		t.Error("the successes were not consumed")
	}
}

// A fire whose answer was lost is sent again, and happens once.
func TestAfterFire_AnswerLost_HappensOnce(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	f.chain(f.losing(1), f.fire)
	if n := len(f.keys(common.TriggersPrefix)); n != 1 {
		t.Fatalf("%d triggers", n)
	}
	if kv := f.value(common.AfterKey("child")); kv.Version != 2 {
		t.Errorf("the consumed successes were written %d times", kv.Version)
	}
}

// A batch holds as many fires as a batch of claims, each with the most parents.
func TestAfterFire_FullBatch_FitsIntoOneTransaction(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	successes := map[string]int64{}
	for i := range common.MaxParents {
		name := "p" + string(rune('a'+i))
		successes[name] = s.set(common.SucceededKey(name), common.Success{})
	}
	fires := make([]common.AfterFire, joblock.MaxBatch)
	for i := range fires {
		name := "c" + common.NewID()
		fires[i] = common.AfterFire{Job: name, Version: s.put(name, t0), Successes: successes,
			Trigger: &common.Trigger{ID: common.AfterTrigger, Job: name}}
	}
	sent := 0
	client := s.intercepted(func(_ string, call func() error) error { sent++; return call() })
	for i, granted := range s.chain(client, fires...) {
		if !granted {
			t.Errorf("fire %d was not granted", i)
		}
	}
	if sent != 1 {
		t.Errorf("%d transactions", sent)
	}
}

// Nothing is fired in an etcd that was restored from a backup.
func TestAfterFire_EtcdWasRestored_IsNotSent(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	gate := &gate{refuses: errors.New("etcd went back")}
	if _, err := joblock.NewChainer(f.client, me, quiet, gate).Fire(t.Context(),
		[]common.AfterFire{f.fire}); !errors.Is(err, gate.refuses) {
		t.Fatal(err)
	}
	if n := len(f.keys(common.TriggersPrefix)); n != 0 {
		t.Errorf("%d triggers", n)
	}
}

// The finish of a successful run of a parent writes the success with the outcome, or neither.
func TestFinish_OfAParent_WritesItsSuccess(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	claim := planned("p", s.put("p", t0), t0, t1)
	result := s.claim(claim)[0]
	end := claim.Record.AsRun(common.StatusSucceeded)
	end.EndedAt = &t2
	outcome := common.Outcome{Run: end, Token: result.Fence + 1, Success: true}
	if err := s.finish.Finish(t.Context(), []common.Outcome{outcome})[0]; !errors.Is(err, common.ErrNotOurs) {
		t.Fatal(err)
	}
	if n := len(s.keys(common.SucceededPrefix)); n != 0 {
		t.Fatal("the success of a run of another was written")
	}
	outcome.Token = result.Fence
	lossy := joblock.NewFinisher(s.losing(1), me, quiet)
	if err := lossy.Finish(t.Context(), []common.Outcome{outcome})[0]; err != nil {
		t.Fatal(err)
	}
	kv := s.value(common.SucceededKey("p"))
	got, err := common.Decode[common.Success](kv.Value)
	if err != nil || got.Run != end.ID || !got.PlannedAt.Equal(t1) || !got.EndedAt.Equal(t2) || kv.Version != 1 {
		t.Errorf("%+v in version %d, %v", got, kv.Version, err)
	}
	if s.value(common.OutboxKey(me, end.ID)).ModRevision != kv.ModRevision {
		t.Error("the success was not written with the outcome")
	}
}

// The keeper receives what is stored, under the names of the jobs.
func TestFollowConsumedAndSuccesses(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	f.etcd(clientv3.OpPut(common.SucceededKey("damaged"), "{"))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	done := errors.New("done")
	reported := 0
	err := joblock.FollowSuccesses(ctx, f.client, func(err error) {
		if err != nil {
			reported++
		}
	}, func(_ context.Context, u common.JobValues[common.Success]) error {
		if len(u.Put) != 2 || u.Put[0].Job != "p" || u.Put[0].Revision != f.fire.Successes["p"] || !u.Whole {
			t.Errorf("received %+v", u)
		}
		return done
	})
	if !errors.Is(err, done) || reported != 1 {
		t.Errorf("%v, %d reports", err, reported)
	}
	err = joblock.FollowConsumed(ctx, f.client, quiet, func(_ context.Context, u common.JobValues[common.After]) error {
		if len(u.Put) != 1 || u.Put[0].Job != "child" || u.Put[0].Value.Consumed["q"] != 1 ||
			u.Put[0].Value.Created != f.fire.Seen {
			t.Errorf("received %+v", u)
		}
		return done
	})
	if !errors.Is(err, done) {
		t.Error(err)
	}
}
