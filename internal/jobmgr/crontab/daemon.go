package crontab

import (
	"regexp"
	"strings"
)

// Programs that leave another one in the background.
var detaching = regexp.MustCompile(`(^|[\s;&|(])(setsid\s+(-\S+\s+)*(-f|--fork)|start-stop-daemon\s.*(-S|--start)|` +
	`daemonize|screen\s+-\S*d\S*|tmux\s+new\S*\s.*-d)(\s|$)`)

// leavesProcess reports whether a command probably leaves a process in the background. It is used for a hint only.
func leavesProcess(command string) bool {
	masked := quoted.ReplaceAllStringFunc(command, func(s string) string { return strings.Repeat("x", len(s)) })
	rest, background := strings.CutSuffix(strings.TrimSpace(masked), "&")
	return background && !strings.HasSuffix(rest, "&") || detaching.MatchString(masked)
}
