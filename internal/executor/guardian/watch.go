package guardian

import "time"

// watch decides for the worker whether its guardian responds. Its clock stops while the machine is suspended.
type watch struct {
	unanswered    time.Duration // send SIGCONT after this silence
	noticed       time.Duration // report the silence after this time
	giveUpStopped time.Duration // end the worker after this silence if /proc shows the guardian as stopped
	giveUp        time.Duration // and otherwise: it may only be short of memory or disk

	checked time.Duration // time of the last check, at first of the beginning
	resumed time.Duration // silence before this time does not count: this process did not run either
}

// newWatch returns a watch that begins now.
func newWatch(now time.Duration) watch {
	return watch{
		checked:       now,
		resumed:       now,
		unanswered:    time.Second,
		noticed:       3 * time.Second,
		giveUpStopped: 10 * time.Second,
		giveUp:        30 * time.Second,
	}
}

// verdict is the result of one check.
type verdict struct {
	silent  time.Duration // how long heartbeats have remained without an echo
	revive  bool          // send SIGCONT
	report  bool
	abandon bool // end the worker
}

// check returns the verdict at now. since is the time from which on no echo has arrived although one is due, 0 if none
// is due. A check that is late, as on a machine that was frozen or overloaded, starts the measured silence anew.
func (w *watch) check(now, since time.Duration, stopped bool) verdict {
	if now-w.checked > tick+stalled {
		w.resumed = now
	}
	w.checked = now
	var v verdict
	if since != 0 {
		v.silent = max(0, now-max(since, w.resumed))
	}
	v.revive = stopped || v.silent >= w.unanswered
	v.report = v.silent >= w.noticed
	v.abandon = v.silent >= w.giveUp || stopped && v.silent >= w.giveUpStopped
	return v
}
