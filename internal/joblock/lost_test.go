package joblock_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"carillon/internal/common"
	"carillon/internal/joblock"
)

// intercepted makes a client whose transactions go through a hook.
func (s *story) intercepted(hook func(method string, call func() error) error) *clientv3.Client {
	s.Helper()
	client := s.server.ClientWith(grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
			opts ...grpc.CallOption) error {
			call := func() error { return invoke(ctx, method, req, reply, cc, opts...) }
			if !strings.HasSuffix(method, "/Txn") {
				return call()
			}
			return hook(method, call)
		}))
	return client
}

// losing makes a client that loses the answers to the given transactions, counted
// from one, after etcd has applied them.
func (s *story) losing(which ...int) *clientv3.Client {
	var n atomic.Int64
	lost := map[int64]bool{}
	for _, w := range which {
		lost[int64(w)] = true
	}
	return s.intercepted(func(_ string, call func() error) error {
		err := call()
		if lost[n.Add(1)] {
			return status.Error(codes.Unavailable, "the answer was lost")
		}
		return err
	})
}

// Whatever a claim does, when the answer to it is lost it is found out what it did: by
// the nonce where it started a run, else by the cursor.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	type made struct {
		claim   common.Claim
		outcome map[string]common.Status // that is in the outbox in the end
		queued  bool
	}
	skip, queue, replace, allow := common.OverlapSkip, common.OverlapQueue, common.OverlapReplace, common.OverlapAllow
	free := func(overlap common.Overlap) func(s *story) made {
		return func(s *story) made {
			c := gapped(under(overlap, planned("a", s.put("a", t1), t1, t2)))
			return made{claim: c, outcome: map[string]common.Status{c.Gap.ID: common.StatusMissed}}
		}
	}
	// busy makes a run that stands in the way.
	busy := func(overlap common.Overlap, change func(s *story, m *made)) func(s *story) made {
		return func(s *story) made {
			version := s.put("a", t0)
			s.verdict(common.Claimed, under(overlap, planned("a", version, t0, t1)))
			c := gapped(under(overlap, planned("a", version, t1, t2)))
			m := made{claim: c, outcome: map[string]common.Status{c.Gap.ID: common.StatusMissed}}
			change(s, &m)
			return m
		}
	}
	trigger := func(s *story) made { return made{claim: s.trigger("a", "t", s.put("a", t2))} }
	for _, c := range []struct {
		name string
		make func(s *story) made
		lose []int
		want common.Verdict
	}{
		{"skip, free", free(skip), []int{1}, common.Claimed},
		{"skip, free, several times", free(skip), []int{1, 2, 3}, common.Claimed},
		{"queue, free", free(queue), []int{1}, common.Claimed},
		{"replace, free", free(replace), []int{1}, common.Claimed},
		{"allow", free(allow), []int{1}, common.Claimed},
		{"trigger", trigger, []int{1}, common.Claimed},
		{"patient, free", func(s *story) made {
			m := free(skip)(s)
			m.claim.Patient = true
			return m
		}, []int{1}, common.Claimed},
		{"passed", func(s *story) made {
			m := free(skip)(s)
			m.claim.Record = common.Record{}
			return m
		}, []int{1}, common.Stale},
		{"skip, busy", busy(skip, func(_ *story, m *made) {
			m.outcome[m.claim.Skipped.ID] = common.StatusSkipped
		}), []int{1}, common.Stale},
		{"queue, busy", busy(queue, func(_ *story, m *made) { m.queued = true }), []int{1}, common.Stale},
		{"queue, full", busy(queue, func(s *story, m *made) {
			s.trigger("a", common.QueuedTrigger, 0)
			m.outcome[m.claim.Skipped.ID] = common.StatusSkipped
		}), []int{1}, common.Stale},
		{"replace, busy, the look", busy(replace, func(_ *story, m *made) {
			m.queued = true
		}), []int{1}, common.Queued},
		{"replace, busy, the claim", busy(replace, func(_ *story, m *made) {
			m.queued = true
		}), []int{2}, common.Stale},
		{"replace, busy, both", busy(replace, func(_ *story, m *made) { m.queued = true }), []int{1, 3}, common.Stale},
		{"patient, busy", busy(skip, func(_ *story, m *made) {
			m.claim.Patient, m.outcome = true, nil
		}), []int{1}, common.Blocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storyOn(t, server)
			m := c.make(s)
			records := len(s.keys(common.RecordsOf("a")))
			var troubles atomic.Int64
			claimer := joblock.NewClaimer(s.losing(c.lose...), s.session, me, func(error) { troubles.Add(1) }, nil)
			r := claimer.Claim(t.Context(), []common.Claim{m.claim})[0]
			if r.Verdict != c.want || r.Err != nil || troubles.Load() != int64(len(c.lose)) {
				t.Fatalf("%+v after %d troubles", r, troubles.Load())
			}
			if started := c.want == common.Claimed; started {
				if len(s.keys(common.RecordsOf("a"))) != records+1 || r.Fence == 0 || r.Created == 0 ||
					r.Job.Name != "a" {
					t.Fatalf("%+v, records %v", r, s.keys(common.RecordsOf("a")))
				}
				if m.claim.Gap != nil && fmt.Sprint(ids(r.Written)) != fmt.Sprint([]string{m.claim.Gap.ID}) {
					t.Fatalf("written %v", r.Written)
				}
				s.expectOutcomes(m.outcome)
				s.end(m.claim, r) // the fence is that of the first try
				return
			}
			if len(s.keys(common.RecordsOf("a"))) != records {
				t.Fatalf("records %v", s.keys(common.RecordsOf("a")))
			}
			s.expectOutcomes(m.outcome)
			if c.want == common.Stale && (!r.Unsure || r.State == nil || !r.State.Cursor.Equal(t2)) {
				t.Fatalf("%+v", r)
			}
			if waits, _ := s.queued("a"); m.queued && (waits == nil || waits.RunID() != m.claim.Record.Run) {
				t.Fatalf("queued %+v", waits)
			}
		})
	}
}

// Of a batch whose answer was lost, each is found out by itself.
func TestLostAnswerToABatch(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("busy", t0)
	s.verdict(common.Claimed, planned("busy", version, t0, t1))
	claims := []common.Claim{planned("busy", version, t1, t2), planned("free", s.put("free", t0), t0, t1),
		planned("gone", 7, t0, t1)}
	results := joblock.NewClaimer(s.losing(1), s.session, me, quiet, nil).Claim(t.Context(), claims)
	for i, want := range []common.Verdict{common.Stale, common.Claimed, common.Stale} {
		if results[i].Verdict != want {
			t.Fatalf("claim %d: %+v", i, results[i])
		}
	}
	if results[2].State != nil || !results[0].Unsure || results[1].Unsure {
		t.Fatalf("%+v", results)
	}
}

// A finish whose answer was lost is one finish, with what follows it.
func TestLostAnswerToAFinish(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	claim := planned("a", s.put("a", t0), t0, t1)
	r := s.verdict(common.Claimed, claim)
	next := claim.Record.Next(common.CauseRetry, common.StatusFailed, t2)
	outcome := common.Outcome{
		Run:     claim.Record.AsRun(common.StatusFailed),
		Token:   r.Fence,
		Created: r.Created,
		Next:    &next,
	}
	finisher := joblock.NewFinisher(s.losing(1, 2), me, quiet)
	if err := finisher.Finish(t.Context(), []common.Outcome{outcome})[0]; err != nil {
		t.Fatal(err)
	}
	s.expectOutcomes(map[string]common.Status{claim.Record.Run: common.StatusFailed})
	if triggers := s.keys(common.TriggersPrefix); len(triggers) != 1 || triggers[0] != common.TriggerKey("a", next.ID) {
		t.Fatalf("triggers %v", triggers)
	}
}

// When the answer is not awaited any more, the result of the claim is unsure.
func TestClaimThatIsGivenUp(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	claim := planned("a", s.put("a", t0), t0, t1)
	ctx, cancel := context.WithCancel(t.Context())
	client := s.intercepted(func(_ string, call func() error) error {
		_ = call()
		cancel()
		return status.Error(codes.Unavailable, "the answer was lost")
	})
	r := joblock.NewClaimer(client, s.session, me, quiet, nil).Claim(ctx, []common.Claim{claim})[0]
	if r.Verdict != common.Failed || r.Err == nil || !r.Unsure || len(s.keys(common.RecordsOf("a"))) != 1 {
		t.Fatalf("%+v", r)
	}
}
