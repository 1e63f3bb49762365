package executor_test

import (
	"strings"
	"testing"

	"carillon/internal/common"
)

// What no master would have saved is not run.
func TestDefinition_TooLarge_IsRefused(t *testing.T) {
	for name, job := range map[string]common.Job{
		"command": {Command: "echo ran #" + strings.Repeat("x", common.MaxJobBytes)},
		"stdin":   {Command: "echo ran", Stdin: strings.Repeat("x", common.MaxJobBytes)},
		"env":     {Command: "echo ran", Env: map[string]string{"A": strings.Repeat("x", common.MaxJobBytes)}},
		"args":    {Args: []string{"echo", strings.Repeat("x", common.MaxJobBytes)}},
	} {
		got, out := run(t, newTask(job))
		expect(t, got, common.StatusRefused, "too_large")
		if got.StartedAt != nil || out.text() != "" {
			t.Errorf("%s: printed %.20q", name, out.text())
		}
	}
}

// What a worker of this version would run otherwise than it says, it does not run.
func TestDefinition_OfANewerVersion_IsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*common.StoredJob)
		needs  string
	}{
		"noted":      {func(j *common.StoredJob) { j.Needs = []string{"detach", "teleport"} }, "teleport"},
		"a value":    {func(j *common.StoredJob) { j.Overlap = "merge" }, "overlap=merge"},
		"understood": {func(j *common.StoredJob) { j.OnLost, j.Needs = common.LostDetach, []string{"detach"} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			task := shell("echo ran")
			c.change(&task.Job)
			got, out := run(t, task)
			if c.needs == "" {
				expect(t, got, common.StatusSucceeded, "")
				return
			}
			expect(t, got, common.StatusRefused, common.ReasonNeedsFeature)
			if got.StartedAt != nil || out.text() != "" || got.Reason.Data["needs"] != c.needs ||
				!strings.Contains(got.Reason.Text, c.needs) {
				t.Errorf("%+v, printed %q", got.Reason, out.text())
			}
		})
	}
}
