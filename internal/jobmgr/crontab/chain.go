package crontab

import (
	"regexp"
	"strings"
)

// notAlone matches commands that only prepare the shell for the next one, or decide whether it runs.
var notAlone = regexp.MustCompile(`^(cd|umask|export|set|ulimit|sleep|source|\.|test|\[|\[\[|true|:|which|type|command|` +
	`[A-Za-z_][A-Za-z0-9_]*=\S*$)( |$)`)

// chained returns the number of commands that run one after the other while each succeeds: a && b && c. It is 0 if
// anything else than && connects them, or if some of them have no work of their own. It is used for a hint only.
func chained(command string) int {
	masked := quoted.ReplaceAllStringFunc(command, func(s string) string { return strings.Repeat("x", len(s)) })
	parts := strings.Split(masked, "&&")
	if len(parts) < 2 || strings.Contains(masked, `\`) {
		return 0
	}
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if part == "" || strings.ContainsAny(part, ";|(){}\n`\"'") || strings.HasSuffix(part, "&") ||
			notAlone.MatchString(part) {
			return 0
		}
	}
	return len(parts)
}
