package jobmgr_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
)

// newer writes a job as a newer version does, beside the known fields.
func (s *story) newer(job common.Job, write func(value map[string]any)) {
	s.Helper()
	s.put(job)
	value := s.value(job.Name)
	write(value)
	s.raw(common.JobKey(job.Name), encode(s, value))
}

// value reads the value of a job in etcd.
func (s *story) value(name string) map[string]any {
	s.Helper()
	var value map[string]any
	if err := json.Unmarshal(s.under(common.JobKey(name))[0].Value, &value); err != nil {
		s.Fatal(err)
	}
	return value
}

// An older master that saves a job of a newer one keeps all its fields.
func TestUnknownFieldsAreKept(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := minutely("a")
	job.Retry, job.CatchUp = &common.Retry{Max: 1}, &common.CatchUp{}
	job.Params = map[string]common.Param{"DAY": {Default: "x"}}
	needed := map[string]any{"to": []any{"ops <a&b>"}}
	s.newer(job, func(value map[string]any) {
		value["needed"], value["\"odd\""] = needed, 1.0
		value["retry"].(map[string]any)["jitter"] = "5s"
		value["catchUp"].(map[string]any)["burst"] = 3.0
		value["params"].(map[string]any)["DAY"].(map[string]any)["secret"] = true
	})
	// The audit entry of a change is complete.
	check := func(what string) {
		t.Helper()
		got := s.value("a")
		if encode(t, got["needed"]) != encode(t, needed) || got["\"odd\""] != 1.0 ||
			got["retry"].(map[string]any)["jitter"] != "5s" ||
			got["catchUp"].(map[string]any)["burst"] != 3.0 ||
			got["params"].(map[string]any)["DAY"].(map[string]any)["secret"] != true {
			t.Errorf("%s: %v", what, got)
		}
		changes := slices.DeleteFunc(s.changes("a"), func(c common.Change) bool { return c.Verb == "run" })
		last := changes[len(changes)-1]
		if string(last.After) != string(s.under(common.JobKey("a"))[0].Value) ||
			!strings.Contains(string(last.Before), `"burst":3`) {
			t.Errorf("%s: the change is from %s to %s", what, last.Before, last.After)
		}
	}
	if _, err := s.store.Pause(t.Context(), actor, "a", common.PauseRequest{Note: "x"}, any0); err != nil {
		t.Fatal(err)
	}
	check("paused")
	if _, err := s.store.Resume(t.Context(), actor, "a", any0); err != nil {
		t.Fatal(err)
	}
	check("resumed")
	s.trigger("a")
	check("triggered")
	edited := job
	edited.Command = "false"
	s.put(edited)
	check("saved")
	if job, err := s.store.Get(t.Context(), "a"); err != nil || job.Paused || job.Command != "false" {
		t.Fatalf("%+v, %v", job, err)
	}
	// A field that its author removes is removed completely, and does not come back.
	edited.Retry = nil
	s.put(edited)
	edited.Retry = &common.Retry{Max: 2}
	s.put(edited)
	if got := s.value("a"); encode(t, got["retry"]) != `{"max":2}` || got["catchUp"] == nil || got["needed"] == nil {
		t.Errorf("without the retry: %v", got)
	}
	s.remove("a")
	if changes := s.changes("a"); !strings.Contains(string(changes[len(changes)-1].Before), `"burst":3`) {
		t.Errorf("deleted: %s", changes[len(changes)-1].Before)
	}
	s.put(minutely("a"))
	var again map[string]any
	if err := json.Unmarshal(s.under(common.JobKey("a"))[0].Value, &again); err != nil || again["needed"] != nil {
		t.Errorf("a new job has fields of the old one: %v, %v", again, err)
	}
}

// The master records the features that a job needs of its workers, and removes those no longer needed;
// unknown ones are left to a newer master.
func TestPut_RecordsNeededFeatures(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	needs := func(want ...string) {
		t.Helper()
		state, err := s.store.Get(t.Context(), "a")
		if err != nil || !slices.Equal(state.Needs, want) {
			t.Fatalf("%v, needs %v, want %v", err, state.Needs, want)
		}
	}
	job := minutely("a")
	s.put(job)
	needs()
	job.OnLost = common.LostDetach
	s.put(job)
	needs("detach")
	job.OnLost = common.LostRerun
	s.put(job)
	needs()

	value := s.value("a")
	value["overlap"], value["needs"] = "merge", []string{"merge"}
	s.raw(common.JobKey("a"), encode(t, value))
	if _, err := s.store.Pause(t.Context(), actor, "a", common.PauseRequest{}, any0); err != nil {
		t.Fatal(err)
	}
	needs("merge")
	if got := s.value("a"); got["overlap"] != "merge" {
		t.Fatalf("a pause changed it: %v", got)
	}
	bad := job
	bad.Overlap = "merge"
	_, _, err := s.store.Put(t.Context(), actor, bad, any0)
	wantCode(t, "a value that is not known", err, common.CodeInvalid)
	job.OnLost = common.LostDetach
	s.put(job)
	needs("detach", "merge")
}
