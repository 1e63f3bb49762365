package crontab

import (
	"regexp"
	"strings"
)

var (
	quoted = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	// A test without further commands; its output may be discarded.
	guard = regexp.MustCompile(`^(\[\[? |(test|which|type|command -v) )[^;|&]*(&?>&?[^;|&]*)*$`)
	// One command, which may be a pipeline.
	block = regexp.MustCompile(`^(if .*\bfi|\{ .*\}|\(.*\))$`)
)

// guarded recognizes a command that runs only if a test succeeds, and otherwise ends with the test's exit code: [ -x X
// ] && X. It is used for a hint only.
func guarded(command string) (test string, found bool) {
	masked := quoted.ReplaceAllStringFunc(command, func(s string) string { return strings.Repeat("x", len(s)) })
	before, after, found := strings.Cut(masked, "&&")
	if !found || !guard.MatchString(strings.TrimSpace(before)) {
		return "", false
	}
	if strings.Contains(after, "||") || strings.ContainsAny(after, ";\n") &&
		!block.MatchString(strings.TrimSpace(after)) {
		return "", false // another command decides
	}
	return strings.TrimSpace(command[:len(before)]), true
}

// cut shortens a text for a notice.
func cut(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
