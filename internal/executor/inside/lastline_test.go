package inside

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"carillon/internal/common"
	"carillon/internal/executor/redact"
)

func TestExplain_LastLineIsPlainAndShort(t *testing.T) {
	long, wide := strings.Repeat("x", 5000), strings.Repeat("界", 200)
	type printed struct {
		stream common.Stream
		text   string
	}
	out, errs := common.Stdout, common.Stderr
	for name, c := range map[string]struct {
		status common.Status
		text   []printed
		want   string
	}{
		"stderr first":      {text: []printed{{errs, "warning\ncause\n"}, {out, "done\n"}}, want: "cause"},
		"stdout without it": {text: []printed{{out, "a\nb"}, {errs, " \n\t\n"}}, want: "b"},
		"blank lines":       {text: []printed{{errs, "cause\n\n  \n"}}, want: "cause"},
		"in pieces":         {text: []printed{{errs, "first\nsec"}, {errs, "ond"}, {errs, "\n"}}, want: "second"},
		"carriage returns":  {text: []printed{{errs, "10 %\r20 %\r\n"}}, want: "20 %"},
		"controls": {
			text: []printed{{errs, "\x1b[31;1mred\x1b[0m \x1b]0;title\x07and\x00 \u202eplain\x1b["}},
			want: "red and plain",
		},
		"not UTF-8": {text: []printed{{errs, "a\xff\xfeb\tc"}}, want: "ab c"},
		"masked":    {text: []printed{{errs, "no swordfish here\n"}}, want: "no [secret:db] here"},
		"masked within controls": {
			text: []printed{{errs, "no sword\x1b[1mfish here, no sword\x00fish there\n"}},
			want: "no [secret:db] here, no [secret:db] there",
		},
		"long":               {text: []printed{{errs, "cause: " + long[:800]}}, want: "cause: " + long[:190] + "…"},
		"longer than kept":   {text: []printed{{errs, long}}, want: "…" + long[:194] + "…"},
		"wide":               {text: []printed{{errs, wide}}, want: wide[:195] + "…"},
		"long, then short":   {text: []printed{{errs, long + "\n"}, {errs, "cause\n"}}, want: "cause"},
		"many short ones":    {text: []printed{{errs, strings.Repeat("line\n", 1000) + "last"}}, want: "last"},
		"nothing":            {},
		"of a success":       {status: common.StatusSucceeded, text: []printed{{errs, "x"}}},
		"of a killed run":    {status: common.StatusKilled, text: []printed{{errs, "x"}}},
		"of one that hangs":  {status: common.StatusTimedOut, text: []printed{{out, "connecting"}}, want: "connecting"},
		"beyond the maximum": {text: []printed{{out, long}, {errs, "cause\n"}}, want: "cause"},
	} {
		t.Run(name, func(t *testing.T) {
			masks := redact.New([]redact.Secret{{Name: "db", Value: []byte("swordfish")}})
			drop := chunks(func(common.Chunk) {})
			capture := NewCapture("r", 2048, drop, budgetOf(0), masks, time.Now)
			for _, p := range c.text {
				capture.Write(p.stream, []byte(p.text))
			}
			capture.Close()
			run := common.Run{Status: common.StatusFailed, Reason: &common.Reason{Code: "exit_code"}}
			if c.status != "" {
				run.Status = c.status
			}
			capture.Explain(&run)
			got := run.Reason.Data[common.LastLine]
			if got != c.want || len(got) > maxLastLine || !utf8.ValidString(got) {
				t.Errorf("%d bytes: %q, want %q", len(got), got, c.want)
			}
		})
	}
}
