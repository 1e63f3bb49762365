package joblock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/joblock"
)

var t3, t4 = t0.Add(3 * time.Minute), t0.Add(4 * time.Minute)

// under gives a claim of the plan an overlap policy, and what goes with it.
func under(overlap common.Overlap, c common.Claim) common.Claim {
	c.Record.Policy.Overlap = overlap
	r := &c.Record
	if overlap == common.OverlapQueue || overlap == common.OverlapReplace {
		c.Queue = &common.Trigger{
			ID:        common.QueuedTrigger,
			Job:       r.Job,
			JobUID:    r.JobUID,
			Fire:      r.Fire,
			PlannedAt: r.PlannedAt,
			Attempt:   1,
			Cause:     r.Cause,
		}
	}
	return c
}

// gapped adds a gap before the fire.
func gapped(c common.Claim) common.Claim {
	c.Gap = &common.Run{ID: common.GapID("uid-"+c.Job, c.From), Job: c.Job, Status: common.StatusMissed}
	return c
}

// trigger puts a trigger, and gives the claim of it.
func (s *story) trigger(name, id string, version int64) common.Claim {
	s.Helper()
	trigger := common.Trigger{
		ID:      id,
		Job:     name,
		JobUID:  "uid-" + name,
		Fire:    common.TriggeredFire("uid-"+name, id),
		Attempt: 1,
		Cause:   common.CauseManual,
	}
	resp, err := s.client.Put(s.Context(), common.TriggerKey(name, id), s.encode(trigger))
	if err != nil {
		s.Fatal(err)
	}
	return triggered(version, trigger, resp.Header.Revision)
}

func triggered(version int64, trigger common.Trigger, revision int64) common.Claim {
	claim := planned(trigger.Job, version, t0, t1)
	claim.From, claim.To = time.Time{}, time.Time{}
	claim.Trigger, claim.TriggerRevision = &trigger, revision
	claim.Record.Run, claim.Record.Fire, claim.Record.Attempt, claim.Record.Cause = trigger.RunID(), trigger.Fire,
		trigger.Attempt, trigger.Cause
	return claim
}

// queued reads the trigger that waits for the end of a run, and its revision.
func (s *story) queued(name string) (trigger *common.Trigger, revision int64) {
	s.Helper()
	resp, err := s.client.Get(s.Context(), common.TriggerKey(name, common.QueuedTrigger))
	if err != nil {
		s.Fatal(err)
	}
	if len(resp.Kvs) == 0 {
		return nil, 0
	}
	decoded, err := common.Decode[common.Trigger](resp.Kvs[0].Value)
	if err != nil {
		s.Fatal(err)
	}
	return &decoded, resp.Kvs[0].ModRevision
}

func (s *story) verdict(want common.Verdict, claim common.Claim) common.ClaimResult {
	s.Helper()
	r := s.claim(claim)[0]
	if r.Verdict != want || r.Err != nil {
		s.Fatalf("verdict %d, %v, want %d", r.Verdict, r.Err, want)
	}
	return r
}

// end finishes a run as succeeded.
func (s *story) end(claim common.Claim, r common.ClaimResult) {
	s.Helper()
	if err := s.finish.Finish(s.Context(), []common.Outcome{{
		Run:     claim.Record.AsRun(common.StatusSucceeded),
		Token:   r.Fence,
		Created: r.Created,
	}})[0]; err != nil {
		s.Fatal(err)
	}
}

// expectOutcomes compares what the outbox holds.
func (s *story) expectOutcomes(want map[string]common.Status) {
	s.Helper()
	got := s.outbox()
	for id, status := range want {
		if got[id].Status != status {
			s.Fatalf("outcome of %s is %q, want %q", id, got[id].Status, status)
		}
	}
	if len(got) != len(want) {
		s.Fatalf("outcomes %v, want %v", got, want)
	}
}

func ids(runs []common.Run) (list []string) {
	for _, r := range runs {
		list = append(list, r.ID)
	}
	return list
}

func TestOverlapAllow(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("a", t0)
	for i := range 3 {
		from := t0.Add(time.Duration(i) * time.Minute)
		r := s.verdict(common.Claimed, under(common.OverlapAllow, planned("a", version, from, from.Add(time.Minute))))
		if r.Created != version || r.Job.Name != "a" {
			t.Fatalf("%+v", r)
		}
	}
	trigger := s.trigger("a", "t", version)
	trigger.Record.Policy.Overlap = common.OverlapAllow
	s.verdict(common.Claimed, trigger)
	if n := len(s.keys(common.RecordsOf("a"))); n != 4 || !s.cursor("a").Equal(t3) {
		t.Fatalf("%d runs, cursor %v", n, s.cursor("a"))
	}
}

// One fire waits for the end of the run; those after it are skipped, since one waits already.
func TestOverlapQueue(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("a", t0)
	first := under(common.OverlapQueue, planned("a", version, t0, t1))
	run := s.verdict(common.Claimed, first)
	second := gapped(under(common.OverlapQueue, planned("a", version, t1, t2)))
	if r := s.verdict(common.Queued, second); fmt.Sprint(ids(r.Written)) != fmt.Sprint([]string{second.Gap.ID}) {
		t.Fatalf("written %v", r.Written)
	}
	third := gapped(under(common.OverlapQueue, planned("a", version, t2, t3)))
	if r := s.verdict(common.Skipped, third); fmt.Sprint(ids(r.Written)) != fmt.Sprint([]string{third.Gap.ID,
		third.Skipped.ID}) {
		t.Fatalf("written %v", r.Written)
	}
	waits, revision := s.queued("a")
	if waits == nil || waits.RunID() != second.Record.Run || !s.cursor("a").Equal(t3) {
		t.Fatalf("queued %+v, cursor %v", waits, s.cursor("a"))
	}
	next := triggered(version, *waits, revision)
	s.verdict(common.Blocked, next)
	s.end(first, run)
	if r := s.verdict(common.Claimed, next); len(s.keys(common.TriggersPrefix)) != 0 {
		t.Fatalf("claimed as %+v, triggers %v", r, s.keys(common.TriggersPrefix))
	}
	fourth := under(common.OverlapQueue, planned("a", version, t3, t4)) // there is room again
	s.verdict(common.Queued, fourth)
	s.expectOutcomes(map[string]common.Status{
		first.Record.Run: common.StatusSucceeded,
		second.Gap.ID:    common.StatusMissed,
		third.Gap.ID:     common.StatusMissed,
		third.Skipped.ID: common.StatusSkipped,
	})
}

// The last fire waits, the run before it is killed, and the fire whose place it takes is accounted for.
func TestOverlapReplace(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("a", t0)
	first := under(common.OverlapReplace, planned("a", version, t0, t1))
	run := s.verdict(common.Claimed, first)
	second := under(common.OverlapReplace, planned("a", version, t1, t2))
	if r := s.verdict(common.Queued, second); len(r.Written) != 0 {
		t.Fatalf("written %v", r.Written)
	}
	kills := s.keys(common.KillerPrefix)
	if fmt.Sprint(kills) != fmt.Sprint([]string{common.KillKey(me, first.Record.Run)}) {
		t.Fatalf("kills %v", kills)
	}
	third := gapped(under(common.OverlapReplace, planned("a", version, t2, t3)))
	replaced := common.RunID(second.Record.Fire, 0)
	if r := s.verdict(common.Queued, third); fmt.Sprint(ids(r.Written)) != fmt.Sprint([]string{third.Gap.ID,
		replaced}) {
		t.Fatalf("written %v", r.Written)
	}
	waits, revision := s.queued("a")
	if waits == nil || waits.RunID() != third.Record.Run || !s.cursor("a").Equal(t3) {
		t.Fatalf("queued %+v, cursor %v", waits, s.cursor("a"))
	}
	if out := s.outbox()[replaced]; out.Status != common.StatusSkipped || out.Reason.Code != common.ReasonReplaced ||
		out.Attempt != 0 || !out.PlannedAt.Equal(t2) {
		t.Fatalf("replaced %+v", out)
	}
	s.end(first, run)
	if left := s.keys(common.KillerPrefix); len(left) != 0 {
		t.Fatalf("kills %v", left)
	}
	s.verdict(common.Claimed, triggered(version, *waits, revision))
	s.expectOutcomes(map[string]common.Status{
		first.Record.Run: common.StatusSucceeded,
		third.Gap.ID:     common.StatusMissed,
		replaced:         common.StatusSkipped,
	})
}

// Whatever happens between the look at what stands in the way and the claim: it is
// decided by what is then.
func TestReplaceRaces(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	for _, c := range []struct {
		name    string
		between func(s *story, first common.Claim, run common.ClaimResult)
		want    common.Verdict
		kills   int
		wrote   string // the outcome that is written besides that of the first run
	}{
		{"nothing", func(*story, common.Claim, common.ClaimResult) {}, common.Queued, 1, ""},
		{"the run ends", func(s *story, first common.Claim, run common.ClaimResult) {
			s.end(first, run)
		}, common.Claimed, 0, ""},
		{"its owner takes it back", func(s *story, first common.Claim, _ common.ClaimResult) {
			if _, err := s.client.Put(s.Context(), common.RecordKey("a", first.Record.Run),
				s.encode(first.Record)); err != nil {
				s.Fatal(err)
			}
		}, common.Queued, 1, ""},
		{"another fire is queued", func(s *story, _ common.Claim, _ common.ClaimResult) {
			other := common.Trigger{ID: common.QueuedTrigger, Job: "a", JobUID: "uid-a", Fire: "other", Attempt: 1}
			if _, err := s.client.Put(s.Context(), common.TriggerKey("a", common.QueuedTrigger),
				s.encode(other)); err != nil {
				s.Fatal(err)
			}
		}, common.Queued, 1, "other.0"},
		{"another has claimed it", func(s *story, _ common.Claim, _ common.ClaimResult) {
			if _, err := s.client.Put(s.Context(), common.CursorKey("a"), common.TimeKey(t2)); err != nil {
				s.Fatal(err)
			}
		}, common.Stale, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storyOn(t, server)
			version := s.put("a", t0)
			first := under(common.OverlapReplace, planned("a", version, t0, t1))
			run := s.verdict(common.Claimed, first)
			looked := 0
			client := s.intercepted(func(method string, call func() error) error {
				err := call()
				if looked++; looked == 1 {
					c.between(s, first, run)
				}
				return err
			})
			claim := under(common.OverlapReplace, planned("a", version, t1, t2))
			r := joblock.NewClaimer(client, s.session, me, quiet, nil).Claim(t.Context(), []common.Claim{claim})[0]
			if r.Verdict != c.want || len(s.keys(common.KillerPrefix)) != c.kills {
				t.Fatalf("%+v, kills %v", r, s.keys(common.KillerPrefix))
			}
			waits, _ := s.queued("a")
			if queued := waits != nil && waits.RunID() == claim.Record.Run; queued != (c.want == common.Queued) {
				t.Fatalf("queued %+v", waits)
			}
			if c.wrote != "" && s.outbox()[c.wrote].Reason.Code != common.ReasonReplaced {
				t.Fatalf("outcomes %v", s.outbox())
			}
			if !s.cursor("a").Equal(t2) {
				t.Fatalf("cursor %v", s.cursor("a"))
			}
		})
	}
}

// beside gives a claim of the plan what becomes of it beside a backfill.
func beside(c common.Claim) common.Claim {
	c = under(common.OverlapQueue, c)
	c.Record.Policy.Overlap = common.OverlapSkip
	c.Yielded = new(c.Skipped)
	c.Skipped.Reason = &common.Reason{Code: common.ReasonOverlap}
	c.Yielded.Reason = &common.Reason{Code: common.ReasonBackfill}
	return c
}

// date starts a run of a backfill.
func (s *story) date(name string, version int64) (common.Claim, common.ClaimResult) {
	s.Helper()
	claim := s.trigger(name, "date", version)
	claim.Record.Flow = &common.FlowNode{Kind: common.KindBackfill, Job: common.BackfillJob(name)}
	return claim, s.verdict(common.Claimed, claim)
}

// While a backfill of the job goes on, a fire that would be skipped waits for a run of the backfill, and for that only:
// the run that is in its way decides, whatever changes while it is looked at.
func TestSkipBesideABackfill(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	manual := func(s *story, version int64) {
		s.verdict(common.Claimed, s.trigger("a", "manual", version))
	}
	for _, c := range []struct {
		name    string
		before  func(s *story, version int64)
		between func(s *story, version int64) // after the first look
		want    common.Verdict
		reason  string
	}{
		{"no run", func(*story, int64) {}, nil, common.Claimed, ""},
		{"a date runs", func(s *story, version int64) { s.date("a", version) }, nil, common.Queued, ""},
		{"a date runs, and a fire is queued", func(s *story, version int64) {
			s.date("a", version)
			s.verdict(common.Queued, beside(planned("a", version, t0, t1)))
		}, nil, common.Skipped, common.ReasonBackfill},
		{"a run by hand", manual, nil, common.Skipped, common.ReasonOverlap},
		{"a step of a flow that is backfilled", func(s *story, version int64) {
			claim := s.trigger("a", "step", version)
			claim.Record.Flow = &common.FlowNode{Kind: common.KindFlow, Job: "flow", Background: true}
			s.verdict(common.Claimed, claim)
		}, nil, common.Skipped, common.ReasonOverlap},
		{"the date ends meanwhile", func(*story, int64) {}, func(*story, int64) {}, common.Claimed, ""},
		{"a run by hand follows the date meanwhile", func(*story, int64) {}, manual, common.Skipped,
			common.ReasonOverlap},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storyOn(t, server)
			version := s.put("a", t0)
			c.before(s, version)
			client := s.client
			if c.between != nil {
				date, run := s.date("a", version)
				looked := 0
				client = s.intercepted(func(_ string, call func() error) error {
					err := call()
					if looked++; looked == 1 {
						s.end(date, run)
						c.between(s, version)
					}
					return err
				})
			}
			claim := gapped(beside(planned("a", version, s.cursor("a"), t3)))
			r := joblock.NewClaimer(client, s.session, me, quiet, nil).Claim(t.Context(), []common.Claim{claim})[0]
			if r.Verdict != c.want || !s.cursor("a").Equal(t3) {
				t.Fatalf("%+v, cursor %v", r, s.cursor("a"))
			}
			reason := ""
			if out, skipped := s.outbox()[claim.Skipped.ID]; skipped {
				reason = out.Reason.Code
			}
			if _, passed := s.outbox()[claim.Gap.ID]; reason != c.reason || !passed {
				t.Errorf("skipped for %q, want %q; outcomes %v", reason, c.reason, s.outbox())
			}
			waits, _ := s.queued("a")
			if queued := waits != nil && waits.RunID() == claim.Record.Run; queued != (c.want == common.Queued) {
				t.Errorf("queued %+v", waits)
			}
		})
	}
}

// The run in the way of a flow's fire is a flow run.
func TestSkipBesideABackfill_OfAFlow(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("f", t0)
	head := func(c common.Claim, parent *common.FlowNode) common.Claim {
		c.Head = &common.Head{Kind: common.KindFlow, Run: c.Record.Run, Job: "f", Nonce: c.Record.Nonce, Parent: parent}
		return c
	}
	date := &common.FlowNode{Kind: common.KindBackfill, Job: common.BackfillJob("f")}
	s.verdict(common.Begun, head(s.trigger("f", "date", version), date))
	s.verdict(common.Queued, head(beside(planned("f", version, t0, t1)), nil))
	second := head(beside(planned("f", version, t1, t2)), nil)
	s.verdict(common.Skipped, second)
	if out := s.outbox()[second.Skipped.ID]; out.Reason.Code != common.ReasonBackfill {
		t.Errorf("skipped for %+v", out.Reason)
	}
}

// Where things change all the time the claim gives up for now, and has written nothing.
func TestReplaceThatNeverSettles(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("a", t0)
	first := under(common.OverlapReplace, planned("a", version, t0, t1))
	s.verdict(common.Claimed, first)
	client := s.intercepted(func(_ string, call func() error) error {
		err := call()
		if _, err := s.client.Put(s.Context(), common.RecordKey("a", first.Record.Run),
			s.encode(first.Record)); err != nil {
			s.Error(err)
		}
		return err
	})
	claim := under(common.OverlapReplace, planned("a", version, t1, t2))
	r := joblock.NewClaimer(client, s.session, me, quiet, nil).Claim(t.Context(), []common.Claim{claim})[0]
	if r.Verdict != common.Blocked || len(s.keys(common.KillerPrefix))+len(s.keys(common.TriggersPrefix))+
		len(s.outbox()) != 0 || !s.cursor("a").Equal(t1) {
		t.Fatalf("%+v", r)
	}
}

// In a full batch, one job that allowed overlap before has many runs to replace: the
// others go through all the same.
func TestReplaceOfManyInAFullBatch(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("busy", t0)
	cursor := t0
	for range 30 {
		to := cursor.Add(time.Minute)
		s.verdict(common.Claimed, under(common.OverlapAllow, planned("busy", version, cursor, to)))
		cursor = to
	}
	claims := []common.Claim{gapped(under(common.OverlapReplace,
		planned("busy", version, cursor, cursor.Add(time.Minute))))}
	for i := 1; i < joblock.MaxBatch; i++ {
		name := fmt.Sprintf("job-%03d", i)
		claims = append(claims, gapped(under(common.OverlapReplace, planned(name, s.put(name, t0), t0, t1))))
	}
	results := s.claim(claims...)
	for i, r := range results {
		want := common.Claimed
		if i == 0 {
			want = common.Queued
		}
		if r.Verdict != want {
			t.Fatalf("claim %d: %+v", i, r)
		}
	}
	if n := len(s.keys(common.KillerPrefix)); n != 20 {
		t.Fatalf("%d runs are to be killed", n)
	}
}

// A patient fire waits where a run stands, and nothing is written.
func TestPatientClaim(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	for _, overlap := range []common.Overlap{common.OverlapSkip, common.OverlapQueue, common.OverlapReplace} {
		t.Run(string(overlap), func(t *testing.T) {
			s := storyOn(t, server)
			version := s.put("a", t0)
			first := under(overlap, planned("a", version, t0, t1))
			run := s.verdict(common.Claimed, first)
			patient := gapped(under(overlap, planned("a", version, t1, t2)))
			patient.Patient, patient.Queue, patient.Skipped = true, nil, common.Run{}
			s.verdict(common.Blocked, patient)
			if len(s.outbox())+len(s.keys(common.TriggersPrefix))+len(s.keys(common.KillerPrefix)) != 0 ||
				!s.cursor("a").Equal(t1) {
				t.Fatalf("outbox %v, triggers %v, cursor %v", s.outbox(), s.keys(common.TriggersPrefix), s.cursor("a"))
			}
			s.end(first, run)
			if r := s.verdict(common.Claimed, patient); len(r.Written) != 1 || !s.cursor("a").Equal(t2) {
				t.Fatalf("%+v", r)
			}
		})
	}
}

// A job that was created again under the name waits for the run of the one before.
func TestRunOfADeletedJobStandsInTheWay(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.verdict(common.Claimed, planned("a", s.put("a", t0), t0, t1))
	if _, err := s.client.Txn(t.Context()).Then(clientv3.OpDelete(common.JobKey("a")),
		clientv3.OpDelete(common.CursorKey("a"))).Commit(); err != nil {
		t.Fatal(err)
	}
	s.verdict(common.Skipped, planned("a", s.put("a", t1), t1, t2))
}

// A trigger that was replaced under its id is not the one that was seen.
func TestTriggerIsComparedByItsLastChange(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("a", t0)
	old := s.trigger("a", common.QueuedTrigger, version)
	again := s.trigger("a", common.QueuedTrigger, version)
	s.verdict(common.Stale, old)
	if len(s.keys(common.RecordsOf("a"))) != 0 {
		t.Fatal("claimed")
	}
	edited := s.put("a", t0)
	s.verdict(common.Stale, again)
	again.Version, again.Record.JobVersion = edited, edited
	s.verdict(common.Claimed, again)
	s.verdict(common.Claimed, again) // the same claim, as after a lost answer
	stolen := again
	stolen.Record.Nonce = common.NewID()
	s.verdict(common.Stale, stolen)
}

func TestLook(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("a", t0)
	trigger := s.trigger("a", "t", version)
	s.put("b", t1)
	looks := []common.FireQuery{{Job: "a"}, {Job: "a", Runs: true}, {Job: "b"}, {Job: "none", Runs: true},
		{
			Job:      "a",
			Trigger:  "t",
			Revision: trigger.TriggerRevision,
		}, {Job: "a", Trigger: "t", Revision: trigger.TriggerRevision - 1, Runs: true},
		{Job: "a", Trigger: "gone", Revision: 7}}
	expect := func(want ...common.FireState) {
		t.Helper()
		got := s.claimer.ReadFires(t.Context(), looks)
		for i := range want {
			if !got[i].Cursor.Equal(want[i].Cursor) || got[i].Taken != want[i].Taken || got[i].Busy != want[i].Busy ||
				got[i].Err != nil {
				t.Fatalf("look %+v: %+v, want %+v", looks[i], got[i], want[i])
			}
		}
	}
	at := func(c time.Time) common.FireState { return common.FireState{Cursor: c} }
	expect(at(t0), at(t0), at(t1), common.FireState{}, common.FireState{}, common.FireState{Taken: true},
		common.FireState{Taken: true})
	s.verdict(common.Claimed, planned("a", version, t0, t1))
	busy := at(t1)
	busy.Busy = true
	expect(at(t1), busy, at(t1), common.FireState{}, common.FireState{}, common.FireState{Taken: true, Busy: true},
		common.FireState{Taken: true})

	if _, err := s.client.Put(t.Context(), common.CursorKey("broken"), "soon"); err != nil {
		t.Fatal(err)
	}
	if got := s.claimer.ReadFires(t.Context(), []common.FireQuery{{Job: "broken"}, {Job: "b"}}); got[0].Err == nil ||
		got[1].Err != nil || !got[1].Cursor.Equal(t1) {
		t.Fatalf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, l := range s.claimer.ReadFires(ctx, looks) {
		if l.Err == nil {
			t.Fatalf("%+v without an answer", l)
		}
	}
}

// A member of etcd that has not caught up after its restart does not know a trigger that another one has announced. If
// the trigger counted as taken, the worker would forget it: forever, where no other worker may claim it.
func TestReadFires_MemberLagsBehindTheTrigger_IsAnError(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	s.put("a", t0)
	resp, err := s.client.Get(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	now := resp.Header.Revision
	got := s.claimer.ReadFires(t.Context(), []common.FireQuery{
		{Job: "a", Trigger: "ahead", Revision: now + 1},
		{Job: "a", Trigger: "gone", Revision: now},
		{Job: "a"},
	})
	if got[0].Err == nil || got[0].Taken {
		t.Errorf("a trigger that is newer than the answer: %+v", got[0])
	}
	if got[1].Err != nil || !got[1].Taken || got[2].Err != nil || !got[2].Cursor.Equal(t0) {
		t.Errorf("what the answer knows: %+v", got[1:])
	}
}

// However many are looked at, etcd takes it.
func TestLookAtMany(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	var looks []common.FireQuery
	for i := range 250 {
		name := fmt.Sprintf("job-%03d", i)
		s.put(name, t0.Add(time.Duration(i)*time.Minute))
		looks = append(looks, common.FireQuery{Job: name, Runs: true})
	}
	before, err := s.client.Get(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range s.claimer.ReadFires(t.Context(), looks) {
		if l.Err != nil || !l.Cursor.Equal(t0.Add(time.Duration(i)*time.Minute)) || l.Busy || l.Taken {
			t.Fatalf("look %d: %+v", i, l)
		}
	}
	after, err := s.client.Get(t.Context(), "x")
	if err != nil || after.Header.Revision != before.Header.Revision {
		t.Fatalf("looking has changed something: %v", err)
	}
}

// While a next attempt of an earlier fire is due, or may be, a later fire of the job finds what it finds while a run
// of the job is unresolved: a fire of the plan is queued, a trigger waits, and so does a fire that is caught up.
func TestQueue_EarlierAttemptGoesFirst(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	const known = 1 << 40 // a revision that nothing is newer than
	for _, c := range []struct {
		name    string
		earlier common.Earlier
		at      time.Time // of the fire that has a next attempt
		attempt bool
		want    common.Verdict
	}{
		{"none", common.Earlier{Seen: known}, t1, false, common.Claimed},
		{"due", common.Earlier{
			Seen: known,
			Due:  []string{common.RunID(common.PlannedFire("uid-a", t1), 2)},
		}, t1, true, common.Queued},
		{"was due and has gone", common.Earlier{
			Seen: known,
			Due:  []string{common.RunID(common.PlannedFire("uid-a", t1), 2)},
		}, t1, false, common.Claimed},
		{"seen and not due", common.Earlier{Seen: known}, t1, true, common.Claimed},
		{"newer than seen", common.Earlier{Seen: 1}, t1, true, common.Queued},
		{"of a later fire", common.Earlier{Seen: 1}, t3, true, common.Claimed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storyOn(t, server)
			version := s.put("a", t1)
			next := common.Trigger{
				Job:       "a",
				JobUID:    "uid-a",
				Fire:      common.PlannedFire("uid-a", c.at),
				PlannedAt: c.at,
				Attempt:   2,
				Cause:     common.CauseRerun,
			}
			next.ID = next.RunID()
			if c.attempt {
				s.etcd(clientv3.OpPut(common.TriggerKey("a", next.ID), s.encode(next)))
			}
			fire := under(common.OverlapQueue, planned("a", version, t1, t2))
			fire.Earlier = &c.earlier
			s.verdict(c.want, fire)
			if c.want == common.Claimed {
				return
			}
			queued, revision := s.queued("a")
			if queued == nil || len(s.keys(common.RunsPrefix)) != 0 || !s.cursor("a").Equal(t2) {
				t.Fatalf("queued as %+v, with %v", queued, s.keys("/cron/"))
			}
			waiting := under(common.OverlapQueue, triggered(version, *queued, revision))
			waiting.Record.PlannedAt, waiting.Earlier = queued.PlannedAt, &c.earlier
			s.verdict(common.Blocked, waiting)
			patient := under(common.OverlapQueue, planned("a", version, t2, t3))
			patient.Earlier, patient.Patient = &c.earlier, true
			s.verdict(common.Blocked, patient)

			resp, err := s.client.Get(t.Context(), common.TriggerKey("a", next.ID))
			if err != nil {
				t.Fatal(err)
			}
			first := under(common.OverlapQueue, triggered(version, next, resp.Kvs[0].ModRevision))
			first.Record.PlannedAt, first.Earlier = next.PlannedAt, &common.Earlier{Seen: 1}
			r := s.verdict(common.Claimed, first)
			s.verdict(common.Blocked, waiting)
			s.end(first, r)
			s.verdict(common.Claimed, waiting)
		})
	}
}
