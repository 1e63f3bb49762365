package joblock_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/joblock"
	"carillon/internal/platform/bootclock"
)

// get is what a key holds; nil where there is none.
func (s *story) get(key string) *mvccpb.KeyValue {
	s.Helper()
	resp, err := s.client.Get(s.Context(), key)
	if err != nil {
		s.Fatal(err)
	}
	if len(resp.Kvs) == 0 {
		return nil
	}
	return resp.Kvs[0]
}

func TestTakeBack(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	claims := []common.Claim{planned("a", s.put("a", t0), t0, t1), planned("b", s.put("b", t0), t0, t1)}
	results := s.claim(claims...)
	retaker := joblock.NewRetaker(s.client, s.session, quiet)
	before := s.session.Proof()
	if results[0].Proof.Lease != before.Lease || results[0].Proof.Sent > bootclock.Now() {
		t.Fatalf("claimed under %+v, the session is %+v", results[0].Proof, before)
	}
	again := make([]common.Retake, 2)
	for i := range claims {
		again[i] = common.Retake{Record: claims[i].Record, Token: results[i].Fence}
	}
	lock, record := common.LockKey("a", again[0].Record.Run), common.RecordKey("a", again[0].Record.Run)
	held, err := retaker.Held(t.Context(), before.Lease)
	if err != nil || len(held) != 2 || !held[lock] {
		t.Fatalf("the lease holds %v, %v", held, err)
	}
	seen := s.get(record)

	if err := etcdkit.Revoke(t.Context(), s.client, before.Lease); err != nil {
		t.Fatal(err)
	}
	if s.get(lock) != nil {
		t.Fatal("the lock outlived its lease")
	}
	if _, err := retaker.Held(t.Context(), before.Lease); err == nil {
		t.Fatal("a lease that is gone holds something")
	}
	for _, err := range retaker.Retake(t.Context(), before.Lease, again) { // the worker does not know yet
		if err == nil || errors.Is(err, common.ErrNotOurs) {
			t.Fatalf("under a lease that is gone: %v", err)
		}
	}
	lease, err := s.session.Lease(t.Context()) // that told the session
	if err != nil || int64(lease) == before.Lease {
		t.Fatalf("lease %d, %v", lease, err)
	}
	// Another worker resolved b meanwhile.
	if _, err := s.client.Delete(t.Context(), common.RecordKey("b", again[1].Record.Run)); err != nil {
		t.Fatal(err)
	}
	errs := retaker.Retake(t.Context(), int64(lease), again)
	if errs[0] != nil || !errors.Is(errs[1], common.ErrNotOurs) {
		t.Fatalf("taken back: %v", errs)
	}
	now := s.get(record)
	if now.ModRevision <= seen.ModRevision || now.CreateRevision != seen.CreateRevision {
		t.Fatalf("record %+v, was %+v: other workers would not restart their waiting time", now, seen)
	}
	if kv := s.get(lock); kv == nil || kv.Lease != int64(lease) {
		t.Fatalf("lock %+v", kv)
	}
	if s.get(common.LockKey("b", again[1].Record.Run)) != nil ||
		s.get(common.RecordKey("b", again[1].Record.Run)) != nil {
		t.Fatal("a run that was resolved stands again")
	}
	run := again[0].Record.AsRun(common.StatusSucceeded)
	if errs := s.finish.Finish(t.Context(), []common.Outcome{{Run: run, Token: again[0].Token}}); errs[0] != nil {
		t.Fatalf("finish: %v", errs)
	}
}

// What is known of a lease dates from when the answered question was sent, not from when
// the answer came.
func TestProofDatesFromTheSending(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	proof := s.session.Proof()
	if now := bootclock.Now(); proof.Sent <= 0 || proof.Sent > now {
		t.Fatalf("sent at %v, now %v", proof.Sent, now)
	}
	if resp, err := s.client.TimeToLive(t.Context(), clientv3.LeaseID(proof.Lease)); err != nil || resp.TTL <= 0 {
		t.Fatalf("lease %+v, %v", resp, err)
	}
	if c := s.session.Conditions(); c != nil {
		t.Fatalf("conditions %+v", c)
	}
}

// An etcd that does not answer for most of a lease's TTL is reported.
func TestSilentEtcdIsTold(t *testing.T) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:1"}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	var boot atomic.Int64
	session := joblock.NewSession(client, 15*time.Second, func() time.Duration {
		return time.Duration(boot.Load())
	}, slog.New(slog.DiscardHandler), func() {})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = session.Run(ctx) }()
	defer func() { cancel(); <-done }()
	boot.Store(int64(9 * time.Second))
	if c := session.Conditions(); c != nil {
		t.Fatalf("told too early: %+v", c)
	}
	boot.Store(int64(11 * time.Second))
	for deadline := time.Now().Add(30 * time.Second); len(session.Conditions()) == 0; time.Sleep(
		10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not told")
		}
	}
	if c := session.Conditions()[0]; c.Code != common.ConditionEtcdAway || c.From.IsZero() || c.StopsClaims {
		t.Fatalf("condition %+v", c)
	}
}

// A claim that was granted under a new lease says so: the time of the one before it would end
// the run before it began.
func TestClaimUnderTheNextLease(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	before := s.session.Proof()
	if err := etcdkit.Revoke(t.Context(), s.client, before.Lease); err != nil {
		t.Fatal(err)
	}
	asked := bootclock.Now()
	result := s.claim(planned("a", s.put("a", t0), t0, t1))[0]
	if result.Verdict != common.Claimed || result.Proof.Lease == before.Lease || result.Proof.Lease == 0 ||
		result.Proof.Sent < asked {
		t.Fatalf("%+v, asked at %v, the lease before was %+v", result, asked, before)
	}
}
