// Package forecast counts planned fires: how often jobs will fire in each minute of the next days, which
// minutes have the most fires, in which ones more fires begin at one second than the workers have slots, and
// the effect of clock changes (DST).
//
// It promises the same numbers as stepping through every schedule, for 100,000 of them in well under a
// second: equal schedules are counted once, cron expressions by local days, periods by division. It does no
// I/O, starts no goroutine, and bounds its work: it reports how many jobs were left out.
package forecast

import (
	"time"

	"carillon/internal/common/schedule"
)

// Job holds the fields of a job that a forecast needs.
type Job struct {
	Name, Group string
	Timetable   schedule.Schedule
	Cursor      time.Time // its last fire that is accounted for
	// Resumes is the time from which a paused job fires again.
	Resumes time.Time
	Slots   int // that a run uses
}

// Bounds of a forecast.
const (
	maxSpan    = 32 * 24 * time.Hour
	maxPileUps = 20
	maxTop     = 5
	maxNights  = 200
	// maxWork bounds the steps of one count, of some nanoseconds each. 100,000 different schedules that fire
	// in most minutes of a day are within it.
	maxWork = 400_000_000
)

// Forecast is the result of a count.
type Forecast struct {
	From, To time.Time // the counted period: fires at From or later, and before To
	Start    time.Time // when the first minute begins: From, or before it
	Minutes  []int     // fires in each minute
	Peaks    []int     // of each minute: the slots that the fires of one second need, of its fullest second
	Slots    int       // of the workers; 0 if unknown
	Crowded  int       // minutes in which the fires of one second need more slots than the workers have
	Total    int
	Jobs     int // that fire at least once
	PileUps  []PileUp
	Nights   []Night
	Left     int // jobs that were not counted, because of the bound of work
}

// PileUp is a minute that stands out, or in which the fires of one second need more slots than the workers have.
type PileUp struct {
	At     time.Time
	Fires  int
	Second Second  // its fullest second
	Jobs   int     // how many fire in it
	Top    []Share // those that fire most, by name where they are equal
	Groups []Share // those that fire most; the name of none is ""
}

// Second is the fullest second of a minute, by the slots that its fires need.
type Second struct {
	Second int // 0 to 59
	Fires  int
	Slots  int // that they need
}

// Share is the part of a job or group.
type Share struct {
	Name  string
	Title string // of a job, where the caller has filled it in
	Group string // of a job
	Fires int
}

// Night is a time at which the clocks of a zone change, and its effect on the jobs that have a fire at that
// time. Jobs with a fixed period are not affected.
type Night struct {
	Zone   string
	Change schedule.Change

	Moved   int      // jobs: their local time does not exist, and they fire after the gap
	Skipped int      // their local time does not exist, and they do not fire
	Twice   int      // their local time occurs twice, and so do their fires
	Once    int      // their local time occurs twice, and they fire in one pass only
	Names   []string // some of them, sorted
}

// Touched returns the number of affected jobs.
func (n *Night) Touched() int { return n.Moved + n.Skipped + n.Twice + n.Once }
