package guardian

import "time"

const (
	tick     = 250 * time.Millisecond // how often the guardian looks
	stalled  = time.Second            // so much later it was standing still itself
	patience = 500 * time.Millisecond // and lets the worker be heard first
	silence  = 10 * time.Second       // a worker that is not heard for so long is not called alive
)

// vigil judges by the boot clock whether the worker lives.
type vigil struct {
	looked time.Duration // when it was looked last
	notYet time.Duration // nothing is ended before
	heard  time.Duration // when the last beat came; 0: none did
	killBy time.Duration // what it said
	ending bool          // the worker stops: how long that may take is the service manager's business
}

func (v *vigil) beat(now, killBy time.Duration) { v.heard, v.killBy = now, killBy }

// look tells whether everything is to be ended now.
func (v *vigil) look(now time.Duration) bool {
	if v.looked != 0 && now-v.looked > tick+stalled {
		v.notYet = now + patience
	}
	v.looked = now
	return v.killBy != 0 && now >= v.killBy && now >= v.notYet
}

// next is how long to wait for the next look.
func (v *vigil) next(now time.Duration) time.Duration {
	if due := max(v.killBy, v.notYet) - now; v.killBy != 0 && due < tick {
		return max(due, 0)
	}
	return tick
}

// alive tells whether the worker may be called so. One that starts and has not beaten
// yet may: it is not ready either.
func (v *vigil) alive(now time.Duration) bool {
	return v.heard == 0 || v.ending || now-v.heard <= silence
}
