package jobmgr_test

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/jobmgr"
)

// ahead creates a job whose cursor a wrong clock has moved an hour into the future.
func (s *story) ahead(job common.Job) common.JobState {
	s.Helper()
	state := s.put(job)
	s.raw(common.CursorKey(job.Name), common.TimeKey(noon.Add(time.Hour)))
	return state
}

// A cursor in the future is moved back when the job is saved or resumed. Its fires have other ids from then
// on, since the earlier ones have outcomes already.
func TestCursorInFuture_IsMovedBackByASave(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.store = s.with(jobmgr.Config{
		Proven: func() bool { return true },
	}, nil)
	for name, save := range map[string]func(common.Job) error{
		"saved": func(j common.Job) error { j.Command = "false"; s.put(j); return nil },
		"resumed": func(j common.Job) error {
			if _, err := s.store.Pause(t.Context(), actor, j.Name, common.PauseRequest{}, any0); err != nil {
				return err
			}
			if at := s.cursor(j.Name); !at.Equal(noon.Add(time.Hour)) {
				t.Errorf("a pause moved the cursor to %v", at)
			}
			_, err := s.store.Resume(t.Context(), actor, j.Name, any0)
			return err
		},
		"recovered": func(common.Job) error {
			_, err := s.store.Recover(t.Context(), actor, common.RecoverRequest{})
			return err
		},
	} {
		before := s.ahead(minutely(name))
		trigger := s.trigger(name)
		if err := save(minutely(name)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		after, err := s.store.Get(t.Context(), name)
		if err != nil || !after.Cursor.Equal(noon) || after.UID == before.UID || after.Created != before.Created {
			t.Errorf("%s: %+v, %v", name, after, err)
		}
		if got, err := common.Decode[common.Trigger](s.under(common.TriggerKey(name,
			trigger.ID))[0].Value); err != nil || got.JobUID != after.UID || got.Fire != trigger.Fire {
			t.Errorf("%s: a pending trigger is %+v, %v", name, got, err)
		}
		if out := append(s.outcomes(before.UID), s.outcomes(after.UID)...); len(out) != 0 {
			t.Errorf("%s: accounted for %+v", name, out)
		}
	}
}

// An unresolved run may still write outcomes of the old fires: the cursor stays until it has ended.
func TestCursorInFuture_StaysWhileAJobRuns(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	before := s.ahead(minutely("a"))
	record := common.Record{
		Job:     "a",
		JobUID:  before.UID,
		Fire:    common.PlannedFire(before.UID, noon),
		Run:     common.RunID(common.PlannedFire(before.UID, noon), 1),
		Attempt: 1,
	}
	s.raw(common.RecordKey("a", record.Run), encode(t, record))
	edited := minutely("a")
	edited.Command = "false"
	if after := s.put(edited); after.UID != before.UID || !s.cursor("a").Equal(noon.Add(time.Hour)) {
		t.Errorf("saved: %+v", after)
	}
	done, err := s.store.Recover(t.Context(), actor, common.RecoverRequest{})
	if err != nil || len(done.Jobs) != 1 || done.Jobs[0].Effect != common.RecoverBusy {
		t.Errorf("recovered: %+v, %v", done, err)
	}
}

// After a restore all cursors are moved to now: fires that may have run since the backup do not run again.
func TestRecover_RestoredEtcd(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := s.put(minutely("a"))
	paused := s.put(minutely("paused"))
	if _, err := s.store.Pause(t.Context(), actor, "paused", common.PauseRequest{}, any0); err != nil {
		t.Fatal(err)
	}
	s.trigger("a")
	fire := common.PlannedFire(job.UID, noon)
	record := common.Record{
		Job:     "a",
		JobUID:  job.UID,
		Fire:    fire,
		Run:     common.RunID(fire, 1),
		Attempt: 1,
		Owner:   common.Life{Worker: "w", Life: "l"},
	}
	s.raw(common.RecordKey("a", record.Run), encode(t, record))
	flowRun := common.Head{Kind: common.KindFlow, Job: "a", Run: job.UID + ".t1.1", UID: job.UID}
	s.raw(common.FlowRunKey("a", flowRun.Run), encode(t, flowRun))
	node := common.Record{Job: "a:load", Run: job.UID + ".nload.1", Attempt: 1, Owner: record.Owner}
	s.raw(common.RecordKey("a:load", node.Run), encode(t, node))
	s.clock.forward(10 * time.Minute)

	for _, dry := range []bool{true, false} {
		done, err := s.store.Recover(t.Context(), actor, common.RecoverRequest{Restored: true, DryRun: dry})
		if err != nil || len(done.Jobs) != 1 {
			t.Fatalf("%+v, %v", done, err)
		}
		if got := done.Jobs[0]; got.Effect != common.RecoverPassedOver || len(got.Runs) != 3 || got.Triggers != 1 ||
			!got.Cursor.Equal(noon) || !got.To.Equal(s.clock.now()) {
			t.Errorf("dry %v: %+v", dry, got)
		}
		if kills := s.keys(common.KillerPrefix); dry != (len(kills) == 0) {
			t.Errorf("dry %v: kill requests for %v", dry, kills)
		}
		if epochs := s.under(common.EpochKey); dry != (len(epochs) == 0) {
			t.Errorf("dry %v: %d epochs", dry, len(epochs))
		}
	}
	if at := s.cursor("a"); !at.Equal(s.clock.now()) || !s.cursor("paused").Equal(noon) {
		t.Errorf("cursors at %v and %v", at, s.cursor("paused"))
	}
	var gaps, skipped int
	for _, run := range s.outcomes(job.UID) {
		switch {
		case run.Gap != nil && run.Gap.Count == 10 && run.Status == common.StatusMissed &&
			run.Reason.Code == common.ReasonRestored:
			gaps++
		case run.Status == common.StatusSkipped && run.Reason.Code == common.ReasonRestored:
			skipped++
		default:
			t.Errorf("accounted for %+v", run)
		}
	}
	if gaps != 1 || skipped != 1 || len(s.outcomes(paused.UID)) != 0 || len(s.keys(common.TriggersPrefix)) != 0 {
		t.Errorf("%d gaps, %d triggers skipped, left %v", gaps, skipped, s.keys(common.TriggersPrefix))
	}
	if changes := s.changes("a"); changes[len(changes)-1].Verb != "recover" {
		t.Errorf("changes %+v", changes)
	}
}
