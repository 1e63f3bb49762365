package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/scheduler"
)

// What happens where an earlier run stands is part of the claim, by the job's policy.
func TestClaimByOverlapPolicy(t *testing.T) {
	overlap := func(o common.Overlap) func(*common.Terms) { return func(t *common.Terms) { t.Overlap = o } }
	all := func(t *common.Terms) { t.CatchUp = common.CatchUpAll }
	for _, c := range []struct {
		name    string
		terms   []func(*common.Terms)
		late    bool
		patient bool
		queue   bool
		skipped string
	}{
		{"skip", nil, false, false, false, common.ReasonOverlap},
		{"queue", []func(*common.Terms){overlap(common.OverlapQueue)}, false, false, true, common.ReasonQueueFull},
		{"replace", []func(*common.Terms){overlap(common.OverlapReplace)}, false, false, true, ""},
		{"allow", []func(*common.Terms){overlap(common.OverlapAllow)}, false, false, false, ""},
		{"skip, all, in time", []func(*common.Terms){all}, false, false, false, common.ReasonOverlap},
		{"skip, all, late", []func(*common.Terms){all}, true, true, false, ""},
		{"queue, all, late", []func(*common.Terms){all, overlap(common.OverlapQueue)}, true, true, false, ""},
		{"replace, all, late", []func(*common.Terms){all, overlap(common.OverlapReplace)}, true, true, false, ""},
		{"allow, all, late", []func(*common.Terms){all, overlap(common.OverlapAllow)}, true, false, false, ""},
		{"skip, latest, late", nil, true, false, false, common.ReasonOverlap},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				f := r.fire("a", c.terms...)
				f.Group = "g"
				if c.late {
					f.Schedule = r.once(f.At)
					time.Sleep(common.DefaultStartDeadline + time.Minute)
					f.Since = time.Now()
				}
				r.hand(f)
				claim := r.claimer.claims()[0]
				if claim.Patient != c.patient || (claim.Queue != nil) != c.queue ||
					claim.Record.Policy != f.Terms.Policy || claim.Record.Run == "" {
					r.Fatalf("claim %+v", claim)
				}
				code := ""
				if claim.Skipped.Reason != nil {
					code = claim.Skipped.Reason.Code
				}
				if code != c.skipped {
					r.Fatalf("skipped for %q, want %q", code, c.skipped)
				}
				if c.queue {
					want := common.Trigger{
						ID:        common.QueuedTrigger,
						Job:       "a",
						JobUID:    "uid-a",
						Group:     "g",
						Fire:      claim.Record.Fire,
						PlannedAt: f.At,
						Attempt:   1,
						Cause:     common.CauseCron,
						NotBefore: time.Now().UTC(),
					}
					if !reflect.DeepEqual(*claim.Queue, want) || claim.Queue.RunID() != claim.Record.Run {
						r.Fatalf("queued as %+v\nwant      %+v", *claim.Queue, want)
					}
				}
			})
		})
	}
}

// Beside a backfill of its job the claim carries what becomes of the fire if a run of the backfill forbids it: it
// waits, or is skipped because of the backfill. The terms of its run are those of the job.
func TestClaimBesideABackfill_MayYieldToIt(t *testing.T) {
	bubble(t, func(c *Config) { c.Backfilled = func(job string) bool { return job == "a" } }, func(r *rig) {
		r.hand(r.fire("a"), r.fire("b"))
		for _, claim := range r.claimer.claims() {
			beside := claim.Job == "a"
			if got := claim.Skipped.Reason.Code; got != common.ReasonOverlap || (claim.Queue != nil) != beside ||
				(claim.Yielded != nil) != beside || claim.Record.Policy.Overlap != common.OverlapSkip {
				r.Errorf("%s: skipped for %q, queued as %+v, or %+v", claim.Job, got, claim.Queue, claim.Yielded)
			}
			if beside && claim.Yielded.Reason.Code != common.ReasonBackfill {
				r.Errorf("skipped for %q", claim.Yielded.Reason.Code)
			}
		}
		if len(r.claimer.claims()) != 2 {
			r.Fatalf("%d claims", len(r.claimer.claims()))
		}
	})
}

func TestQueuedAndBlockedFires(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		verdict := common.Queued
		r.claimer.answer = func(c *common.Claim) common.ClaimResult {
			return wrote(common.ClaimResult{Verdict: verdict}, c)
		}
		f := r.fire("a")
		r.hand(f)
		if s := r.settled()[0]; !s.Cursor.Equal(f.At) || s.Run != "" || !s.RetryAt.IsZero() {
			r.Fatalf("queued, and settled as %+v", s)
		}
		verdict = common.Blocked
		r.hand(f)
		if s := r.settled()[1]; !s.Cursor.IsZero() || !s.RetryAt.Equal(time.Now().Add(retryAfter)) {
			r.Fatalf("blocked, and settled as %+v", s)
		}
		if len(r.runner.started()) != 0 {
			r.Fatal("executed")
		}
	})
}

// Fires to be caught up run one after the other: while one does, the next is looked at
// until it has ended.
func TestCaughtUpFiresWaitForEachOther(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		f := r.fire("a", func(t *common.Terms) { t.CatchUp = common.CatchUpAll })
		f.Schedule = r.once(f.At)
		time.Sleep(common.DefaultStartDeadline + time.Minute)
		f.Since = time.Now()
		var free atomic.Bool
		r.claimer.answer = func(c *common.Claim) common.ClaimResult {
			if !free.Load() {
				return common.ClaimResult{Verdict: common.Blocked}
			}
			return claimed(c)
		}
		r.claimer.found = func(l common.FireQuery) common.FireState {
			return common.FireState{Cursor: f.Cursor, Busy: !free.Load() && l.Runs}
		}
		time.AfterFunc(time.Minute-time.Millisecond, func() { free.Store(true) })
		began := time.Now()
		s := r.drive(f, time.Hour)
		if took := time.Since(began).Round(time.Second); took != time.Minute || s.Run == "" {
			r.Fatalf("claimed after %v as %+v", took, s)
		}
		claims := r.claimer.claims()
		if len(claims) > 3 || claims[0].Record.Cause != common.CauseCatchUp {
			r.Fatalf("%d claims, the first: %+v", len(claims), claims[0].Record)
		}
	})
}

// A pause that has ended by itself is accounted for.
func TestPause_HasEnded_FiresPass(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		f := r.fire("a", func(t *common.Terms) {
			t.Paused, t.PausedUntil = true, time.Now().Add(90*time.Second).UnixNano()
		})
		time.Sleep(90 * time.Second)
		f.Due = time.Now()
		f.Since = f.Due
		r.hand(f)
		claim := r.claimer.claims()[0]
		if claim.Record.Run != "" || claim.Gap == nil || claim.Gap.Status != common.StatusSkipped ||
			claim.Gap.Reason.Code != common.ReasonPaused ||
			claim.Gap.Gap.Count != 2 || !claim.To.Equal(f.At.Add(time.Minute)) {
			r.Fatalf("claim to %v, gap %+v", claim.To, claim.Gap)
		}
	})
}

// What etcd granted so late that the fire is past its deadline runs only where it is to be caught up.
func TestClaim_GrantedAfterTheDeadline_DoesNotStart(t *testing.T) {
	for _, c := range []struct {
		name    string
		trigger bool
		terms   func(*common.Terms)
		after   time.Duration
		want    common.Cause // of the run; none: it is missed
	}{
		{"in time", false, nil, common.DefaultStartDeadline, common.CauseCron},
		{"late", false, nil, common.DefaultStartDeadline + 1, common.CauseCatchUp},
		{"late, all", false, func(t *common.Terms) {
			t.CatchUp = common.CatchUpAll
		}, common.DefaultStartDeadline + 1, common.CauseCatchUp},
		{"late, none", false, func(t *common.Terms) {
			t.CatchUp = common.CatchUpNone
		}, common.DefaultStartDeadline + 1, ""},
		{"beyond the window", false, nil, common.DefaultWindow + 1, ""},
		{"a deadline of its own", false, func(t *common.Terms) {
			t.StartDeadline, t.CatchUp = time.Second, common.CatchUpNone
		}, 2 * time.Second, ""},
		{"a trigger has no deadline", true, func(t *common.Terms) {
			t.CatchUp = common.CatchUpNone
		}, 24 * time.Hour, common.CauseManual},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				if c.terms == nil {
					c.terms = func(*common.Terms) {}
				}
				gate := make(chan struct{})
				r.claimer.hold = gate
				f := r.fire("a", c.terms)
				if c.trigger {
					f = r.shot("a", "t", c.terms)
				}
				r.hand(f)
				time.Sleep(c.after)
				close(gate)
				virtualtime.Wait()
				s := r.settled()[0]
				if !c.trigger && !s.Cursor.Equal(f.At) || s.Gone != c.trigger {
					r.Fatalf("settled as %+v", s)
				}
				if c.want == "" {
					r.expectOutcomes("a missed 42 ")
					reason := r.finisher.batches[0][0].Run.Reason
					if len(r.runner.started()) != 0 || s.Run != "" || reason.Code != common.ReasonLate ||
						r.running() != 0 {
						r.Fatalf("settled as %+v, reason %+v", s, reason)
					}
					return
				}
				r.expectOutcomes("a succeeded 42 ")
				if got := r.runner.started()[0].Record.Cause; got != c.want {
					r.Fatalf("cause %s, want %s", got, c.want)
				}
			})
		})
	}
}

// The sink is notified of every outcome that is written, by a claim or a finish, and where it
// is not sure.
func TestClaim_ReportsWrittenAndUnsureOutcomes(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		expect := func(unsure int64, want ...string) {
			r.Helper()
			if got := r.told(); !slices.Equal(got, want) || r.unsure.Load() != unsure {
				r.Fatalf("told of %q, %d times unsure, want %q, %d", got, r.unsure.Load(), want, unsure)
			}
		}
		answer := func(result common.ClaimResult) {
			r.claimer.set(func(f *fakeClaimer) {
				f.answer = func(c *common.Claim) common.ClaimResult { return wrote(result, c) }
			})
		}
		r.hand(r.fire("claimed"))
		expect(0, "claimed succeeded")
		answer(common.ClaimResult{Verdict: common.Skipped})
		r.hand(r.fire("b"))
		expect(0, "claimed succeeded", "b skipped")
		answer(common.ClaimResult{Verdict: common.Queued})
		r.hand(r.fire("c"))
		answer(common.ClaimResult{Verdict: common.Blocked})
		r.hand(r.shot("c", "t"))
		expect(0, "claimed succeeded", "b skipped")
		answer(common.ClaimResult{Verdict: common.Stale, Unsure: true})
		r.hand(r.fire("d"))
		expect(1, "claimed succeeded", "b skipped")
		answer(common.ClaimResult{Err: errors.New("away"), Unsure: true})
		r.hand(r.fire("e"))
		expect(2, "claimed succeeded", "b skipped")

		r.finisher.refuse = common.ErrNotOurs
		answer(common.ClaimResult{Verdict: common.Claimed})
		r.hand(r.fire("f"))
		expect(2, "claimed succeeded", "b skipped")
	})
}

func TestRetry(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	plain := &common.Retry{Max: 3}
	code := func(n int) *int { return &n }
	for _, c := range []struct {
		name    string
		policy  *common.Retry
		status  common.Status
		exit    *int
		attempt int
		after   time.Duration // -1: no retry
		avoid   string
	}{
		{"no policy", nil, common.StatusFailed, code(1), 1, -1, ""},
		{"none allowed", &common.Retry{}, common.StatusFailed, code(1), 1, -1, ""},
		{"succeeded", plain, common.StatusSucceeded, code(0), 1, -1, ""},
		{"killed", plain, common.StatusKilled, nil, 1, -1, ""},
		{"refused", plain, common.StatusRefused, nil, 1, -1, ""},
		{"lost", plain, common.StatusLost, nil, 1, -1, ""},
		{"failed", plain, common.StatusFailed, code(1), 1, common.DefaultBackoff, "w"},
		{"failed to start", plain, common.StatusFailed, nil, 1, common.DefaultBackoff, "w"},
		{"timed out", plain, common.StatusTimedOut, nil, 1, common.DefaultBackoff, "w"},
		{"the second", plain, common.StatusFailed, code(1), 2, 2 * common.DefaultBackoff, "w"},
		{"the last", plain, common.StatusFailed, code(1), 3, 4 * common.DefaultBackoff, "w"},
		{"one too many", plain, common.StatusFailed, code(1), 4, -1, ""},
		{"after a re-run", plain, common.StatusFailed, code(1), 9, -1, ""},
		{"bounded by default", &common.Retry{Max: 100}, common.StatusFailed, code(1), 50,
			common.DefaultMaxBackoff, "w"},
		{"its own back-off", &common.Retry{Max: 9, Backoff: "3s", MaxBackoff: "10s"}, common.StatusFailed, code(1), 2,
			6 * time.Second, "w"},
		{"its own bound", &common.Retry{Max: 9, Backoff: "3s", MaxBackoff: "10s"}, common.StatusFailed, code(1), 3,
			10 * time.Second, "w"},
		{"a bound below the back-off", &common.Retry{Max: 9, Backoff: "30s", MaxBackoff: "10s"}, common.StatusFailed,
			code(1), 1, 10 * time.Second, "w"},
		{"an exit code that counts", &common.Retry{Max: 1, ExitCodes: []int{75, 111}}, common.StatusFailed, code(111),
			1, common.DefaultBackoff, "w"},
		{"one that does not", &common.Retry{Max: 1, ExitCodes: []int{75, 111}}, common.StatusFailed, code(1),
			1, -1, ""},
		{"no exit code", &common.Retry{Max: 1, ExitCodes: []int{75}}, common.StatusTimedOut, nil, 1, -1, ""},
		{"elsewhere", &common.Retry{Max: 1, Elsewhere: new(true)}, common.StatusFailed, code(1), 1,
			common.DefaultBackoff, "w"},
		{"anywhere", &common.Retry{Max: 1, Elsewhere: new(false)}, common.StatusFailed, code(1), 1,
			common.DefaultBackoff, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			record := common.Record{
				Run:       common.RunID("f", c.attempt),
				Fire:      "f",
				Job:       "a",
				JobUID:    "u",
				Group:     "g",
				PlannedAt: now.Add(-time.Hour),
				Attempt:   c.attempt,
				Cause:     common.CauseManual,
				By:        "me",
				Note:      "why",
				Params:    map[string]string{"p": "v"},
			}
			run := record.AsRun(c.status)
			run.ExitCode = c.exit
			next := retryOf(&common.StoredJob{Job: common.Job{Retry: c.policy}}, &record, &run, "w", now)
			ofStep := record // what the step says applies, whatever the job says
			ofStep.Retry = c.policy
			if c.policy != nil {
				other := &common.StoredJob{Job: common.Job{Retry: &common.Retry{Max: 20, MaxBackoff: "1h"}}}
				if got := retryOf(other, &ofStep, &run, "w", now); (got == nil) != (next == nil) ||
					got != nil && (!got.NotBefore.Equal(next.NotBefore) || got.Retry != c.policy) {
					t.Errorf("as the step says: %+v, want %+v", got, next)
				}
			}
			if c.after < 0 {
				if next != nil {
					t.Fatalf("%+v", next)
				}
				return
			}
			id := common.RunID("f", c.attempt+1)
			want := &common.Trigger{
				ID:        id,
				Job:       "a",
				JobUID:    "u",
				Group:     "g",
				Fire:      "f",
				PlannedAt: record.PlannedAt,
				Attempt:   c.attempt + 1,
				After:     c.status,
				Cause:     common.CauseRetry,
				By:        "me",
				Note:      "why",
				NotBefore: now.Add(c.after),
				Params:    map[string]string{"p": "v"},
				Avoid:     c.avoid,
			}
			if !reflect.DeepEqual(next, want) || next.RunID() != id {
				t.Fatalf("got  %+v\nwant %+v", next, want)
			}
		})
	}
}

// The trigger for the next attempt is committed with the outcome, under the definition
// that the run was claimed with.
func TestRetryGoesWithTheFinish(t *testing.T) {
	bubble(t, func(c *Config) { c.Runner = failing{} }, func(r *rig) {
		r.claimer.answer = func(c *common.Claim) common.ClaimResult {
			result := claimed(c)
			result.Job.Retry = &common.Retry{Max: 2}
			return result
		}
		r.hand(r.fire("a"))
		o := r.finisher.batches[0][0]
		if o.Next == nil || o.Next.Attempt != 2 || o.Next.Avoid != "w" || o.Next.JobUID != "uid-a" || o.Created != 7 ||
			o.Token != 42 {
			r.Fatalf("finished with %+v", o)
		}
		f := r.shot("a", o.Next.ID)
		f.Trigger.Trigger = *o.Next
		r.hand(f)
		if r.expectOutcomes("a failed 42 ", "a failed 42 "); r.finisher.batches[1][0].Run.ID != o.Next.ID ||
			r.finisher.batches[1][0].Next.Attempt != 3 {
			r.Fatalf("finished with %+v", r.finisher.batches[1][0])
		}
	})
}

type failing struct{}

func (failing) Run(_ context.Context, t Task) common.Run { return t.Record.AsRun(common.StatusFailed) }

// The outbox of a worker that is no more is delivered by exactly one live worker.
func TestOutboxRecovery_OneWorkerDelivers(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		var owners []string
		for i := range 20 {
			owners = append(owners, fmt.Sprint("dead-", i))
		}
		owners = append(owners, "w0", "w1", "w2", common.MasterOutbox)
		delivered := map[string][]string{} // by owner: heirs
		cluster := &fakeCluster{}
		recovery := func(id string) *OutboxRecovery {
			return &OutboxRecovery{
				Owners:  func(context.Context) ([]string, error) { return owners, nil },
				Cluster: cluster,
				Life:    common.Life{Worker: id},
				Deliver: func(_ context.Context, owner string) (int, error) {
					delivered[owner] = append(delivered[owner], id)
					return 1, nil
				},
				Log: slog.New(slog.DiscardHandler),
			}
		}
		pass := func(ids ...string) {
			t.Helper()
			for _, id := range ids {
				if err := recovery(id).pass(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		pass("w0", "w1", "w2")
		if len(delivered) != 0 {
			t.Fatalf("delivered %v before it is known who is alive", delivered)
		}
		cluster.alive(member("w0"), member("w1"), member("w2"))
		pass("w0", "w1", "w2")
		by := map[string]int{}
		for owner, heirs := range delivered {
			if len(heirs) != 1 || owner[0] != 'd' {
				t.Errorf("%s is delivered by %v", owner, heirs)
			}
			by[heirs[0]]++
		}
		if len(delivered) != 20 || len(by) != 3 {
			t.Fatalf("delivered %v", delivered)
		}
		cluster.alive(member("w0"), member("w2")) // w1 went
		clear(delivered)
		pass("w0", "w2")
		if len(delivered) != 21 || len(delivered["w1"]) != 1 {
			t.Fatalf("delivered %v", delivered)
		}
	})
}

// A pass follows the end of a worker, and a failed pass.
func TestOutboxRecovery_FailedPass_IsRepeated(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		cluster := &fakeCluster{}
		cluster.alive(member("w"))
		var tried []time.Duration
		began := time.Now()
		b := &OutboxRecovery{
			Owners:  func(context.Context) ([]string, error) { return []string{"dead"}, nil },
			Cluster: cluster,
			Life:    common.Life{Worker: "w"},
			Deliver: func(context.Context, string) (int, error) {
				tried = append(tried, time.Since(began))
				if len(tried) < 3 {
					return 0, errors.New("away")
				}
				return 1, nil
			},
			Log: slog.New(slog.DiscardHandler),
		}
		ctx, cancel := context.WithCancel(t.Context())
		gone, ended := make(chan struct{}), make(chan error, 1)
		go func() { ended <- b.Run(ctx, gone) }()
		time.Sleep(5 * time.Second)
		gone <- struct{}{}
		time.Sleep(retryDelivery + searchEvery)
		virtualtime.Wait()
		second := 5 * time.Second
		if want := []time.Duration{0, second, second + retryDelivery,
			second + retryDelivery + searchEvery}; !slices.Equal(tried, want) {
			t.Fatalf("tried after %v, want %v", tried, want)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}

// A run that is being claimed, is active, or is being finished is owned; any other record of this incarnation is
// resolved as lost.
func TestOwnsAndRelease(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		run := "uid-a." + common.TimeKey(time.Now()) + ".1"
		expect := func(want bool) {
			r.Helper()
			virtualtime.Wait()
			if r.d.Owns(run) != want {
				r.Fatalf("owned: %t", !want)
			}
		}
		claim, finish := make(chan struct{}), make(chan struct{})
		r.claimer.hold, r.finisher.hold = claim, finish
		r.long("a")
		expect(false)
		r.hand(r.fire("a"))
		expect(true)
		close(claim)
		expect(true)
		r.release("a")
		expect(true)
		close(finish)
		expect(false)
		r.d.Release(common.Orphan{Record: common.Record{Run: "stray", Job: "b"}, CreateRevision: 9}, 7)
		virtualtime.Wait()
		r.expectOutcomes("a succeeded 42 ", "b lost 9 ")
	})
}

// A fire of a job that queues its fires lets the attempts that are due go first, and those that came since it was
// planned.
func TestClaimGoesAfterEarlierAttempts(t *testing.T) {
	queue := func(t *common.Terms) { t.Overlap = common.OverlapQueue }
	bubble(t, nil, func(r *rig) {
		attempts := []scheduler.Attempt{{Trigger: "due", NotBefore: time.Now()}, {
			Trigger:   "later",
			NotBefore: time.Now().Add(time.Millisecond),
		}}
		for _, f := range []scheduler.Fire{r.fire("a", queue), r.shot("b", "manual", queue), r.fire("c")} {
			f.Earlier, f.Seen = attempts, 7
			r.hand(f)
		}
		for _, claim := range r.claimer.claims() {
			var want *common.Earlier
			if claim.Job != "c" {
				want = &common.Earlier{Due: []string{"due"}, Seen: 7}
			}
			if !reflect.DeepEqual(claim.Earlier, want) {
				r.Errorf("the claim of %s goes after %+v, want %+v", claim.Job, claim.Earlier, want)
			}
		}
	})
}

// A re-run that a user requested has all retries of the job again, and as many attempts after a loss.
func TestRetry_AfterARerun_CountsAnew(t *testing.T) {
	job := &common.StoredJob{Job: common.Job{Retry: &common.Retry{Max: 2, Backoff: "5s"}}}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		attempt int
		want    bool
		after   time.Duration
	}{{4, true, 5 * time.Second}, {5, true, 10 * time.Second}, {6, false, 0}} {
		record := common.Record{Fire: "f", Attempt: c.attempt, Base: 3, Cause: common.CauseRerun,
			Policy: common.Policy{OnLost: common.LostRerun}}
		run := record.AsRun(common.StatusFailed)
		next := retryOf(job, &record, &run, "w", now)
		if (next != nil) != c.want || next != nil && (next.Base != 3 || !next.NotBefore.Equal(now.Add(c.after))) {
			t.Errorf("attempt %d: %+v", c.attempt, next)
		}
		if lost := rerunOf(&record, now); (lost != nil) != c.want {
			t.Errorf("attempt %d is lost: %+v", c.attempt, lost)
		}
	}
}

// The delays of a further attempt count from when it could start: its planned time may be days ago.
func TestDelays_OfAFurtherAttempt_CountFromItsReadiness(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	run := common.Run{PlannedAt: at.Add(-24 * time.Hour), ReadyAt: new(at), ClaimedAt: new(at.Add(time.Second)),
		StartedAt: new(at.Add(3 * time.Second))}
	if d := delays(&run, at.Add(2*time.Second)); d.Plan != "1s" || d.Claim != "1s" || d.Start != "1s" {
		t.Errorf("%+v", d)
	}
	run.ReadyAt = nil
	if d := delays(&run, at.Add(2*time.Second)); d.Plan != "24h0m1s" {
		t.Errorf("a first attempt: %+v", d)
	}
}
