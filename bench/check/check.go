// Package check evaluates a benchmark. It computes the plan by arithmetic, reads the ledger that the started
// commands wrote themselves, and compares the two.
//
// It shares no code with the system under test: its results depend only on the records of the commands. It
// has no goroutines, and keeps everything in memory.
package check

import (
	"slices"
	"time"
)

// Fire is a time at which a job is to run.
type Fire struct {
	Job     string
	Planned time.Time
}

// Plan is a set of jobs that fire together: every Step, from From until before To.
type Plan struct {
	Jobs     []string
	From, To time.Time
	Step     time.Duration // a second if zero
}

func (p Plan) step() time.Duration {
	if p.Step == 0 {
		return time.Second
	}
	return p.Step
}

// Times returns the times at which each job is to fire: full steps of Unix time.
func (p Plan) Times() []time.Time {
	var times []time.Time
	at := p.From.UTC().Truncate(p.step())
	if at.Before(p.From) {
		at = at.Add(p.step())
	}
	for ; at.Before(p.To); at = at.Add(p.step()) {
		times = append(times, at)
	}
	return times
}

// Count returns the number of fires.
func (p Plan) Count() int { return len(p.Times()) * len(p.Jobs) }

// contains reports whether a fire lies within the plan's time.
func (p Plan) contains(at time.Time) bool { return !at.Before(p.From) && at.Before(p.To) }

// Spread is a distribution of durations.
type Spread struct {
	N             int
	P50, P99, Max time.Duration
}

// SpreadOf sorts its argument.
func SpreadOf(all []time.Duration) Spread {
	if len(all) == 0 {
		return Spread{}
	}
	slices.Sort(all)
	rank := func(percent int) time.Duration { return all[min(len(all)-1, len(all)*percent/100)] }
	return Spread{N: len(all), P50: rank(50), P99: rank(99), Max: all[len(all)-1]}
}
