package common

import (
	"regexp"
	"strings"
	"testing"
)

func TestValidName(t *testing.T) {
	for _, name := range []string{
		"a", "0", "9z", "backup", "db-backup", "a.b", "a_b", "a-b", "1.2.3", "a-.b", "a._-b", "x--y", "x__y", "con",
		"nul", "null", "true",
		"index.html", "etc.passwd", strings.Repeat("a", MaxName), "a" + strings.Repeat(".-", 63) + "b",
	} {
		if !ValidName(name) {
			t.Errorf("%q is refused", name)
		}
	}
	for _, name := range []string{
		"", " ", ".", "..", "...", "-", "_", "/", "\\", "a/b", "/a", "a/", "a//b", "../a", "a/../b", "a..b", "a...b",
		".a", "a.", "-a", "a-", "_a", "a_",
		"A", "aB", "Backup", "a b", " a", "a ", "a\tb", "a\n", "\na", "a\nb", "a\r", "a\x00", "\x00", "a\x00b", "a\x7f",
		"a\u0085b", "a\u00a0b",
		"a\u200bb", "a\u202eb", "a\ufeff", "ä", "é", "e\u0301", "ａ", "а", "备份", "日本", "🔔", "ı", "ſ", "K", "\xff",
		"a\xffb", "\xc0\xae\xc0\xae",
		"%2e%2e", "a%2fb", "a:b", "a*b", "a?b", "a#b", "a&b", "a=b", "a+b", "a,b", "a;b", "a|b", "a<b", "a>b", "a\"b",
		"a'b", "a`b", "$a", "${a}", "a@b",
		"~a", "a~", "a!", "(a)", "[a]", "{a}", "^a$", "a\\b", "C:a", "--help", strings.Repeat("a", MaxName+1),
		strings.Repeat("a", 10_000),
		strings.Repeat("a", MaxName) + "\n", strings.Repeat("é", 64),
	} {
		if ValidName(name) {
			t.Errorf("%q is taken", name)
		}
		// The job is rejected for it, with a message that can be shown.
		faults := (&Job{Name: name, Command: "x"}).Faults()
		if len(faults) != 1 || faults[0].Location != "name" || faults[0].Code != "name" {
			t.Errorf("%.40q: faults %+v", name, faults)
			continue
		}
		if value := faults[0].Value.(string); len(value) > 90 || strings.ContainsFunc(value, func(r rune) bool {
			return r < ' ' || r == 0x7f || r == 0x202e
		}) {
			t.Errorf("%.40q is quoted as %q", name, value)
		}
	}
}

func TestNewID(t *testing.T) {
	shape := regexp.MustCompile(`^[a-z2-7]{16}$`)
	seen := map[string]bool{}
	for range 10_000 {
		id := NewID()
		if !shape.MatchString(id) || !ValidName(id) || seen[id] || id == MasterOutbox {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
}

// FuzzValidName checks that a valid name is safe as one part of a path and of a key.
func FuzzValidName(f *testing.F) {
	for _, s := range []string{"a", "a..b", "a/b", "\x00", strings.Repeat("a", 129), "a\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !ValidName(s) {
			return
		}
		if s == "" || len(s) > MaxName || strings.Contains(s, "..") || s[0] == '.' || s[len(s)-1] == '.' {
			t.Fatalf("%q is taken", s)
		}
		for _, c := range []byte(s) {
			if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789._-", rune(c)) {
				t.Fatalf("%q is taken", s)
			}
		}
	})
}

func TestValidSeries(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(SeriesPattern)
	for name, want := range map[string]bool{"etl": true, "etl:load": true, "etl@backfill": true, "@backfill": false,
		"etl:load@backfill": false, "etl@backfill:load": false, "etl@other": false, "etl:": false,
		"etl@backfil": false} {
		if ValidSeries(name) != want || shape.MatchString(name) != want {
			t.Errorf("%q: %t, %t", name, ValidSeries(name), shape.MatchString(name))
		}
	}
	for name, want := range map[string]string{"etl": "etl", "etl:load": "etl", "etl@backfill": "etl"} {
		if got := JobOf(name); got != want {
			t.Errorf("job of %q: %q", name, got)
		}
	}
}
