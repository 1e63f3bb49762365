package schedule

import (
	"iter"
	"time"
)

// Change is a moment at which the offset of a zone changes.
type Change struct {
	At            time.Time // in the zone
	Before, After int       // seconds east of UTC
}

// Gap reports whether local times are left out; otherwise some occur twice.
func (c Change) Gap() bool { return c.Before < c.After }

// Changes returns those of the schedule's zone at from or later, and before end.
func (s Schedule) Changes(from, end time.Time) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		if s.IsZero() {
			return
		}
		for w := s.zone.whole(ceil(from) - 1); w.end < ceil(end); {
			after := s.zone.whole(w.end)
			c := Change{At: time.Unix(w.end, 0).In(s.zone.loc), Before: int(w.offset), After: int(after.offset)}
			if c.Before != c.After && !yield(c) {
				return
			}
			w = after
		}
	}
}

// Touched returns the effect of a change of its zone's clock on a cron line, as the code of a note, and the fire that
// is affected, or would have been; "" if there is no effect.
func (s Schedule) Touched(c Change) (code string, at time.Time) {
	if !s.isLine() {
		return "", time.Time{}
	}
	note, found := s.clockNote(window{offset: int64(c.Before)}, window{start: c.At.Unix(), offset: int64(c.After)})
	if !found {
		return "", time.Time{}
	}
	return note.Code, note.At
}
