package clock

import "time"

const (
	// Probation is how long a clock that jumped must run in step with the boot clock before it is trusted without
	// proof.
	Probation = 5 * time.Minute
	// restart is how far ahead a clock may be after a restart of the machine, when only the wall time is remembered.
	restart = 15 * time.Minute
)

// Remembered is a trusted time of the wall clock, and the boot clock at that moment. The boot clock is comparable only
// within the boot that Boot identifies.
type Remembered struct {
	Wall time.Time     `json:"wall"`
	At   time.Duration `json:"at"`
	Boot string        `json:"boot,omitempty"`
}

// SelfCheck is the result of Trust for a wall clock.
type SelfCheck struct {
	Doubt bool          // the clock is suspect: it differs from the trusted time and is not confirmed
	Cold  bool          // the machine was restarted meanwhile: the trusted time may be far in the past
	Time  time.Time     // the trusted time now
	Left  time.Duration // until the clock is trusted without confirmation
}

// Ahead reports whether the wall clock is suspect and shows a time after the trusted one.
func (c *SelfCheck) Ahead(wall time.Time) bool { return c.Doubt && wall.After(c.Time.Add(Lead)) }

// Trust limits how far a clock may be ahead where no other clock contradicts it. It advances the trusted time by the
// boot clock, and follows the wall clock while both are in step. A wall clock that differs is suspect until it is
// confirmed (by NTP, or by a clock that is not suspect), or has been in step with the boot clock for Probation. The
// zero value trusts the first time that it receives. It is not safe for concurrent use.
type Trust struct {
	wall time.Time     // trusted time
	at   time.Duration // the boot clock then
	cold bool          // at is from another boot

	doubt bool
	since time.Duration // the boot clock when the doubt began
	from  time.Time     // the wall clock then
}

// NewTrust returns a Trust that continues from a remembered time; zero: none. boot identifies the boot of the machine,
// and at is the boot clock now.
func NewTrust(r Remembered, boot string, at time.Duration) *Trust {
	if r.Wall.IsZero() {
		return &Trust{}
	}
	if r.Boot != "" && r.Boot == boot && r.At <= at {
		return &Trust{wall: r.Wall, at: r.At}
	}
	return &Trust{wall: r.Wall, at: at, cold: true}
}

// Judge compares the wall clock with the trusted time. at is the boot clock now; proven reports that the wall clock is
// confirmed.
func (t *Trust) Judge(wall time.Time, at time.Duration, proven bool) SelfCheck {
	expected, most := t.wall.Add(at-t.at), Lead
	if t.cold {
		most = restart
	}
	ahead := wall.Sub(expected)
	if t.wall.IsZero() || proven || -Lead <= ahead && ahead <= most {
		return t.accept(wall, at)
	}
	if !t.doubt || wall.Sub(t.from.Add(at-t.since)).Abs() > Lead {
		t.doubt, t.since, t.from = true, at, wall
	}
	left := Probation - (at - t.since)
	if left <= 0 {
		return t.accept(wall, at)
	}
	return SelfCheck{Doubt: true, Cold: t.cold, Time: expected, Left: left}
}

func (t *Trust) accept(wall time.Time, at time.Duration) SelfCheck {
	*t = Trust{wall: wall, at: at}
	return SelfCheck{Time: wall}
}
