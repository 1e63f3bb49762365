package clockguard

import "time"

const (
	// Probation is how long a clock that jumped ahead must go in step with the boot clock before it
	// is believed without proof.
	Probation = 5 * time.Minute
	// restart is how far ahead a clock may be after a restart of the machine, and of a process that
	// remembers nothing but a time.
	restart = 15 * time.Minute
)

// Remembered is a time that the wall clock was believed to show, and the boot clock at that moment.
// The boot clock says something only on the boot that Boot names.
type Remembered struct {
	Wall time.Time     `json:"wall"`
	At   time.Duration `json:"at"`
	Boot string        `json:"boot,omitempty"`
}

// Belief is what Trust says of a wall clock.
type Belief struct {
	Doubt bool          // the clock is not where it should be, and has not proven itself
	Cold  bool          // the machine was restarted meanwhile: the believed time may be far in the past
	Time  time.Time     // the believed time now
	Left  time.Duration // until the clock is believed without proof
}

// Ahead reports whether the wall clock is in doubt and shows a time after the believed one.
func (b *Belief) Ahead(wall time.Time) bool { return b.Doubt && wall.After(b.Time.Add(Lead)) }

// Trust bounds by how much a clock that nobody contradicts may be ahead: it carries the believed time on
// by the boot clock, and follows the wall clock while the two are in step. A wall clock that
// leaves it is in doubt until it is proven (by NTP, or by a clock that is not in doubt), or has been in step with
// the boot clock for Probation. The zero value believes the first time that it is shown. It is
// not safe for concurrent use.
type Trust struct {
	wall time.Time     // believed
	at   time.Duration // the boot clock then
	cold bool          // at is of another boot

	doubt bool
	since time.Duration // the boot clock when the doubt began
	from  time.Time     // what the wall clock showed then
}

// NewTrust makes a trust of what was remembered; zero where nothing was. boot names the boot of the machine, and at
// is the boot clock now.
func NewTrust(r Remembered, boot string, at time.Duration) *Trust {
	if r.Wall.IsZero() {
		return &Trust{}
	}
	if r.Boot != "" && r.Boot == boot && r.At <= at {
		return &Trust{wall: r.Wall, at: r.At}
	}
	return &Trust{wall: r.Wall, at: at, cold: true}
}

// Judge compares the wall clock with the believed time. at is the boot clock now; proven says that
// the wall clock is known to be right.
func (t *Trust) Judge(wall time.Time, at time.Duration, proven bool) Belief {
	expected, most := t.wall.Add(at-t.at), Lead
	if t.cold {
		most = restart
	}
	ahead := wall.Sub(expected)
	if t.wall.IsZero() || proven || -Lead <= ahead && ahead <= most {
		return t.believe(wall, at)
	}
	if !t.doubt || wall.Sub(t.from.Add(at-t.since)).Abs() > Lead {
		t.doubt, t.since, t.from = true, at, wall
	}
	left := Probation - (at - t.since)
	if left <= 0 {
		return t.believe(wall, at)
	}
	return Belief{Doubt: true, Cold: t.cold, Time: expected, Left: left}
}

func (t *Trust) believe(wall time.Time, at time.Duration) Belief {
	*t = Trust{wall: wall, at: at}
	return Belief{Time: wall}
}
