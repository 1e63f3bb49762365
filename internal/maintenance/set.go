package maintenance

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	"unique"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/scheduler/placement"
)

// Labels are the labels of a job: one value for all jobs with the same ones.
type Labels = unique.Handle[string]

// LabelsOf returns the labels of a job; the zero value for none.
func LabelsOf(labels map[string]string) (shared Labels) {
	if len(labels) == 0 {
		return shared
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		text.WriteString(name + "\x00" + labels[name] + "\x00")
	}
	return unique.Make(text.String())
}

// ParseLabels returns the labels as a map; nil for none.
func ParseLabels(l Labels) map[string]string {
	if l == (Labels{}) {
		return nil
	}
	labels := map[string]string{}
	parts := strings.Split(l.Value(), "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		labels[parts[i]] = parts[i+1]
	}
	return labels
}

// Job is what decides whether a window affects a job.
type Job struct {
	Group  string
	Labels Labels
}

// Opening is one time that a window is open: from Begin, inclusive, to End, exclusive.
type Opening struct {
	Window     string
	Policy     Policy
	Note       string
	Begin, End time.Time
}

// Set is all windows. It is never modified. The nil Set has none.
type Set struct {
	windows []compiled
}

type compiled struct {
	Window
	selector *placement.Selector
	schedule schedule.Schedule
	length   time.Duration
}

// NewSet returns a set of windows. A window of a newer version that cannot be understood is left out.
func NewSet(windows []Window) *Set {
	s, in := &Set{}, schedule.NewInterner()
	for i := range windows {
		c := compiled{Window: windows[i]}
		if len(c.Faults()) > 0 {
			continue
		}
		c.selector, _ = placement.ParseSelector(c.Selector) // it has no faults
		if c.Recurs() {
			c.schedule, _ = c.WindowDefinition.schedule(in)
			c.length, _ = c.Duration.Value()
		}
		s.windows = append(s.windows, c)
	}
	slices.SortFunc(s.windows, func(a, b compiled) int { return cmp.Compare(a.Name, b.Name) })
	return s
}

// opening returns the time that contains at; false if the window is not open then.
func (c *compiled) opening(at time.Time) (Opening, bool) {
	o := Opening{Window: c.Name, Policy: c.Policy, Note: c.Note}
	if !c.Recurs() {
		o.Begin, o.End = *c.From, *c.To
	} else {
		begin, ok, err := c.schedule.Previous(at.Add(1)) // a fire at that time counts
		if err != nil || !ok {
			return o, false
		}
		o.Begin, o.End = begin, begin.Add(c.length)
	}
	return o, !at.Before(o.Begin) && at.Before(o.End)
}

// affects reports whether a job is in the scope of the window.
func (c *compiled) affects(j Job) bool {
	return c.Everything || c.groups(j.Group) ||
		c.Selector != "" && c.selector.Matches(ParseLabels(j.Labels))
}

// groups reports whether the window names a group, or one that it is nested in.
func (c *compiled) groups(group string) bool {
	return slices.ContainsFunc(c.Groups, func(named string) bool {
		return named == group || common.InGroup(group, named)
	})
}

// Open returns the window that affects a job at a time: of several, one that skips, and of these the one that ends
// last.
func (s *Set) Open(j Job, at time.Time) (open Opening, ok bool) {
	if s == nil {
		return open, false
	}
	for i := range s.windows {
		c := &s.windows[i]
		o, is := c.opening(at)
		if !is || !c.affects(j) {
			continue
		}
		if !ok || o.Policy == Skip && open.Policy != Skip || o.Policy == open.Policy && o.End.After(open.End) {
			open, ok = o, true
		}
	}
	return open, ok
}

// Closed returns the window for whose end nothing of a job starts by itself at a time.
func (s *Set) Closed(j Job, now time.Time) (last Opening, ok bool) {
	if s == nil {
		return last, false
	}
	for i := range s.windows {
		c := &s.windows[i]
		if o, is := c.opening(now); is && c.affects(j) && (!ok || o.End.After(last.End)) {
			last, ok = o, true
		}
	}
	return last, ok
}

// Drains returns the window because of which a worker claims nothing at a time.
func (s *Set) Drains(life common.Life, now time.Time) (open Opening, ok bool) {
	if s == nil {
		return open, false
	}
	for i := range s.windows {
		c := &s.windows[i]
		if !slices.Contains(c.Workers, life.Name) && !slices.Contains(c.Workers, life.Worker) {
			continue
		}
		if o, is := c.opening(now); is {
			return o, true
		}
	}
	return open, false
}

// Openings returns when the window is open between two times, its end exclusive, in order: at most a number of them.
func (w *Window) Openings(from, to time.Time, most int) (openings []Opening) {
	set := NewSet([]Window{*w})
	if len(set.windows) == 0 {
		return nil
	}
	c := &set.windows[0]
	if o, ok := c.opening(from); ok {
		openings = append(openings, o)
	}
	if !c.Recurs() {
		if c.From.After(from) && c.From.Before(to) {
			openings = append(openings, Opening{c.Name, c.Policy, c.Note, *c.From, *c.To})
		}
		return openings
	}
	for at := from; len(openings) < most; {
		next, ok, err := c.schedule.Next(at)
		if err != nil || !ok || !next.Before(to) {
			break
		}
		openings, at = append(openings, Opening{c.Name, c.Policy, c.Note, next, next.Add(c.length)}), next
	}
	return openings
}

// Over reports whether the window will not open again.
func (w *Window) Over(now time.Time) bool { return !w.Recurs() && !w.To.After(now) }

// Holds reports whether fires that are planned within the window wait until it ends.
func (o *Opening) Holds() bool { return o.Policy == Hold }

// Reason returns the reason of a fire that a window affects: it is, or will be, skipped, or it waits for its end.
func (o *Opening) Reason(skipped bool) common.Reason {
	text := "it waits for the end of the maintenance window " + o.Window
	if skipped {
		text = "it is planned within the maintenance window " + o.Window
	}
	data := map[string]string{"window": o.Window, "until": o.End.UTC().Format(time.RFC3339)}
	if o.Note != "" {
		data["note"] = o.Note
		text += ": " + o.Note
	}
	return common.Reason{Code: common.ReasonMaintenance, Data: data, Text: text}
}
