package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// english puts the time first: "at 02:30, Monday to Friday".
type english struct{}

func (english) period(d time.Duration) string {
	days, hours, minutes, seconds := amounts(d)
	var parts []string
	for _, p := range []struct {
		n    float64
		unit string
	}{{float64(days), "day"}, {float64(hours), "hour"}, {float64(minutes), "minute"}, {seconds, "second"}} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.unit)
		case p.n != 0:
			parts = append(parts, strconv.FormatFloat(p.n, 'f', -1, 64)+" "+p.unit+"s")
		}
	}
	return "every " + strings.Join(parts, " ") + ", counted from the last fire"
}

func (english) once(t time.Time) string {
	return "once, at " + t.Format("2006-01-02 15:04:05 -07:00")
}

func (e english) line(s shape) string {
	parts := []string{e.clock(s)}
	days := e.days(s)
	if days == "" && len(s.times) > 0 {
		days = "every day"
	}
	if days != "" {
		parts = append(parts, days)
	}
	if s.months != nil {
		parts = append(parts, "in "+e.list(s.months, func(v int) string { return time.Month(v).String() }))
	}
	if s.years != nil {
		parts = append(parts, "in "+e.list(s.years, strconv.Itoa))
	}
	return strings.Join(parts, ", ")
}

// clock describes the time of day.
func (e english) clock(s shape) string {
	if len(s.times) > 0 {
		return "at " + e.and(s.times)
	}
	if s.second.zero && s.minute.zero {
		switch {
		case s.hour.all:
			return "every hour"
		case s.hour.step > 0:
			return "every " + strconv.Itoa(s.hour.step) + " hours"
		case len(s.hour.runs()) == 1:
			r := s.hour.runs()[0]
			return fmt.Sprintf("every hour from %02d:00 to %02d:00", r.from, r.to)
		}
	}
	var parts []string
	if !s.second.zero {
		parts = append(parts, e.every(s.second, "second"))
	}
	switch {
	case s.second.zero:
		text := e.every(s.minute, "minute")
		if s.hour.all && strings.HasPrefix(text, "at") {
			text += " of every hour"
		}
		parts = append(parts, text)
	case !s.minute.all:
		parts = append(parts, e.within(s.minute, "minute"))
	}
	if !s.hour.all {
		if r := s.hour.runs(); len(r) == 1 {
			parts = append(parts, fmt.Sprintf("between %02d:00 and %02d:59", r[0].from, r[0].to))
		} else {
			parts = append(parts, e.within(s.hour, "hour"))
		}
	}
	return strings.Join(parts, ", ")
}

// every describes the smallest field that varies.
func (e english) every(p part, unit string) string {
	switch {
	case p.all:
		return "every " + unit
	case p.step > 0:
		return "every " + strconv.Itoa(p.step) + " " + unit + "s"
	default:
		return "at " + e.numbers(p, unit)
	}
}

// within describes a field that restricts a smaller one.
func (e english) within(p part, unit string) string { return "in " + e.numbers(p, unit) }

func (e english) numbers(p part, unit string) string {
	if len(p.values) > 1 {
		unit += "s"
	}
	return unit + " " + e.list(p.runs(), strconv.Itoa)
}

// days describes the two day fields; empty if neither is restricted.
func (e english) days(s shape) string {
	var either []string
	if !s.day.star {
		either = append(either, e.monthDays(s.day))
	}
	if !s.weekday.star {
		either = append(either, e.weekDays(s.weekday))
	}
	return strings.Join(either, ", or ")
}

func (e english) monthDays(f *field) string {
	var items []string
	if !f.set.empty() {
		noun := "day "
		if f.set.count() > 1 {
			noun = "days "
		}
		items = append(items, noun+e.list(runs(f.set.values(1)), strconv.Itoa)+" of the month")
	}
	for _, v := range f.work.values(1) {
		items = append(items, "the working day nearest to day "+strconv.Itoa(v)+" of the month")
	}
	if f.last {
		items = append(items, "the last day of the month")
	}
	if f.lastWork {
		items = append(items, "the last working day of the month")
	}
	return "on " + e.and(items)
}

func (e english) weekDays(f *field) string {
	name := func(v int) string { return time.Weekday(v % 7).String() }
	var items []string
	if !f.set.empty() {
		items = append(items, e.list(weekdays(f.set), name))
	}
	for k, ordinal := range [...]string{"first", "second", "third", "fourth", "fifth"} {
		for _, r := range weekdays(f.nth[k]) {
			for v := r.from; v <= r.to; v++ {
				items = append(items, "the "+ordinal+" "+name(v)+" of the month")
			}
		}
	}
	for _, r := range weekdays(f.lastDow) {
		for v := r.from; v <= r.to; v++ {
			items = append(items, "the last "+name(v)+" of the month")
		}
	}
	if f.set.empty() {
		return "on " + e.and(items)
	}
	return e.and(items)
}

// list joins runs: "1, 3 and 5 to 9".
func (e english) list(rs []run, name func(int) string) string {
	var items []string
	for _, r := range rs {
		switch {
		case r.from == r.to:
			items = append(items, name(r.from))
		case r.from+1 == r.to:
			items = append(items, name(r.from), name(r.to))
		default:
			items = append(items, name(r.from)+" to "+name(r.to))
		}
	}
	return e.and(items)
}

func (english) and(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}
