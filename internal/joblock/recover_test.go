package joblock_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/joblock"
	"carillon/internal/platform/bootclock"
	"carillon/internal/scheduler"
)

// unresolved lists what is, without errors.
func (s *story) unresolved() []common.Orphan {
	s.Helper()
	runs, bad, err := joblock.NewRecoverer(s.client, me).Unresolved(s.Context())
	if err != nil || len(bad) != 0 {
		s.Fatalf("unresolved: %v, %v", err, bad)
	}
	return runs
}

// lost is the outcome of an orphan.
func lost(o common.Orphan) common.Run {
	run := o.Record.AsRun(common.StatusLost)
	run.Reason = &common.Reason{Code: "worker_died", Text: "its worker ended"}
	return run
}

func TestResolveOrphans(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	claim := planned("a", s.put("a", t0), t0, t1)
	if r := s.claim(claim)[0]; r.Verdict != common.Claimed {
		t.Fatalf("%+v", r)
	}
	others := planned("b", s.put("b", t0), t0, t1)
	others.Record.Owner.Worker = "worker2"
	s.claim(others)
	if _, err := s.client.Put(t.Context(), common.RecordKey("c", "broken"), "{"); err != nil {
		t.Fatal(err)
	}
	recoverer := joblock.NewRecoverer(s.client, me)
	all, bad, err := recoverer.Unresolved(t.Context())
	if err != nil || len(all) != 2 || len(bad) != 1 || !all[0].Locked || !all[1].Locked ||
		all[0].Record.Run != claim.Record.Run {
		t.Fatalf("%+v, %v, %v", all, bad, err)
	}
	orphan := all[0]
	if done, err := recoverer.Resolve(t.Context(), orphan, lost(orphan), nil); done || err != nil {
		t.Fatalf("a run with a live lock was resolved: %v, %v", done, err)
	}
	if err := s.session.Revoke(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Put(t.Context(), common.KillKey(me, claim.Record.Run), "{}"); err != nil {
		t.Fatal(err)
	}
	if done, err := recoverer.Resolve(t.Context(), orphan, lost(orphan), nil); !done || err != nil {
		t.Fatalf("resolve: %v, %v", done, err)
	}
	outcome := s.outbox()[claim.Record.Run]
	if outcome.Status != common.StatusLost || outcome.Reason.Code != "worker_died" ||
		len(s.keys(common.RecordsOf("a"))) != 0 || len(s.keys(common.KillerPrefix)) != 0 {
		t.Fatalf("outcome %+v, records %v, kills %v", outcome, s.keys(common.RecordsOf("a")),
			s.keys(common.KillerPrefix))
	}
	if done, err := recoverer.Resolve(t.Context(), orphan, lost(orphan), nil); done || err != nil {
		t.Fatalf("resolved twice: %v, %v", done, err)
	}
}

// A session that lost its lease takes another one by itself.
func TestSessionTakesANewLease(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	grants := make(chan struct{}, 10)
	session := joblock.NewSession(s.client, time.Second, bootclock.Now, slog.New(slog.DiscardHandler), func() {
		grants <- struct{}{}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- session.Run(ctx) }()
	<-grants
	first, err := session.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Revoke(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	<-grants // by its next keep-alive alone
	second, err := session.Lease(t.Context())
	if err != nil || second == first {
		t.Fatalf("lease %v after %v, %v", second, first, err)
	}
	if err := session.Revoke(t.Context()); err != nil {
		t.Fatal(err)
	}
	if resp, err := s.client.TimeToLive(t.Context(), second); err != nil || resp.TTL > 0 {
		t.Fatalf("after Revoke the lease lives: %v, %v", resp, err)
	}
	cancel()
	if err := <-done; err != context.Canceled {
		t.Fatalf("session ended with %v", err)
	}
}

// Outcomes that changed or came since they were read are not acknowledged with the others.
func TestOutboxAcknowledgesWhatWasRead(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	put := func(id string, status common.Status) {
		if _, err := s.client.Put(t.Context(), common.OutboxKey(me, id),
			s.encode(common.Run{ID: id, Status: status})); err != nil {
			t.Fatal(err)
		}
	}
	put("a", common.StatusSucceeded)
	put("b", common.StatusSucceeded)
	if _, err := s.client.Put(t.Context(), common.OutboxKey(me, "broken"), "{"); err != nil {
		t.Fatal(err)
	}
	pending, err := joblock.NewOutbox(s.client, me).Pending(t.Context(), 10)
	if err != nil || len(pending.Batch.Runs) != 2 || len(pending.Bad) != 1 {
		t.Fatalf("%+v, %v", pending, err)
	}
	put("b", common.StatusFailed)
	put("c", common.StatusSucceeded)
	if err := pending.Ack(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := s.outbox(); len(left) != 2 || left["b"].Status != common.StatusFailed || left["c"].ID != "c" {
		t.Fatalf("left: %v", left)
	}
	part, err := joblock.NewOutbox(s.client, me).Pending(t.Context(), 1)
	if err != nil || !part.More {
		t.Fatalf("a part of it: %+v, %v", part, err)
	}
}

func TestFollowTriggersAndKills(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	trouble := func(err error) { t.Log(err) }
	news := make(chan scheduler.Triggers, 10)
	s.background(func(ctx context.Context) error {
		return joblock.FollowTriggers(ctx, s.client, trouble, func(_ context.Context, u scheduler.Triggers) error {
			news <- u
			return nil
		})
	})
	if first := <-news; !first.Whole || len(first.Put) != 0 {
		t.Fatalf("%+v", first)
	}
	key := common.TriggerKey("a", "t1")
	resp, err := s.client.Put(t.Context(), key, s.encode(common.Trigger{ID: "t1", Job: "a"}))
	if err != nil {
		t.Fatal(err)
	}
	if put := <-news; len(put.Put) != 1 || put.Put[0].Revision != resp.Header.Revision || put.Put[0].ID != "t1" {
		t.Fatalf("%+v", put)
	}
	if _, err := s.client.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if gone := <-news; len(gone.Gone) != 1 || gone.Gone[0] != (scheduler.TriggerKey{Job: "a", ID: "t1"}) {
		t.Fatalf("%+v", gone)
	}
	kills := make(chan []common.Kill, 10)
	s.background(func(ctx context.Context) error {
		return joblock.FollowKills(ctx, s.client, me, trouble, func(k []common.Kill) { kills <- k })
	})
	<-kills
	for worker, run := range map[string]string{me: "r1", "worker2": "r2"} {
		if _, err := s.client.Put(t.Context(), common.KillKey(worker, run), s.encode(common.Kill{Run: run, By: "ann"}),
			clientv3.WithPrevKV()); err != nil {
			t.Fatal(err)
		}
	}
	if all := <-kills; len(all) != 1 || all[0].Run != "r1" || all[0].By != "ann" {
		t.Fatalf("%+v", all)
	}
}

// Foreign values are reported and skipped: they neither become a run's
// outcome nor hide what stands beside them.
func TestPlantedValuesAreNotBelieved(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	plant := func(key, value string) {
		t.Helper()
		if _, err := s.client.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	good := common.Run{ID: "good", Status: common.StatusFailed}
	plant(common.OutboxKey(me, "good"), s.encode(good))
	for id, value := range map[string]string{
		"null":   "null",
		"empty":  "{}",
		"other":  s.encode(good),
		"going":  `{"id":"going","status":"running"}`,
		"weird":  `{"id":"weird","status":"weird"}`,
		"broken": "{",
	} {
		plant(common.OutboxKey(me, id), value)
	}
	pending, err := joblock.NewOutbox(s.client, me).Pending(t.Context(), 100)
	if err != nil || len(pending.Batch.Runs) != 1 || pending.Batch.Runs[0].ID != "good" || len(pending.Bad) != 6 {
		t.Fatalf("%v, runs %+v, bad %v", err, pending.Batch.Runs, pending.Bad)
	}

	orphan := planned("a", 1, t0, t1).Record
	orphan.Owner.Life = "earlier"
	plant(common.RecordKey("a", orphan.Run), s.encode(orphan))
	plant(common.RecordKey("b", "x"), s.encode(orphan)) // resolving it would not remove it
	orphans, bad, err := joblock.NewRecoverer(s.client, me).Unresolved(t.Context())
	if err != nil || len(orphans) != 1 || len(bad) != 1 {
		t.Fatalf("%v, orphans %+v, bad %v", err, orphans, bad)
	}

	plant(common.TriggerKey("a", "null"), "null")
	plant(common.TriggerKey("a", "moved"), s.encode(common.Trigger{ID: "t1", Job: "b"}))
	plant(common.TriggerKey("a", "t1"), s.encode(common.Trigger{ID: "t1", Job: "a"}))
	news, said := make(chan scheduler.Triggers, 1), make(chan error, 10)
	s.background(func(ctx context.Context) error {
		return joblock.FollowTriggers(ctx, s.client, func(err error) {
			if err != nil {
				said <- err
			}
		},
			func(_ context.Context, u scheduler.Triggers) error { news <- u; return nil })
	})
	if u := <-news; len(u.Put) != 1 || u.Put[0].Job != "a" || u.Put[0].ID != "t1" {
		t.Fatalf("triggers %+v", u.Put)
	}
	for range 2 {
		if err := <-said; !strings.Contains(err.Error(), common.TriggersPrefix+"a/") {
			t.Fatalf("it does not say which: %v", err)
		}
	}
}
