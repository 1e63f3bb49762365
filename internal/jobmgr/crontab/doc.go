// Package crontab converts a crontab to jobs. It parses the user format and the system format (with a user column) as
// cron does: five fields, names, ranges and steps, environment lines that apply to the lines below them, and the
// percent sign that begins the standard input (crontab(5) of Debian's cron, and CRON_TZ of cronie).
//
// It promises that each line either becomes a job that does what cron would have done, or is reported with its number
// and a reason: a fault if no cron accepts it, "skipped" if one does; that the notice describes differences between
// crons; that the same line results in the same job with the same mark, wherever it is in its file, so that a second
// import recognizes the jobs of the first one (see Namer); and that no input makes it panic or work for long: a file is
// at most 1 MiB. It does no I/O (except for time zones, which the standard
// library loads) and starts no goroutine. The server checks whether a line ever fires, how long a job may be, and the
// like.
package crontab

import "carillon/internal/common"

// Bounds of one crontab.
const (
	MaxBytes   = 1 << 20
	MaxEntries = 5000
)

// Group is the group of imported jobs. Label is the label with the name of their file, and LineLabel the one with the
// mark of their line, by which another import recognizes them whatever their names are.
const (
	Group     = "crontab"
	Label     = "crontab"
	LineLabel = "crontab-line"
)

// Options are the properties that a crontab itself does not contain.
type Options struct {
	// Prefix is the prefix of the jobs' names; see PrefixOf.
	Prefix string
	// System means that each line has a user before its command.
	System bool
	// Timezone is the zone of lines without a CRON_TZ above them.
	Timezone string
	// User is the user that the worker runs as: in the system format, lines of other users are not imported, unless it
	// is empty.
	User string
	// Owner is the user of jobs in the user format; if it is empty, they have none.
	Owner string
	// Group is the group of the jobs; "crontab" if it is empty.
	Group string
	// Most is the maximum number of imported entries, if it is less than MaxEntries; 0 means MaxEntries.
	Most int
	// Home is the directory in which cron starts commands, unless a line sets HOME. If it is empty, the worker decides.
	Home string
	// HomeOf returns the home of a line's user, if Home is empty; it may be nil.
	HomeOf func(user string) string
	// File means that the text is a complete file, whose last line must end with a newline under cron.
	File bool
}

// Level is the result for a line.
type Level string

// Levels of notices.
const (
	Fault    Level = "fault"   // no cron would accept the line either
	NotTaken Level = "skipped" // cron accepts it, and no job does the same
	Note     Level = "note"    // a remark on a line that was imported or has no effect
)

// Notice is a remark on a line.
type Notice struct {
	Line  int // from 1; 0 is the file
	Level Level
	Code  string // its kind, for programs and for translation; stable
	Text  string
	Value string // the part of the line that the text is about, if it quotes one
}

// Entry is a line that became a job.
type Entry struct {
	Line int
	Job  common.Job
	// Imported reports that a job was imported from this line before; the entry has the name of that job.
	Imported bool
	// MailTo is the value of MAILTO above the line; nil if it is not set. An empty one requests no mail.
	MailTo *string
	// Lines are all lines of a merged entry; see Merge.
	Lines []int
	// Superseded are the names of other jobs that were imported from lines of a merged entry before.
	Superseded []string

	base    string // the suggested name, which another job may have
	earlier earlier
	keys    []string // of a merged entry: the identities of its lines
}

// Result is the content of a crontab, both lists in the order of its lines.
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
