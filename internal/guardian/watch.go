package guardian

import "time"

// watch is the worker's judgement of its guardian, by the clock that stops while the machine sleeps.
type watch struct {
	unanswered    time.Duration // a beat that is without its echo for so long has the guardian continued
	noticed       time.Duration // after so long the silence is reported
	giveUpStopped time.Duration // after so long the worker ends, where /proc shows the guardian as stopped
	giveUp        time.Duration // and otherwise: it may only be starved of memory or disk

	looked  time.Duration // time of the last look
	resumed time.Duration // silence before this time does not count: this process did not run either
}

func newWatch() watch {
	return watch{unanswered: time.Second, noticed: 3 * time.Second, giveUpStopped: 10 * time.Second, giveUp: 30 * time.Second}
}

// verdict is what follows from one look.
type verdict struct {
	silent  time.Duration // how long beats have gone without an echo
	revive  bool          // send SIGCONT
	report  bool
	abandon bool // end the worker
}

// look judges at now. since is the time from which on nothing was heard though a beat waits for its echo, 0 when
// none does. A look that comes late, as on a machine that was frozen or starved, begins the silence anew.
func (w *watch) look(now, since time.Duration, stopped bool) verdict {
	if w.looked != 0 && now-w.looked > tick+stalled {
		w.resumed = now
	}
	w.looked = now
	var v verdict
	if since != 0 {
		v.silent = max(0, now-max(since, w.resumed))
	}
	v.revive = stopped || v.silent >= w.unanswered
	v.report = v.silent >= w.noticed
	v.abandon = v.silent >= w.giveUp || stopped && v.silent >= w.giveUpStopped
	return v
}
