package service

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/notify"
)

// Chinese texts of reasons are those of the console.
func TestReasonsZh_AreThoseOfTheConsole(t *testing.T) {
	data, err := os.ReadFile("../../../web/src/i18n/zh/server.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, texts, _ := strings.Cut(string(data), "\n  reasons: {\n")
	texts, _, _ = strings.Cut(texts, "\n  },\n")
	var want strings.Builder
	for _, m := range regexp.MustCompile(`(\w+): '([^']*)'`).FindAllStringSubmatch(texts, -1) {
		want.WriteString(m[1] + "\t" + m[2] + "\n")
	}
	if want.String() != reasonsZh || reasonsZh == "" {
		t.Errorf("reasons_zh.txt differs: want\n%s", want.String())
	}
}

func TestReasonOf_Chinese_NeedsItsValues(t *testing.T) {
	zh := wordsOf(notify.Chinese)
	for _, c := range []struct {
		reason common.Reason
		want   string
	}{
		{common.Reason{Code: "exit_code", Data: map[string]string{"exitCode": "3"}, Text: "exit code 3"}, "退出码 3"},
		{common.Reason{Code: "exit_code", Text: "exit code 3"}, "exit code 3"},
		{common.Reason{Code: "of_a_newer_version", Text: "it is new"}, "it is new"},
		{common.Reason{Code: "late", Text: "no worker claimed it before its deadline"}, "没有工作节点在期限内领取"},
		{common.Reason{Code: "late", Data: map[string]string{"until": "12:00"}, Text: "no worker could claim it"},
			"在 12:00 之前没有工作节点能够领取它"},
		{common.Reason{Code: "no_worker", Text: "no worker could run it"}, "没有工作节点可以运行它"},
	} {
		if got := zh.reasonOf(&c.reason); got != c.want {
			t.Errorf("%+v: %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestTitle_Chinese_NamesEachEvent(t *testing.T) {
	zh := wordsOf(notify.Chinese)
	seen := map[string]bool{}
	for _, d := range []notify.Data{
		{Event: "failed", Status: "failed", ExitCode: new(3)}, {Event: "failed", Status: "failed", Signal: "SIGKILL"},
		{Event: "failed", Status: "timed_out"}, {Event: "failed", Cause: common.CauseDaemon, Restarts: 3},
		{Event: "failed", Backfill: true}, {Event: "lost"}, {Event: "missed"}, {Event: "late"},
		{Event: "late", Status: "running"}, {Event: "recovered"}, {Event: notify.SubjectApproval, Step: "ship"},
		{Event: notify.SubjectStepFailed, Step: "load"}, {Event: notify.SubjectStepFailed},
		{Event: notify.SubjectPaused, Failures: 5}, {Event: notify.SubjectSkipped, Skipped: 4, Fires: 10},
		{Event: notify.SubjectOutput, Status: "succeeded"},
		{Event: notify.SubjectOutput, Status: "failed", ExitCode: new(3)}, {Event: notify.SubjectPrinted, Count: 3},
		{Event: notify.SubjectRaised, Lasts: "30m"}, {Event: notify.SubjectDigest, Count: 3},
		{Event: notify.SubjectSummary, Count: 3}, {Event: notify.SubjectRecovered, Count: 3},
		{Event: notify.SubjectTest}, {Event: "of_a_newer_version"},
	} {
		d.Job = "nightly"
		title := zh.title(&notify.Message{Subject: "[Carillon] English", Data: d})
		if seen[title] || strings.Contains(title, "English") || !strings.HasPrefix(title, "[Carillon] ") {
			t.Errorf("%+v: %q", d, title)
		}
		seen[title] = true
	}
}

func TestOutputOf_ReturnsLastLines(t *testing.T) {
	long := strings.Repeat("first line\n", 100) + "second to last 报\nlast\n\n"
	for _, c := range []struct {
		output string
		most   int
		want   string
	}{
		{"", 100, ""}, {"\none\ntwo\n", 100, "one\ntwo"}, {long, 20, ""},
		{long, 45, "…\nfirst line\nsecond to last 报\nlast"},
		{strings.Repeat("报", 100), 50, "…" + strings.Repeat("报", 15)}, {"a\x1b[31mb", 100, "a·[31mb"},
	} {
		m := &notify.Message{Data: notify.Data{Output: c.output}}
		if got := outputOf(m, c.most); got != c.want || len(got) > c.most {
			t.Errorf("%q in %d: %q, want %q", c.output, c.most, got, c.want)
		}
	}
}

func TestClip_CountsAsTheServiceDoes(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{clip("short", 5), "short"}, {clip("longer", 5), "long…"}, {clip("𝄞𝄞𝄞", 5), "𝄞𝄞…"}, {clip("报报报", 3), "报报报"},
		{clipBytes("报报报", 9), "报报报"}, {clipBytes("报报报", 8), "报…"}, {markdown("a*b_c"), `a\*b\_c`},
		{quiet("@all"), "@\u200ball"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
