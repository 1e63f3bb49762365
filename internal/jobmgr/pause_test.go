package jobmgr_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
)

func TestPause(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	created := s.put(minutely("a"))
	s.clock.forward(90 * time.Second)
	pause := func(note string, until *time.Time, pre common.Precondition) (common.JobState, error) {
		return s.store.Pause(t.Context(), actor, "a", common.PauseRequest{Note: note, Until: until}, pre)
	}
	paused, err := pause("moving", nil, common.Precondition{Version: created.Version})
	if err != nil || !paused.Paused || paused.PauseNote != "moving" || paused.PauseUntil != nil ||
		paused.Version == created.Version ||
		paused.Created != created.Created || created.Created == 0 || paused.UID != created.UID {
		t.Fatalf("%+v, %v", paused, err)
	}
	// Pausing passes no fire: due fires are passed when the pause ends.
	if !paused.Cursor.Equal(noon) || !s.cursor("a").Equal(noon) || len(s.outcomes(created.UID)) != 0 {
		t.Fatalf("the cursor went to %v", paused.Cursor)
	}
	again, err := pause("moving", nil, any0)
	if err != nil || again.Version != paused.Version || len(s.changes("a")) != 2 {
		t.Fatalf("repeated: %+v, %v, %d changes", again, err, len(s.changes("a")))
	}
	_, err = pause("stale", nil, common.Precondition{Version: created.Version})
	wantCode(t, "an old version", err, common.CodeStale)
	past := s.clock.now()
	_, err = pause("past", &past, any0)
	wantCode(t, "until now", err, common.CodeInvalid)
	_, err = s.store.Pause(t.Context(), actor, "none", common.PauseRequest{Note: "x"}, any0)
	wantCode(t, "no job", err, common.CodeNotFound)
	until := s.clock.now().Add(time.Hour)
	later, err := pause("longer", &until, any0)
	if err != nil || !later.PauseUntil.Equal(until) || !later.Cursor.Equal(noon) {
		t.Fatalf("%+v, %v", later, err)
	}
	changes := s.changes("a")
	if last := changes[len(changes)-1]; last.Verb != "pause" || last.Actor != actor || last.Before == nil ||
		last.After == nil {
		t.Fatalf("%+v", last)
	}
}

// The fires that a pause passed are one entry, written with the save that ends it.
func TestEndOfPause_PassedFiresAreOneEntry(t *testing.T) {
	t.Parallel()
	edit := func(change func(*common.Job)) func(*story, common.Job) {
		return func(s *story, job common.Job) { change(&job); s.put(job) }
	}
	resume := func(s *story, job common.Job) {
		s.Helper()
		if _, err := s.store.Resume(s.Context(), actor, job.Name, any0); err != nil {
			s.Fatal(err)
		}
	}
	type entry struct {
		status   common.Status
		code     string
		from, to time.Duration // after noon
		count    int64
	}
	minutes := func(n time.Duration) time.Duration { return n * time.Minute }
	s := newStory(t)
	for _, c := range []struct {
		name   string
		until  time.Duration // of the pause, after noon; 0 for none
		after  time.Duration // noon the pause ends
		end    func(*story, common.Job)
		cursor time.Duration
		want   []entry
	}{
		{"resumed", 0, minutes(10) + 1, resume, minutes(10) + 1,
			[]entry{{common.StatusSkipped, common.ReasonPaused, 0, minutes(10), 10}}},
		{"resumed-after-one", 0, minutes(1), resume, minutes(1),
			[]entry{{common.StatusSkipped, common.ReasonPaused, 0, minutes(1), 1}}},
		{"resumed-at-once", 0, 10 * time.Second, resume, 10 * time.Second, nil},
		{"resumed-early", minutes(60), minutes(3), resume, minutes(3),
			[]entry{{common.StatusSkipped, common.ReasonPaused, 0, minutes(3), 3}}},
		{"resumed-late", minutes(5), minutes(9), resume, minutes(4),
			[]entry{{common.StatusSkipped, common.ReasonPaused, 0, minutes(4), 4}}},
		{"saved-unpaused", 0, minutes(2), edit(func(j *common.Job) {
			j.Paused, j.PauseNote, j.PauseUntil = false, "", nil
		}), minutes(2),
			[]entry{{common.StatusSkipped, common.ReasonPaused, 0, minutes(2), 2}}},
		{"saved-paused", 0, minutes(2), edit(func(j *common.Job) { j.Title = "x" }), 0, nil},
		{"edited-paused", 0, minutes(2), edit(func(j *common.Job) { j.CronExpr = "@hourly" }), minutes(2),
			[]entry{{common.StatusSkipped, common.ReasonPaused, 0, minutes(2), 2}}},
		{"edited-when-over", minutes(5), minutes(9), edit(func(j *common.Job) { j.CronExpr = "@hourly" }), minutes(9),
			[]entry{{common.StatusSkipped, common.ReasonPaused, 0, minutes(4), 4},
				{common.StatusMissed, common.ReasonEdited, minutes(4), minutes(9), 5}}},
		{"another-start", 0, minutes(2), edit(func(j *common.Job) { j.StartAt = new(noon.Add(time.Hour)) }), minutes(2),
			[]entry{{common.StatusSkipped, common.ReasonPaused, 0, minutes(2), 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &story{TB: t, client: s.client, clock: s.clock, catalog: s.catalog, store: s.store}
			s.clock.set(noon)
			job := minutely(c.name)
			job.Paused, job.PauseNote = true, "moving"
			if c.until > 0 {
				job.PauseUntil = new(noon.Add(c.until))
			}
			uid := s.put(job).UID
			s.clock.forward(c.after)
			c.end(s, job)
			if got := s.cursor(c.name); !got.Equal(noon.Add(c.cursor)) {
				t.Errorf("the cursor is at %v", got)
			}
			out := s.outcomes(uid)
			if len(out) != len(c.want) {
				t.Fatalf("accounted for %+v", out)
			}
			for i, want := range c.want {
				run := out[i]
				if run.Status != want.status || run.Reason.Code != want.code ||
					!run.PlannedAt.Equal(noon.Add(want.to)) ||
					want.code == common.ReasonPaused && run.Reason.Data["note"] != "moving" {
					t.Errorf("%+v", run)
				}
				if want.count == 1 {
					if run.Gap != nil || run.ID != common.RunID(common.PlannedFire(uid, noon.Add(want.to)), 0) {
						t.Errorf("one fire: %+v", run)
					}
				} else if run.Gap == nil || *run.Gap != (common.Gap{
					From:  noon.Add(want.from),
					To:    noon.Add(want.to),
					Count: want.count,
				}) {
					t.Errorf("gap %+v", run.Gap)
				}
			}
		})
	}
}

func TestResumeTwice(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	uid := s.put(minutely("a")).UID
	if _, err := s.store.Pause(t.Context(), actor, "a", common.PauseRequest{Note: "x"}, any0); err != nil {
		t.Fatal(err)
	}
	s.clock.forward(10 * time.Minute)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if state, err := s.store.Resume(t.Context(), actor, "a", any0); err != nil || state.Paused {
				t.Errorf("%+v, %v", state.Job, err)
			}
		})
	}
	wg.Wait()
	if out := s.outcomes(uid); len(out) != 1 || out[0].Gap.Count != 10 {
		t.Fatalf("accounted for %+v", out)
	}
	if n := len(s.changes("a")); n != 3 {
		t.Fatalf("%d changes", n)
	}
	_, err := s.store.Resume(t.Context(), actor, "none", any0)
	wantCode(t, "no job", err, common.CodeNotFound)
}

// Pauses, resumes and claims happen at the same time. Each fire is claimed or recorded as skipped, once.
func TestPausesRacingWithClaimsLoseNoFire(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	uid := s.put(common.Job{Name: "a", CronExpr: "* * * * * * *", Timezone: "UTC", Command: "true"}).UID
	workers, stop := context.WithCancel(t.Context())
	defer stop()
	var working, pausing sync.WaitGroup
	for range 3 {
		working.Go(func() {
			for workers.Err() == nil && s.claimNext(t.Context(), "a") {
			}
		})
	}
	var done atomic.Int64
	for range 2 {
		master := s.master(s.catalog)
		pausing.Go(func() {
			for i := range 30 {
				s.clock.forward(time.Duration(i%4) * 900 * time.Millisecond)
				var err error
				if i%2 == 0 {
					_, err = master.Pause(t.Context(), actor, "a", common.PauseRequest{Note: "x"}, any0)
				} else {
					_, err = master.Resume(t.Context(), actor, "a", any0)
				}
				switch {
				case err == nil:
					done.Add(1)
				case common.CodeOf(err) != common.CodeConflict:
					t.Error(err)
				}
			}
		})
	}
	pausing.Wait()
	if _, err := s.store.Resume(t.Context(), actor, "a", any0); err != nil {
		t.Fatal(err)
	}
	s.clock.forward(3 * time.Second)
	stop()
	working.Wait()
	taken := len(s.keys(claimed))
	s.remove("a")
	times := s.account(uid)
	for at := noon.Add(time.Second); !at.After(s.clock.now()); at = at.Add(time.Second) {
		if times[at] != 1 {
			t.Errorf("the fire at %v is accounted for %d times", at, times[at])
		}
		delete(times, at)
	}
	if len(times) != 0 {
		t.Errorf("accounted for, but not in the plan: %v", times)
	}
	if done.Load() == 0 || taken == 0 {
		t.Fatalf("%d changes, %d claims: this was no race", done.Load(), taken)
	}
}
