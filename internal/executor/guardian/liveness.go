package guardian

import "time"

const (
	tick     = 250 * time.Millisecond // interval of the guardian's checks
	stalled  = time.Second            // a check that is later by more than this: the guardian itself did not run
	patience = 500 * time.Millisecond // how long it then waits for a heartbeat before it kills
	silence  = 10 * time.Second       // without a heartbeat for longer, the worker does not count as alive
)

// liveness decides by the boot clock whether the worker is alive.
type liveness struct {
	checked  time.Duration // time of the last check
	notYet   time.Duration // kill nothing before this time
	received time.Duration // time of the last heartbeat; 0: none yet
	killBy   time.Duration // deadline from the last heartbeat; 0: none
	ending   bool          // the worker is stopping; the service manager limits how long that may take
}

func (l *liveness) beat(now, killBy time.Duration) { l.received, l.killBy = now, killBy }

// check reports whether to kill the worker and its process tree now.
func (l *liveness) check(now time.Duration) bool {
	if l.checked != 0 && now-l.checked > tick+stalled {
		l.notYet = now + patience
	}
	l.checked = now
	return l.killBy != 0 && now >= l.killBy && now >= l.notYet
}

// next returns the time until the next check.
func (l *liveness) next(now time.Duration) time.Duration {
	if due := max(l.killBy, l.notYet) - now; l.killBy != 0 && due < tick {
		return max(due, 0)
	}
	return tick
}

// alive reports whether the worker counts as alive. It does until its first heartbeat: it is not ready before either.
func (l *liveness) alive(now time.Duration) bool {
	return l.received == 0 || l.ending || now-l.received <= silence
}
