package check

import (
	"time"
)

// Line is one that a command wrote about itself. What its fields mean is in ledger.c.
type Line struct {
	What    What
	At      Boot
	Pid     int
	Job     string
	Run     string
	Attempt int
	Fence   int64
	Planned time.Time
	Worker  string // id
	Life    string
	A, B, C int64
}

// What a line tells.
type What string

// Events of a command. A, B, C are in parentheses.
const (
	Start  What = "start"  // it runs (how long it will, ms; wall clock, ns)
	Out    What = "out"    // it has printed so far (numbered lines, bytes)
	End    What = "end"    // it ends (exit code; numbered lines; bytes)
	Term   What = "term"   // it got SIGTERM, and ignores it or ends
	Met    What = "met"    // another command of its job was alive when it started
	Alive  What = "alive"  // a child that left its parent lives (pid of the command; count)
	Broken What = "broken" // it could not do what it was to do (errno)
)
