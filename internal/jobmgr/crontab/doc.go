// Package crontab turns a crontab into jobs. It reads the user format and the
// system format (with a user column) as cron itself does: five fields, names,
// ranges and steps, environment lines that hold for the lines below them, and
// the percent sign that begins the standard input (crontab(5) of Debian's cron,
// and CRON_TZ of cronie).
//
// It promises that a line is either turned into a job that does what cron would
// have done, or reported with its number and a reason: a fault where no cron reads
// it, "not taken" where one does; where crons differ, the notice says how; that the same text gives
// the same jobs under the same names, in whatever order its lines stand; and
// that no input makes it panic or work for long: a file is at most 1 MiB. It
// does no I/O (time zones aside, which the standard library looks up) and
// starts no goroutine. Whether a line ever fires, how long a job may be and
// the like is for the server to say.
package crontab

import "carillon/internal/common"

// Bounds of one crontab.
const (
	MaxBytes   = 1 << 20
	MaxEntries = 5000
)

// Group is the group of imported jobs, and Label the label that names the file
// which a job came from.
const (
	Group = "crontab"
	Label = "crontab"
)

// Options say what a crontab itself does not.
type Options struct {
	// Prefix begins the names of the jobs; see PrefixOf.
	Prefix string
	// System says that each line names a user before its command.
	System bool
	// Timezone holds for lines without a CRON_TZ above them.
	Timezone string
	// User is the one that the worker runs as: in the system format, lines of other
	// users are not taken, unless it is empty.
	User string
	// Owner is the user of the jobs of the user format; where it is empty they name none.
	Owner string
	// Group is that of the jobs; "crontab" where it is empty.
	Group string
	// Most is how many entries are taken, where it is less than MaxEntries; 0 is no such bound.
	Most int
	// Home is where cron starts commands, unless a line sets HOME. Where it is
	// empty the worker's own choice stays.
	Home string
	// HomeOf is the home of a line's user, where Home is empty; it may be nil.
	HomeOf func(user string) string
	// File says that the text is a whole file, whose last line cron wants to end.
	File bool
}

// Level is what became of a line.
type Level string

// The levels.
const (
	Fault    Level = "fault"     // no cron would read the line either
	NotTaken Level = "not taken" // cron reads it, and there is no job that does the same
	Note     Level = "note"      // taken, or of no effect on jobs, with something to know
)

// Notice is a remark on a line.
type Notice struct {
	Line  int // from 1; 0 is the file
	Level Level
	Code  string // what it is, for programs and for translation; it does not change
	Text  string
	Value string // what the text is about, where it quotes something
}

// Entry is a line that became a job.
type Entry struct {
	Line int
	Job  common.Job
}

// Result is what a crontab holds, both lists in the order of its lines.
type Result struct {
	Entries []Entry
	Notices []Notice
}

// Count returns how many notices of a level there are.
func (r *Result) Count(l Level) int {
	n := 0
	for _, notice := range r.Notices {
		if notice.Level == l {
			n++
		}
	}
	return n
}
