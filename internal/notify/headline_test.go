package notify

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"carillon/internal/common"
)

// The console translates headlines by their code, and fills them with their values.
func TestHeadlines_AreTranslated(t *testing.T) {
	data, err := os.ReadFile("../../web/src/i18n/zh/server.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, texts, _ := strings.Cut(string(data), "\n  notices: {\n")
	texts, _, _ = strings.Cut(texts, "\n  },\n")
	known := map[string]string{}
	for _, m := range regexp.MustCompile(`(\w+): '([^']*)'`).FindAllStringSubmatch(texts, -1) {
		known[m[1]] = m[2]
	}
	for _, c := range []struct {
		data Data
		text string
	}{
		{Data{Event: SubjectSummary, Count: 2}, "2 more jobs are in trouble"},
		{Data{Event: SubjectRecovered, Count: 1}, "1 more job has recovered"},
		{Data{Event: SubjectPrinted, Count: 2}, "2 more jobs have printed output"},
		{Data{Event: SubjectOutput, Job: "a", Status: common.StatusSucceeded}, "a succeeded and printed output"},
		{Data{Event: "failed", Job: "a", Title: "A", ExitCode: new(3), Worker: "w"}, "A (a) failed (exit 3) on w"},
		{Data{Event: "failed", Job: "a", Signal: "SIGKILL"}, "a failed (SIGKILL)"},
		{Data{Event: "failed", Job: "a", Status: common.StatusTimedOut}, "a timed out"},
		{Data{Event: "failed", Job: "a", Status: common.StatusRefused}, "a was refused"},
		{Data{Event: "failed", Job: "a", Status: common.StatusKilled}, "a was killed"},
		{Data{Event: "failed", Job: "a", Backfill: true}, "backfill of a failed"},
		{Data{Event: "failed", Job: "a", Flapping: true}, "a failed; it keeps failing and recovering"},
		{
			Data{Event: "failed", Job: "a", Cause: common.CauseDaemon, Restarts: 3},
			"a keeps restarting: 3 short runs in a row",
		},
		{Data{Event: "lost", Job: "a"}, "a was lost with its worker"},
		{Data{Event: "missed", Job: "a"}, "a was not run"},
		{Data{Event: "late", Job: "a"}, "a is late"},
		{Data{Event: "late", Job: "a", Status: common.StatusRunning}, "a is running longer than usual"},
		{Data{Event: "recovered", Job: "a", Worker: "w"}, "a has recovered"},
		{Data{Event: SubjectPaused, Job: "a", Failures: 5}, "a was paused: it failed 5 times in a row"},
		{
			Data{Event: SubjectDigest, Count: 1, Digest: &Digest{Printed: 2}},
			"after quiet hours: 1 job is in trouble, 2 jobs have printed output",
		},
		{Data{Event: SubjectRaised, Job: "a", Lasts: "30m"}, "a has been in trouble for 30m"},
		{Data{Event: SubjectStepFailed, Job: "a"}, "a: a step failed"},
		{Data{Event: SubjectStepFailed, Job: "a", Step: "load", Status: common.StatusLost}, "a: step load was lost"},
		{Data{Event: SubjectSkipped, Job: "a", Skipped: 4, Fires: 10}, "a skips fires: 4 of its last 10"},
		{Data{Event: SubjectApproval, Job: "a", Step: "ship"}, "a waits for approval of step ship"},
	} {
		said := headline(&c.data)
		if said.Text != c.text {
			t.Errorf("%q, want %q", said.Text, c.text)
		}
		want, translated := known[said.Code]
		if !translated {
			t.Errorf("%s: no translation", said.Code)
		}
		for _, m := range regexp.MustCompile(`{{(\w+)}}`).FindAllStringSubmatch(want, -1) {
			if said.Data[m[1]] == "" && !(m[1] == "parts" && said.Data["trouble"] != "") {
				t.Errorf("%s: %q lacks %s: %v", said.Code, want, m[1], said.Data)
			}
		}
		if how := said.Data["how"]; how != "" && !strings.Contains(string(data), how+": '") {
			t.Errorf("%s: no translation of %q", said.Code, how)
		}
	}
	if known["flapping"] == "" || known["on"] == "" || known["backfill"] == "" {
		t.Error("no translation of what is added to a headline")
	}
}
