package dispatch

import "time"

// Fires of backfills yield to all others: they are not claimed from yieldAhead before a fire of the plan is due until
// yieldAfter after it, by when it has been received, nor while another fire is pending or a command is on its way to be
// started. So that they are not starved, they yield for at most yieldMost; then a batch of them is claimed.
const (
	yieldAhead = 100 * time.Millisecond
	yieldAfter = 10 * time.Millisecond
	yieldMost  = 500 * time.Millisecond
)

// backgroundYield decides how long fires of backfills yield.
type backgroundYield struct {
	since time.Time // since when they yield; zero: they do not
	until time.Time // the end of the time around the fire of the plan that was seen last
}

// end returns until when the pending fires of backfills yield, if nothing changes; zero if they do not. next is when
// the next fire of the plan is due, or zero; busy reports that another fire is pending, or a command on its way.
func (y *backgroundYield) end(now, next time.Time, busy bool) time.Time {
	switch {
	case next.IsZero() || next.Sub(now) > yieldAhead:
		if y.until.Sub(now) > yieldAhead+yieldAfter { // the clock was set back
			y.until = now
		}
	case next.After(now):
		y.until = next.Add(yieldAfter)
	default: // it is being sent
		y.until = now.Add(yieldAfter)
	}
	if !busy && !y.until.After(now) {
		y.since = time.Time{}
		return time.Time{}
	}
	if y.since.IsZero() || y.since.After(now) {
		y.since = now
	}
	last := y.since.Add(yieldMost)
	switch {
	case !last.After(now):
		return time.Time{}
	case busy || last.Before(y.until):
		return last
	default:
		return y.until
	}
}

// claimed notes that some of the fires are claimed: the others may yield for yieldMost from now on.
func (y *backgroundYield) claimed() { y.since = time.Time{} }

// backgroundYields reports whether the pending fires of backfills yield. If they do, Run looks again when that may end.
func (d *Dispatcher) backgroundYields() bool {
	d.idleStarts = nil
	if d.pending.background == 0 {
		d.background.since, d.resumeAt, d.resumed = time.Time{}, time.Time{}, nil
		return false
	}
	busy := !d.pending.first().background()
	select {
	case <-d.cfg.Starts.idle():
	default:
		busy, d.idleStarts = true, d.cfg.Starts.idle()
	}
	now := d.cfg.Now()
	end := d.background.end(now, d.cfg.Plan.NextDue(), busy)
	if end.IsZero() {
		d.resumeAt, d.resumed, d.idleStarts = time.Time{}, nil, nil
		return false
	}
	if !end.Equal(d.resumeAt) {
		d.resumeAt, d.resumed = end, time.After(end.Sub(now))
	}
	return true
}
