package jobmgr_test

import (
	"encoding/json"
	"testing"

	"carillon/internal/common"
)

// An older master that saves what a newer one wrote takes nothing of it away.
func TestUnknownFieldsAreKept(t *testing.T) {
	s := newStory(t)
	s.put(minutely("a"))
	var value map[string]any
	if err := json.Unmarshal(s.under(common.JobKey("a"))[0].Value, &value); err != nil {
		t.Fatal(err)
	}
	value["notify"] = map[string]any{"to": []any{"ops <a&b>"}}
	value["\"odd\""] = 1.0
	s.raw(common.JobKey("a"), encode(t, value))

	check := func(what string) {
		t.Helper()
		var got map[string]any
		if err := json.Unmarshal(s.under(common.JobKey("a"))[0].Value, &got); err != nil {
			t.Fatal(err)
		}
		if encode(t, got["notify"]) != encode(t, value["notify"]) || got["\"odd\""] != 1.0 {
			t.Errorf("%s: %v", what, got)
		}
	}
	if _, err := s.store.Pause(t.Context(), actor, "a", common.PauseRequest{Note: "x"}, any0); err != nil {
		t.Fatal(err)
	}
	check("paused")
	edited := minutely("a")
	edited.Command = "false"
	s.put(edited)
	check("saved")
	if job, err := s.store.Get(t.Context(), "a"); err != nil || job.Paused || job.Command != "false" {
		t.Fatalf("%+v, %v", job, err)
	}
	s.remove("a")
	s.put(minutely("a"))
	var again map[string]any
	if err := json.Unmarshal(s.under(common.JobKey("a"))[0].Value, &again); err != nil || again["notify"] != nil {
		t.Errorf("a new job has fields of the old one: %v, %v", again, err)
	}
}
