package runlog

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/rollup"
)

// The rules of what is late and what is slow, where users and notifications are told of it.
const (
	// Recent is how far back the runs lie that say what is usual.
	Recent = 7 * 24 * time.Hour
	// EnoughRuns must lie there before anything counts as unusual.
	EnoughRuns = 10
	// Grace is the least by which a run must be later, or longer, than it should be.
	Grace = time.Minute
)

// Expectation is what the recent runs of a job let one expect of the next. The zero value
// expects nothing.
type Expectation struct {
	P50, P95 time.Duration // of the durations of those that succeeded
	Samples  int64         // how many those are
	Delay    time.Duration // p95 of how much later than due the plan's fires were started
	Starts   int64         // how many those are
}

// ExpectationOf draws it from what was counted.
func ExpectationOf(c *rollup.Cell) Expectation {
	return Expectation{P50: c.Duration.Quantile(.5), P95: c.Duration.Quantile(.95), Samples: int64(c.Duration.Count),
		Delay: c.Delay.Quantile(.95), Starts: int64(c.Delay.Count)}
}

// LateAfter is how much later than due a run must be to be late: twice what the job is
// used to, and at least Grace.
func (e Expectation) LateAfter() time.Duration {
	if e.Starts < EnoughRuns {
		return Grace
	}
	return max(Grace, 2*e.Delay)
}

// Late tells whether a run should have started by now and has not.
func (e Expectation) Late(r *common.Run, now time.Time) bool {
	return r.Status == common.StatusWaiting && now.Sub(dueOf(r)) > e.LateAfter()
}

func dueOf(r *common.Run) time.Time {
	if r.DueAt != nil {
		return *r.DueAt
	}
	return r.PlannedAt
}

// SlowAfter is how long a run must take to be slow: twice the p95, and at least Grace
// more than it. known is false where there are too few runs to say.
func (e Expectation) SlowAfter() (limit time.Duration, known bool) {
	return max(2*e.P95, e.P95+Grace), e.Samples >= EnoughRuns
}

// Slow tells whether a run has been running for far longer than usual.
func (e Expectation) Slow(r *common.Run, now time.Time) bool {
	start, running := startOf(r)
	limit, known := e.SlowAfter()
	return running && known && now.Sub(start) > limit
}

// End is when a run that is running should end: with the median, or the p95 once that is
// over; after that it stays in the past. known is false where nothing says so.
func (e Expectation) End(r *common.Run, now time.Time) (end time.Time, known bool) {
	start, running := startOf(r)
	if !running || e.Samples == 0 {
		return time.Time{}, false
	}
	if end = start.Add(e.P50); end.Before(now) {
		end = start.Add(e.P95)
	}
	return end, true
}

// startOf is when a run that is running was started, or claimed, which comes just before.
func startOf(r *common.Run) (start time.Time, running bool) {
	switch {
	case r.Status != common.StatusRunning:
		return time.Time{}, false
	case r.StartedAt != nil:
		return *r.StartedAt, true
	case r.ClaimedAt != nil:
		return *r.ClaimedAt, true
	}
	return time.Time{}, false
}
