package common

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestShellWords_AShellDividesThemAgain(t *testing.T) {
	for _, words := range [][]string{
		{"sh", "-c", "a; b"}, {"echo", "hello, world"}, {"echo", ""}, {"echo", "it's", `"`, `\`, "$HOME", "*", "a\nb"},
		{"make", "A=1", "day@2026-01-01", "x/y.z"}, {"每晚", "~", "#", "!"},
	} {
		line := ShellWords(words)
		out, err := exec.Command("/bin/sh", "-c", `printf '%s\000' `+line).Output()
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil ||
			!slices.Equal(got, words) {
			t.Errorf("%q as %s: %q, %v", words, line, got, err)
		}
	}
	if got, want := ShellWords([]string{"make", "report", "A=b c"}), "make report 'A=b c'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
