package dispatch

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/scheduler"
)

func TestClaimsGatherWhileOneIsInFlight(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		gate := make(chan struct{})
		r.claimer.hold = gate
		r.hand(r.fire("a"))
		r.expectBatches([]string{"a"}) // a lone one goes at once
		b, c, later := r.fire("b"), r.fire("c"), r.shot("b", "t")
		b.Due, c.Due = b.Due.Add(-2), c.Due.Add(-1)
		r.hand(b, c, later)
		r.expectBatches([]string{"a"})
		gate <- struct{}{}
		virtualtime.Wait()
		r.expectBatches([]string{"a"}, []string{"b", "c"})
		close(gate)
		virtualtime.Wait()
		r.expectBatches([]string{"a"}, []string{"b", "c"}, []string{"b"}) // one per job in a batch
		if n := len(r.settled()); n != 4 {
			t.Fatalf("%d answers to 4 fires", n)
		}
	})
}

func TestBatchesAreBounded(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		gate := make(chan struct{})
		r.claimer.hold = gate
		r.hand(r.fire("first"))
		for i := range 25 {
			f := r.fire(fmt.Sprintf("j%02d", i))
			f.Due = f.Due.Add(time.Duration(i - 25)) // what fell due first goes first
			r.hand(f)
		}
		close(gate)
		virtualtime.Wait()
		var sizes []int
		var order []string
		for _, batch := range r.claimer.jobs() {
			sizes = append(sizes, len(batch))
			order = append(order, batch...)
		}
		if !slices.Equal(sizes, []int{1, 10, 10, 5}) || !slices.IsSorted(order[1:]) {
			r.Fatalf("batches of %v: %v", sizes, order)
		}
	})
}

func (r *rig) started() (jobs []string) {
	for _, task := range r.runner.started() {
		jobs = append(jobs, task.Record.Job)
	}
	slices.Sort(jobs)
	return jobs
}

func TestClaim_Verdict_SettlesTheFire(t *testing.T) {
	midnight := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // the time in a new bubble
	before, retry := midnight.Add(-time.Minute), midnight.Add(retryAfter)
	state := func(uid string, version int64, cursor time.Time) *common.JobState {
		return &common.JobState{StoredJob: common.StoredJob{UID: uid}, Version: version, Cursor: cursor}
	}
	run := "uid-a." + common.TimeKey(midnight) + ".1"
	for _, c := range []struct {
		name    string
		trigger bool
		late    bool // so late that its fire is only passed
		result  common.ClaimResult
		want    scheduler.Settled
		counted common.Status
	}{
		{
			name:    "claimed",
			result:  common.ClaimResult{Verdict: common.Claimed, Proof: common.Proof{Sent: forEver}},
			want:    scheduler.Settled{Cursor: midnight, Run: run},
			counted: common.StatusSucceeded,
		},
		{
			name:    "trigger claimed",
			trigger: true,
			result:  common.ClaimResult{Verdict: common.Claimed, Proof: common.Proof{Sent: forEver}},
			want:    scheduler.Settled{Gone: true, Run: "uid-a.tx.1"},
			counted: common.StatusSucceeded,
		},
		{
			name:    "skipped",
			result:  common.ClaimResult{Verdict: common.Skipped},
			want:    scheduler.Settled{Cursor: midnight},
			counted: common.StatusSkipped,
		},
		{
			name:    "passed",
			late:    true,
			result:  common.ClaimResult{Verdict: common.Passed},
			want:    scheduler.Settled{Cursor: midnight.Add(-2 * time.Hour)},
			counted: common.StatusMissed,
		},
		{
			name:    "blocked",
			trigger: true,
			result:  common.ClaimResult{Verdict: common.Blocked},
			want:    scheduler.Settled{RetryAt: retry},
		},
		{name: "failed", result: common.ClaimResult{Err: errors.New("no")}, want: scheduler.Settled{RetryAt: retry}},
		{
			name:    "trigger failed",
			trigger: true,
			result:  common.ClaimResult{Err: errors.New("no")},
			want:    scheduler.Settled{RetryAt: retry},
		},
		{name: "stale: gone", result: common.ClaimResult{Verdict: common.Stale}, want: scheduler.Settled{Gone: true}},
		{
			name:   "stale: another job",
			result: common.ClaimResult{Verdict: common.Stale, State: state("other", 9, midnight)},
			want:   scheduler.Settled{Gone: true},
		},
		{
			name:   "stale: edited",
			result: common.ClaimResult{Verdict: common.Stale, State: state("uid-a", 9, before)},
			want:   scheduler.Settled{Version: 9, Cursor: before},
		},
		{
			name:   "stale: taken by another",
			result: common.ClaimResult{Verdict: common.Stale, State: state("uid-a", 3, midnight)},
			want:   scheduler.Settled{Version: 3, Cursor: midnight},
		},
		{
			name:   "stale: as it was",
			result: common.ClaimResult{Verdict: common.Stale, State: state("uid-a", 3, before)},
			want:   scheduler.Settled{Version: 3, Cursor: before, RetryAt: retry},
		},
		{
			name:   "stale: unreadable",
			result: common.ClaimResult{Verdict: common.Stale, Err: errors.New("json")},
			want:   scheduler.Settled{RetryAt: retry.Add(scheduler.RetryIneligible)},
		},
		{
			name:    "trigger stale: gone",
			trigger: true,
			result:  common.ClaimResult{Verdict: common.Stale},
			want:    scheduler.Settled{RetryAt: retry},
		},
		{
			name:    "trigger stale: edited",
			trigger: true,
			result:  common.ClaimResult{Verdict: common.Stale, State: state("uid-a", 9, before)},
			want:    scheduler.Settled{RetryAt: retry},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.claimer.answer = func(claim *common.Claim) common.ClaimResult { return wrote(c.result, claim) }
				f := r.fire("a")
				if c.trigger {
					f = r.shot("a", "x")
				}
				if c.late {
					hourly := f.At.Add(-2 * time.Hour)
					f.Cursor, f.At, f.Due = hourly.Add(-time.Minute), hourly, hourly
					f.Schedule = r.once(hourly)
				}
				r.hand(f)
				got := r.settled()
				if len(got) != 1 {
					r.Fatalf("%d answers", len(got))
				}
				c.want.Fire = f
				if !reflect.DeepEqual(got[0], c.want) {
					r.Fatalf("got  %+v\nwant %+v", got[0], c.want)
				}
				for _, s := range common.Statuses {
					want := 0
					if s == c.counted {
						want = 1
					}
					if n := r.metrics.count(s); n != want {
						r.Fatalf("%d outcomes %s are counted, want %d", n, s, want)
					}
				}
				if ran := len(r.runner.started()) == 1; ran != (c.result.Verdict == common.Claimed) {
					r.Fatalf("ran: %v", ran)
				}
			})
		})
	}
}

func TestClaim_PlannedFire_HasItsRecord(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		f := r.fire("a")
		f.Group = "g"
		f.Cursor, f.At, f.Due = f.At.Add(-30*time.Minute), f.At.Add(-29*time.Minute), f.At.Add(-29*time.Minute)
		r.hand(f)
		c := r.claimer.batches[0][0]
		now := time.Now().UTC()
		if c.Job != "a" || c.Version != 3 || !c.From.Equal(f.Cursor) || !c.To.Equal(now) || c.Trigger != nil {
			r.Fatalf("claim %+v", c)
		}
		want := common.Record{
			Run:        "uid-a." + common.TimeKey(now) + ".1",
			Fire:       "uid-a." + common.TimeKey(now),
			Job:        "a",
			JobUID:     "uid-a",
			JobVersion: 3,
			Group:      "g",
			PlannedAt:  now,
			ClaimedAt:  now,
			Attempt:    1,
			Cause:      common.CauseCron,
			Nonce:      c.Record.Nonce,
			Policy:     f.Terms.Policy,
			TTL:        15 * time.Second,
			Owner:      common.Life{Worker: "w", Name: "worker", Life: "l"},
		}
		if !reflect.DeepEqual(c.Record, want) || c.Record.Nonce == "" {
			r.Fatalf("record %+v\nwant   %+v", c.Record, want)
		}
		if s := c.Skipped; s.ID != want.Fire+".0" || s.Attempt != 0 || s.Status != common.StatusSkipped ||
			s.Reason.Code != "overlap" || s.Worker != "" {
			r.Fatalf("skipped %+v", s)
		}
		gap := c.Gap
		if gap == nil || gap.Status != common.StatusMissed || gap.Reason.Code != "late" || gap.Gap.Count != 29 ||
			gap.ID != common.GapID("uid-a", f.Cursor) ||
			!gap.Gap.From.Equal(f.Cursor) || !gap.Gap.To.Equal(now.Add(-time.Minute)) || gap.Group != "g" {
			r.Fatalf("gap %+v", gap)
		}
		if r.metrics.count(common.StatusMissed) != 1 {
			r.Fatal("what a claim passed is not counted")
		}
	})
}

// The steps of a flow process the interval of its fire, which only its schedule defines.
func TestClaim_FireOfAFlow_HasItsInterval(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		planned, old, manual := r.fire("planned"), r.backfilled("old", "t"), r.shot("manual", "m")
		planned.Flow, old.Flow, manual.Flow = &scheduler.Flow{}, &scheduler.Flow{}, &scheduler.Flow{}
		old.Trigger.JobUID, old.Trigger.Flow.UID = "", old.UID
		old.Trigger.Fire = common.PlannedFire(old.UID, old.At)
		r.hand(planned, old, manual)
		want := &common.Interval{Start: planned.At.Add(-time.Minute), End: planned.At}
		for _, c := range r.claimer.claims() {
			got := c.Head.Interval
			if c.Job == "manual" && got != nil || c.Job != "manual" && !reflect.DeepEqual(got, want) {
				t.Errorf("%s has the interval %v", c.Job, got)
			}
		}
		claimed := slices.Sorted(slices.Values(r.order())) // a backfill yields only to what has arrived
		if want := []string{"manual", "old", "planned"}; !slices.Equal(claimed, want) {
			t.Errorf("claimed %v, want %v", claimed, want)
		}
	})
}

// Flow runs that are claimed count before the watch delivers them: a batch claims no more than there is room for.
func TestClaim_FlowRuns_WaitForRoomForTheirNodes(t *testing.T) {
	load := scheduler.NewFlowLoad(10)
	bubble(t, func(cfg *Config) { cfg.FlowLoad = load }, func(r *rig) {
		r.cluster.mu.Lock()
		r.cluster.load = load
		r.cluster.mu.Unlock()
		answer := common.ClaimResult{Verdict: common.Begun}
		r.claimer.set(func(c *fakeClaimer) {
			c.answer = func(*common.Claim) common.ClaimResult { return answer }
		})
		flow := func(job string) scheduler.Fire {
			f := r.shot(job, "t")
			f.Flow = &scheduler.Flow{Digest: "d", Nodes: 6}
			return f
		}
		r.hand(flow("a"), flow("b"))
		claims := r.claimer.claims()
		if len(claims) != 1 || claims[0].Head.Nodes != 6 {
			t.Fatalf("claims are %+v, want that of a flow run with 6 nodes", claims)
		}
		waits := r.settled()
		if i := slices.IndexFunc(waits, func(s scheduler.Settled) bool { return s.Fire.Job != claims[0].Job }); i < 0 ||
			waits[i].RetryAt.IsZero() {
			t.Errorf("the other one is %+v, want it to wait", waits)
		}
		load.Heads(false, nil, []string{claims[0].Head.Run}) // nothing: it was never delivered
		load.Heads(false, []common.FlowRun{{Head: *claims[0].Head}}, nil)
		load.Heads(false, nil, []string{claims[0].Head.Run}) // it has ended
		answer.Verdict = common.Blocked
		r.hand(flow("c"))
		if load.Full(10, time.Now()) || len(r.claimer.claims()) != 2 {
			t.Error("a refused claim keeps its nodes")
		}
	})
}

// A flow that was saved since the request does not renumber the steps that its re-run keeps.
func TestClaim_ReRunOfAFlow_KeepsWhatItsTriggerNames(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		whole, part := r.shot("whole", "t"), r.shot("part", "t")
		whole.Flow, part.Flow = &scheduler.Flow{Digest: "now"}, &scheduler.Flow{Digest: "now"}
		whole.Flow.Needs, whole.Trigger.NoAfter = []string{common.FeatureFinally}, true
		whole.Trigger.Parents = []common.ParentRun{{Job: "p", Run: "p.t1.1"}}
		part.Trigger.Digest, part.Trigger.Keep = "then", &common.Base{Run: "before", Kept: common.Bits{5}}
		part.Trigger.Starters = []string{"ada"}
		r.hand(whole, part)
		for _, c := range r.claimer.claims() {
			if len(c.Head.Starters) > 0 != (c.Job == "part") {
				t.Errorf("%s was started by %q", c.Job, c.Head.Starters)
			}
			digest, keep := "now", (*common.Base)(nil)
			if c.Job == "part" {
				digest, keep = "then", part.Trigger.Keep
			}
			if c.Job == "whole" && (len(c.Head.Parents) != 1 || len(c.Record.Parents) != 1) {
				t.Errorf("after %+v, %+v", c.Head.Parents, c.Record.Parents)
			}
			// Older workers would let the success of a flow run count that is to start no other jobs.
			if needs := slices.Contains(c.Head.Needs, common.FeatureNoAfter); needs != c.Head.NoAfter ||
				needs != (c.Job == "whole") || len(whole.Flow.Needs) != 1 {
				t.Errorf("%s: needs %q, after: %t", c.Job, c.Head.Needs, !c.Head.NoAfter)
			}
			if c.Head.Digest != digest || !reflect.DeepEqual(c.Head.Base, keep) {
				t.Errorf("%s: digest %s, base %+v, want %s, %+v", c.Job, c.Head.Digest, c.Head.Base, digest, keep)
			}
		}
		r.expectOrder("whole", "part")
	})
}

func TestClaim_Trigger_HasItsRecord(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		f := r.shot("a", "x")
		f.Trigger.After = common.StatusTimedOut
		r.hand(f)
		r.hand(f)
		c := r.claimer.batches[0][0]
		if c.Trigger == nil || c.TriggerRevision != 7 || !c.To.IsZero() || c.Gap != nil ||
			c.Record.After != common.StatusTimedOut || c.Record.Run != "uid-a.tx.1" || c.Record.By != "me" ||
			c.Record.Cause != common.CauseManual || c.Record.JobVersion != 3 {
			r.Fatalf("claim %+v", c)
		}
		if again := r.claimer.batches[1][0]; again.Record.Nonce == c.Record.Nonce {
			r.Fatal("two claims with one nonce")
		}
	})
}

// A run that this incarnation has owned before is not executed again, and its record does not block the job.
func TestClaim_RunOwnedBefore_IsNotStarted(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		f := r.fire("a")
		r.hand(f)
		r.hand(f)
		if n := len(r.runner.started()); n != 1 {
			r.Fatalf("executed %d times", n)
		}
		r.expectOutcomes("a succeeded 42 ", "a lost 42 ")
		if last := r.settled()[1]; last.Run != "" || !last.Cursor.Equal(f.At) {
			r.Fatalf("answered by %+v", last)
		}
		if r.running() != 0 {
			r.Fatalf("%d run", r.running())
		}
	})
}
