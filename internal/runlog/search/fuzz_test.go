package search

import (
	"context"
	"regexp"
	"strings"
	"testing"
)

// FuzzCompile compiles any text, and searches for it: the matches are those of regexp.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"a", "(?i)ä|b+", `\d{1,9}`, "[[:alpha:]]*$", "(", "a{1000}{1000}", `\pL`, "", "\x00",
		`^\b.*?x`} {
		f.Add(seed, true, false, "one AÄ line 1x")
	}
	f.Fuzz(func(t *testing.T, text string, isRegexp, exact bool, line string) {
		p, fault := Compile(text, isRegexp, exact)
		if fault != nil {
			if fault.Code == "" || fault.Message == "" {
				t.Errorf("half a fault: %+v", fault)
			}
			return
		}
		if strings.ContainsAny(line, "\n\r\x1b") || len(line) > 1<<10 {
			return
		}
		from, to, found, err := p.find(context.Background(), []byte(line), 0)
		if err != nil || found && (from < 0 || to < from || to > len(line)) {
			t.Fatalf("%q in %q: %d to %d, %v", text, line, from, to, err)
		}
		if !isRegexp || !exact {
			return
		}
		want := regexp.MustCompile(text).FindStringIndex(line)
		if found != (want != nil) || found && (want[0] != from || want[1] != to) {
			t.Errorf("%q in %q: %d to %d, want %v", text, line, from, to, want)
		}
	})
}
