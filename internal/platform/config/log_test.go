package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// What users write ends up in the log as a value: it cannot begin a line of its own,
// speak to a terminal, or hide behind what is printed from right to left.
func TestLogLinesCannotBeForged(t *testing.T) {
	for _, text := range []string{
		"a\nlevel=ERROR msg=forged", "a\r\n{\"msg\":\"forged\"}", "a\x1b[2J\x1b]0;title\a", "a\x00b\x7f",
		`a" msg=forged b="`, "a\u2028b\u2029c\u0085d",
		"user\u202eevil\u2066", "a\u009b2J", "\xff\xfe", strings.Repeat("x", 10_000) + "\n",
	} {
		for _, format := range []string{"text", "json"} {
			var out bytes.Buffer
			Log{Format: format}.Logger(&out).With("name", text).WithGroup("run").Warn("job_refused", "note", text,
				"error", errors.New(text), "all", []string{text})
			line, more, ended := strings.Cut(out.String(), "\n")
			if !ended || more != "" {
				t.Errorf("%s: %q makes %q", format, text, out.String())
			}
			if i := strings.IndexFunc(line, unicode.IsControl); i >= 0 {
				t.Errorf("%s: %q leaves %q in the line", format, text, line[i:min(len(line), i+10)])
			}
			if strings.ContainsAny(line, "\u202e\u2066\u2028\u2029") {
				t.Errorf("%s: %q is left in %q", format, text, line)
			}
			if format == "text" {
				if strings.Count(line, " msg=") != 1+4*strings.Count(text, " msg=") {
					t.Errorf("%q: %q", text, line)
				}
				continue
			}
			var entry struct{ Msg, Level, Name string }
			if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Msg != "job_refused" ||
				entry.Level != "WARN" || utf8.ValidString(text) && entry.Name != text {
				t.Errorf("%q: %+v, %v", text, entry, err)
			}
		}
	}
}
