package forecast

import (
	"cmp"
	"slices"

	"carillon/internal/common/schedule"
)

// nights finds the clock changes in the zones of the jobs.
func (c *count) nights() []Night {
	of := map[string][]*Night{}
	var all []*Night
	for i := range c.lines {
		l := &c.lines[i]
		seen := map[effect]bool{}
		for _, part := range l.timetable.Parts() {
			zone := part.Zone()
			known, looked := of[zone]
			if !looked {
				for change := range part.Changes(c.from, c.to) {
					known = append(known, &Night{Zone: zone, Change: change})
				}
				of[zone], all = known, append(all, known...)
			}
			for _, n := range known {
				c.touch(n, l, part, seen)
			}
		}
	}
	nights := make([]Night, 0, len(all))
	for _, n := range all {
		slices.Sort(n.Names)
		nights = append(nights, *n)
	}
	slices.SortFunc(nights, func(a, b Night) int {
		return cmp.Or(a.Change.At.Compare(b.Change.At), cmp.Compare(a.Zone, b.Zone))
	})
	return nights[:min(len(nights), maxNights)]
}

// effect is what a clock change does to fires.
type effect struct {
	night *Night
	code  string
}

// touch counts the jobs of a line that a clock change affects, by one of their schedules: for each effect once.
func (c *count) touch(n *Night, l *line, part schedule.Schedule, seen map[effect]bool) {
	code, at := part.Touched(n.Change)
	if code == "" || !at.After(l.after) || !at.Before(l.to) || !part.Within(at) || seen[effect{n, code}] {
		return
	}
	seen[effect{n, code}] = true
	switch code {
	case schedule.NoteGapRun:
		n.Moved += len(l.jobs)
	case schedule.NoteGapSkip:
		n.Skipped += len(l.jobs)
	case schedule.NoteOverlapBoth:
		n.Twice += len(l.jobs)
	case schedule.NoteOverlapFirst, schedule.NoteOverlapSecond:
		n.Once += len(l.jobs)
	default: // it follows real time
		return
	}
	if seen[effect{night: n}] { // they are named
		return
	}
	seen[effect{night: n}] = true
	for _, i := range l.jobs {
		name := c.jobs[i].Name
		if len(n.Names) < maxTop {
			n.Names = append(n.Names, name)
			continue
		}
		if last := slices.Max(n.Names); name < last {
			n.Names[slices.Index(n.Names, last)] = name
		}
	}
}
