package main

import (
	"os"
	"strings"
)

// colours reports whether to colour words: on a terminal that can, unless NO_COLOR is set
// (https://no-color.org).
func (c *cli) colours() bool {
	f, ok := c.screen.(*os.File)
	return ok && terminal(f) && c.env["NO_COLOR"] == "" && c.env["TERM"] != "dumb"
}

const (
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// shades are the colours of words for states.
var shades = map[string]string{
	"succeeded": green, "ok": green, "ready": green, "on": green, "sent": green, "active": green, "created": green,
	"unchanged": "",
	"failed":    red, "failing": red, "lost": red, "timed_out": red, "missed": red, "refused": red, "away": red,
	"disabled": red, "deleted": red, "gone": red,
	"killed": yellow, "skipped": yellow, "warning": yellow, "unknown": yellow, "paused": yellow, "draining": yellow,
	"changed": yellow, "expired": yellow,
	"running": cyan, "waiting": cyan, "planned": cyan,
}

// paint colours a cell by its first word.
func paint(cell string) string {
	word, _, _ := strings.Cut(cell, " ")
	if shade := shades[strings.TrimSuffix(word, ":")]; shade != "" {
		return "\x1b[" + shade + "m" + cell + "\x1b[0m"
	}
	return cell
}
