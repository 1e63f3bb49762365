package jobmgr_test

import (
	"maps"
	"testing"
	"time"

	"carillon/internal/common"
)

// newerSchedules are schedules of a newer version that this version cannot read.
var newerSchedules = map[string]func(map[string]any){
	"field": func(v map[string]any) {
		v["cronExpr"], v["moons"], v["needs"] = "", []any{"0 * * * *"}, []any{"moons"}
	},
	"beside":     func(v map[string]any) { v["exclude"], v["needs"] = []any{"holidays"}, []any{"exclude"} },
	"expression": func(v map[string]any) { v["cronExpr"] = "@after other" },
	"dst":        func(v map[string]any) { v["dst"] = map[string]any{"gap": "double"} },
}

// A master that cannot read a schedule does not move its cursor: it could not account for the fires in
// between.
func TestUnreadableScheduleIsNotPassedOver(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	for name, write := range newerSchedules {
		s.clock.set(noon)
		s.newer(minutely(name), write)
		if _, err := s.store.Pause(t.Context(), actor, name,
			common.PauseRequest{Until: new(noon.Add(10 * time.Minute))}, any0); err != nil {
			t.Fatalf("%s: pause moves no cursor: %v", name, err)
		}
		uid := s.value(name)["uid"].(string)
		s.clock.forward(time.Hour)
		_, err := s.store.Resume(t.Context(), actor, name, any0)
		wantCode(t, name+": resume", err, common.CodeConflict)
		if cursor := s.cursor(name); !cursor.Equal(noon) {
			t.Errorf("%s: the cursor moved to %v", name, cursor)
		}
		if out := s.outcomes(uid); len(out) != 0 {
			t.Errorf("%s: accounted for %+v", name, out)
		}
		// Changes that do not move the cursor are allowed.
		state, err := s.store.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.store.Pause(t.Context(), actor, name, common.PauseRequest{Note: "later"},
			common.Precondition{Version: state.Version}); err != nil {
			t.Errorf("%s: pause again: %v", name, err)
		}
	}
}

// A schedule that this version can read may replace one that it cannot. The due fires of the old one are one
// entry without a count.
func TestUnreadableScheduleIsReplaced(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	for name, write := range newerSchedules {
		s.clock.set(noon)
		s.newer(minutely(name), write)
		uid := s.value(name)["uid"].(string)
		s.clock.forward(time.Hour)
		job := minutely(name)
		job.CronExpr, job.DST = "@daily", nil
		state, _, err := s.store.Put(t.Context(), actor, job, any0)
		if name == "field" || name == "beside" { // the needed feature remains
			wantCode(t, name+": save", err, common.CodeConflict)
			if cursor := s.cursor(name); !cursor.Equal(noon) {
				t.Errorf("%s: the cursor moved to %v", name, cursor)
			}
			continue
		}
		if err != nil || !state.Cursor.Equal(s.clock.now()) {
			t.Fatalf("%s: %+v, %v", name, state, err)
		}
		s.wantUncounted(name, uid, "edited")
	}
}

// A job can always be deleted. Its possible due fires are one entry without a count, even if the job does not
// decode at all.
func TestUnreadableScheduleIsDeletedWithAnEntry(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	schedules := map[string]func(map[string]any){"undecodable": func(v map[string]any) {
		v["cronExpr"] = []any{"0 * * * *"}
	}}
	maps.Copy(schedules, newerSchedules)
	for name, write := range schedules {
		s.clock.set(noon)
		s.newer(minutely(name), write)
		uid := s.value(name)["uid"].(string)
		s.clock.forward(time.Hour)
		s.remove(name)
		s.wantUncounted(name, uid, "deleted")
	}
}

// wantUncounted checks for one entry for an hour of fires of unknown number.
func (s *story) wantUncounted(name, uid, reason string) {
	s.Helper()
	out := s.outcomes(uid)
	if len(out) != 1 || out[0].Status != common.StatusMissed || out[0].Reason.Code != reason || out[0].Gap == nil ||
		*out[0].Gap != (common.Gap{From: noon, To: noon.Add(time.Hour)}) ||
		out[0].Reason.Data["count"] != common.CountAtLeast ||
		out[0].ID != common.GapID(uid, noon) {
		s.Errorf("%s: accounted for %+v", name, out)
	}
}
