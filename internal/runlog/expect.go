package runlog

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/rollup"
)

// The rules for late and slow runs, used where users are shown or notified of them.
const (
	// Recent is the period whose runs define the usual behaviour.
	Recent = 7 * 24 * time.Hour
	// EnoughRuns is the least number of runs in that period to judge by.
	EnoughRuns = 10
	// Grace is the least by which a run must be late, or longer than usual.
	Grace = time.Minute
)

// Expectation is derived from the recent runs of a job. The zero value expects nothing.
type Expectation struct {
	P50, P95 time.Duration // of the durations of those that succeeded
	Samples  int64         // number of those
	Delay    time.Duration // p95 of the time from due to start of planned fires
	Starts   int64         // number of those
}

// ExpectationOf computes it from counts.
func ExpectationOf(c *rollup.Cell) Expectation {
	return Expectation{P50: c.Duration.Quantile(.5), P95: c.Duration.Quantile(.95), Samples: int64(c.Duration.Count),
		Delay: c.Delay.Quantile(.95), Starts: int64(c.Delay.Count)}
}

// LateAfter returns how long after its due time a run counts as late: twice the usual delay of the job, and
// at least Grace.
func (e Expectation) LateAfter() time.Duration {
	if e.Starts < EnoughRuns {
		return Grace
	}
	return max(Grace, 2*e.Delay)
}

// Late reports whether a run should have started by now and has not. One that waits for the end of a pause is not late.
func (e Expectation) Late(r *common.Run, now time.Time) bool {
	return r.Status == common.StatusWaiting && !ofPausedJob(r.Status, r.Reason) && now.Sub(dueOf(r)) > e.LateAfter()
}

func dueOf(r *common.Run) time.Time {
	if r.DueAt != nil {
		return *r.DueAt
	}
	return r.PlannedAt
}

// SlowAfter returns how long a run must take to count as slow: twice the p95, and at least Grace more than
// it. known is false if there are too few runs.
func (e Expectation) SlowAfter() (limit time.Duration, known bool) {
	return max(2*e.P95, e.P95+Grace), e.Samples >= EnoughRuns
}

// Slow reports whether an active run takes far longer than usual.
func (e Expectation) Slow(r *common.Run, now time.Time) bool {
	start, running := startOf(r)
	limit, known := e.SlowAfter()
	return running && known && now.Sub(start) > limit
}

// End returns when an active run should end: by the median, or by the p95 once that has passed; after that it
// stays in the past. known is false if there are too few runs.
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

// startOf returns when an active run was started, or claimed, which happens just before. Runs of daemons do not count:
// they are to last.
func startOf(r *common.Run) (start time.Time, running bool) {
	switch {
	case r.Status != common.StatusRunning, r.Cause == common.CauseDaemon:
		return time.Time{}, false
	case r.StartedAt != nil:
		return *r.StartedAt, true
	case r.ClaimedAt != nil:
		return *r.ClaimedAt, true
	}
	return time.Time{}, false
}
