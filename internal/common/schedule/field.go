package schedule

import (
	"strconv"
	"strings"
)

// Positions of the seven fields.
const (
	second = iota
	minute
	hour
	dom
	month
	dow
	year
	fieldCount
)

// fieldDef defines the values of one field.
type fieldDef struct {
	name     string
	min, max int
	names    []string // three-letter names; the first one means min
}

// size returns the number of values in the field.
func (d *fieldDef) size() int { return d.max - d.min + 1 }

// defs is read-only.
var defs = [fieldCount]fieldDef{
	second: {name: "second", min: 0, max: 59},
	minute: {name: "minute", min: 0, max: 59},
	hour:   {name: "hour", min: 0, max: 23},
	dom:    {name: "day-of-month", min: 1, max: 31},
	month: {name: "month", min: 1, max: 12, names: []string{
		"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}},
	dow: {name: "day-of-week", min: 0, max: 6, names: []string{
		"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}},
	year: {name: "year", min: minYear, max: maxYear},
}

// field is the parsed content of one field.
type field struct {
	star     bool   // * or ?: not restricted
	starStep bool   // has an item */n, which crons combine in two ways
	hashStep bool   // has an item H/n, which is a */n that begins elsewhere
	set      set    // values, counted from the field's smallest
	last     bool   // L: the last day of the month
	lastWork bool   // LW: the last weekday (Monday to Friday) of the month
	work     set    // nW: the weekday nearest to day n, counted from day 1
	lastDow  set    // nL: the last such weekday of the month
	nth      [5]set // n#k: the k-th such weekday of the month, k-1 as index
}

// bits returns the values of a field that holds only plain ones, counted from 0.
func (f *field) bits(d *fieldDef) uint64 {
	if f.star {
		return 1<<d.size() - 1
	}
	return f.set[0]
}

// full reports whether the plain values cover the field.
func (f *field) full(d *fieldDef) bool { return f.set.count() == d.size() }

// line is a parsed cron line; seconds and years are always present.
type line [fieldCount]field

// settle brings lines with the same meaning to the same form. It reports whether a field of the time, which then is
// written as values, was given as a period.
func (l *line) settle() (periodic bool) {
	for i := range l {
		f := &l[i]
		full := f.full(&defs[i])
		switch i {
		case dom, dow:
			// A full day field equals * only if the other one is *: beside a restricted field it matches every day,
			// because either matches.
			other := &l[dom+dow-i]
			switch {
			case f.star, full && other.star:
				*f = field{star: true}
			case full:
				*f = field{set: f.set}
			}
		default:
			if f.star || full {
				*f = field{star: true}
			}
			periodic = periodic || i <= hour && (f.star || f.starStep || f.hashStep)
		}
		f.starStep, f.hashStep = false, false
	}
	return periodic
}

// either reports whether both day fields are restricted, so that either may match.
func (l *line) either() bool { return !l[dom].star && !l[dow].star }

// String returns the canonical text: seven fields, plain decimals, sorted, three or more consecutive values as ranges.
func (l *line) String() string {
	var b strings.Builder
	b.Grow(64)
	for i := range l {
		if i > 0 {
			b.WriteByte(' ')
		}
		l[i].write(&b, &defs[i])
	}
	return b.String()
}

func (f *field) write(b *strings.Builder, d *fieldDef) {
	if f.star {
		b.WriteByte('*')
		return
	}
	sep := ""
	item := func(parts ...string) {
		b.WriteString(sep)
		for _, p := range parts {
			b.WriteString(p)
		}
		sep = ","
	}
	for _, r := range runs(f.set.values(d.min)) {
		switch {
		case r.from == r.to:
			item(strconv.Itoa(r.from))
		case r.from+1 == r.to:
			item(strconv.Itoa(r.from))
			item(strconv.Itoa(r.to))
		default:
			item(strconv.Itoa(r.from), "-", strconv.Itoa(r.to))
		}
	}
	for _, v := range f.work.values(1) {
		item(strconv.Itoa(v), "W")
	}
	if f.last {
		item("L")
	}
	if f.lastWork {
		item("LW")
	}
	for k := range f.nth {
		for _, v := range f.nth[k].values(0) {
			item(strconv.Itoa(v), "#", strconv.Itoa(k+1))
		}
	}
	for _, v := range f.lastDow.values(0) {
		item(strconv.Itoa(v), "L")
	}
}

// run is a sequence of consecutive values.
type run struct{ from, to int }

// runs splits sorted values into such sequences.
func runs(values []int) []run {
	var out []run
	for _, v := range values {
		if n := len(out); n > 0 && out[n-1].to+1 == v {
			out[n-1].to = v
		} else {
			out = append(out, run{v, v})
		}
	}
	return out
}
