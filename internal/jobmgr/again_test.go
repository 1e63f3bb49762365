package jobmgr_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// past is the history of one fire, as the log store would return it.
type past struct{ run common.Run }

func (p *past) request(read func()) common.TriggerRequest {
	return common.TriggerRequest{Job: p.run.Job, Note: "once more",
		Again: &common.AgainRequest{Fire: p.run.Fire, Last: func(context.Context) (common.Run, error) {
			run := p.run
			if read != nil {
				read()
			}
			return run, nil
		}}}
}

// ends records the end of an attempt that was requested.
func (p *past) ends(t common.Trigger, status common.Status) {
	p.run.ID, p.run.Attempt, p.run.Status = t.RunID(), t.Attempt, status
}

// failedFire is a planned fire of a new job that failed after two attempts.
func (s *story) failedFire(name string) *past {
	job := s.put(minutely(name))
	fire := common.PlannedFire(job.UID, noon.Add(-time.Hour))
	return &past{common.Run{ID: common.RunID(fire, 2), Fire: fire, Job: name, JobUID: job.UID, Attempt: 2,
		PlannedAt: noon.Add(-time.Hour), Cause: common.CauseRetry, Status: common.StatusFailed}}
}

func TestTriggerAgain_IsTheNextAttemptOfTheFire(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p := s.failedFire("a")
	p.run.Parents = []common.ParentRun{{Job: "p", Run: "p.t1.1", PlannedAt: noon}}
	trigger, err := s.store.Trigger(t.Context(), actor, p.request(nil))
	if err != nil {
		t.Fatal(err)
	}
	if trigger.ID != common.RunID(p.run.Fire, 3) || trigger.Fire != p.run.Fire || trigger.Attempt != 3 ||
		trigger.Base != 2 || trigger.After != common.StatusFailed || trigger.Cause != common.CauseRerun ||
		!trigger.PlannedAt.Equal(p.run.PlannedAt) || !trigger.NotBefore.Equal(noon) || trigger.By != actor.Name ||
		trigger.Note != "once more" || !slices.Equal(trigger.Parents, p.run.Parents) {
		t.Errorf("%+v", trigger)
	}
	if stored := all[common.Trigger](s, common.TriggersOf("a")); len(stored) != 1 || stored[0].ID != trigger.ID {
		t.Errorf("stored %+v", stored)
	}
	if changes := s.changes("a"); changes[len(changes)-1].Verb != "run" {
		t.Errorf("audit: %+v", changes)
	}
	s.remove("a")
	if keys := s.keys(common.AttemptsKey("a")); len(keys) > 0 {
		t.Errorf("the fence of a deleted job is left: %v", keys)
	}
}

// A live run may create the next attempt itself, so that its number is taken.
func TestTriggerAgain_OfALiveFire_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p := s.failedFire("a")
	waits, err := s.store.Trigger(t.Context(), actor, p.request(nil))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.store.Trigger(t.Context(), actor, p.request(nil))
	wantReason(t, "its next attempt waits", err, "fire_live")
	record := s.claim(waits, "north")
	_, err = s.store.Trigger(t.Context(), actor, p.request(nil))
	wantReason(t, "it runs", err, "fire_live")
	s.finish(record)
	p.ends(waits, common.StatusTimedOut)
	again, err := s.store.Trigger(t.Context(), actor, p.request(nil))
	if err != nil || again.Attempt != 4 || again.After != common.StatusTimedOut {
		t.Errorf("after its end: %+v, %v", again, err)
	}
	p.run.Status = common.StatusRunning
	s.erase(common.TriggerKey("a", again.ID))
	_, err = s.store.Trigger(t.Context(), actor, p.request(nil))
	wantReason(t, "the history has a run without an end", err, "fire_live")
}

// Another request is granted, and its run ends, between the read of the history and the commit: the number that was
// read is taken.
func TestTriggerAgain_NumbersEachAttemptOnce(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p, reads := s.failedFire("a"), 0
	other := s.master(s.catalog)
	trigger, err := s.store.Trigger(t.Context(), actor, p.request(func() {
		if reads++; reads > 1 {
			return
		}
		first, err := other.Trigger(t.Context(), actor, p.request(nil))
		if err != nil {
			t.Fatal(err)
		}
		s.finish(s.claim(first, "north"))
		p.ends(first, common.StatusFailed)
	}))
	if err != nil || trigger.Attempt != 4 || reads != 2 {
		t.Errorf("attempt %d after %d reads, %v", trigger.Attempt, reads, err)
	}
}

func TestTriggerAgain_OfAnEarlierJobOfTheName_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p := s.failedFire("a")
	s.remove("a")
	s.put(minutely("a"))
	_, err := s.store.Trigger(t.Context(), actor, p.request(nil))
	wantReason(t, "the job is another one", err, "job_replaced")
}

func TestTriggerAgain_RepeatedWithItsKey_IsOneAttempt(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p := s.failedFire("a")
	r := p.request(nil)
	r.Key = "k"
	first, err := s.store.Trigger(t.Context(), actor, r)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.store.Trigger(t.Context(), actor, r)
	if err != nil || second.ID != first.ID || len(s.keys(common.TriggersOf("a"))) != 1 {
		t.Errorf("%+v, %v; want %+v", second, err, first)
	}
	r.Again.Fire += "0"
	_, err = s.store.Trigger(t.Context(), actor, r)
	wantCode(t, "the key for another fire", err, common.CodeConflict)
}

func wantReason(t *testing.T, what string, err error, reason string) {
	t.Helper()
	if e, ok := err.(*common.Error); !ok || e.Reason != reason {
		t.Errorf("%s: %v, want %s", what, err, reason)
	}
}

// A backfill has numbered the attempt of a fire that it will run: no other request assigns that number.
func TestTriggerAgain_FireOfABackfill_IsRefusedUntilItHasRun(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p := s.failedFire("a")
	request := common.BackfillRequest{From: p.run.PlannedAt.Add(-time.Minute), To: p.run.PlannedAt.Add(time.Minute),
		Reprocess: common.ReprocessAll}
	_, head, err := s.store.Backfill(t.Context(), actor, "a", request, common.Precondition{},
		func(context.Context, *common.JobState, time.Time, time.Time) (common.BackfillPast, error) {
			return common.BackfillPast{Ends: map[int64]*common.Run{p.run.PlannedAt.UnixNano(): &p.run},
				Since: p.run.PlannedAt.Add(-time.Hour)}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	again := func(what string) {
		t.Helper()
		_, err := s.store.Trigger(t.Context(), actor, p.request(nil))
		wantReason(t, what, err, "fire_live")
	}
	again("the backfill has not started it")
	key := common.FlowNodeKey(head.Run, common.ItemNode(flow.BackfillStep, 1))
	s.raw(key, encode(s, common.Node{State: common.NodeStarted, Round: 1, Attempt: 3}))
	again("the backfill runs it")
	s.raw(key, encode(s, common.Node{State: common.NodeEnded, Round: 1, Attempt: 3}))
	p.run.Attempt, p.run.ID = 3, common.RunID(p.run.Fire, 3)
	if trigger, err := s.store.Trigger(t.Context(), actor, p.request(nil)); err != nil || trigger.Attempt != 4 {
		t.Errorf("after its end in the backfill: %+v, %v", trigger, err)
	}
	s.erase(common.TriggerKey("a", common.RunID(p.run.Fire, 4)))
	s.erase(key)
	again("the backfill has not started it")
	if err := s.store.ActOnBackfill(t.Context(), actor, head.Run, common.BackfillCancel, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Trigger(t.Context(), actor, p.request(nil)); err != nil {
		t.Errorf("after the backfill was cancelled: %v", err)
	}
}

// Values of an earlier run whose parameters were removed since do not keep its fire from being run again; those of the
// request itself are checked.
func TestTriggerAgain_ParameterOfTheEarlierRunIsGone(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := minutely("a")
	job.Params = map[string]common.Param{"DAY": {}}
	state := s.put(job)
	fire := common.PlannedFire(state.UID, noon.Add(-time.Hour))
	p := &past{common.Run{ID: common.RunID(fire, 1), Fire: fire, Job: "a", JobUID: state.UID, Attempt: 1,
		PlannedAt: noon.Add(-time.Hour), Status: common.StatusFailed}}
	r := p.request(nil)
	r.Params = map[string]string{"DAY": "5", "OLD": "1"}
	_, err := s.store.Trigger(t.Context(), actor, r)
	wantCode(t, "the request sets it", err, common.CodeInvalid)
	r.Inherited = []string{"OLD"}
	var dropped [][]string
	refusal := common.Errorf(common.CodeConflict, "it would run with other values")
	r.Dropped = func(names []string) error {
		if dropped = append(dropped, names); len(dropped) == 1 {
			return refusal
		}
		return nil
	}
	_, err = s.store.Trigger(t.Context(), actor, r)
	wantCode(t, "the caller does not want it", err, common.CodeConflict)
	trigger, err := s.store.Trigger(t.Context(), actor, r)
	if err != nil || !maps.Equal(trigger.Params, map[string]string{"DAY": "5"}) ||
		fmt.Sprint(dropped) != "[[OLD] [OLD]]" {
		t.Errorf("%+v, %v", trigger, err)
	}
}
