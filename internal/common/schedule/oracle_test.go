package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// civil is a wall-clock time.
type civil struct {
	year, month, day, hour, minute, second, weekday int
}

func civilOf(t time.Time) civil {
	y, m, d := t.Date()
	h, mi, s := t.Clock()
	return civil{y, int(m), d, h, mi, s, int(t.Weekday())}
}

// oracleField is a field as text and as a predicate, created together, so that the oracle shares no parser with the
// code under test.
type oracleField struct {
	text  string
	star  bool
	match func(civil) bool
}

// oracleLine is a cron line with its own predicate.
type oracleLine struct {
	text                                  string
	second, minute, hour, dom, month, dow oracleField
	year                                  oracleField
	allHours, periodic                    bool
}

func (l oracleLine) match(c civil) bool {
	if !l.second.match(c) || !l.minute.match(c) || !l.hour.match(c) || !l.month.match(c) || !l.year.match(c) {
		return false
	}
	if l.dom.star || l.dow.star {
		return l.dom.match(c) && l.dow.match(c)
	}
	return l.dom.match(c) || l.dow.match(c)
}

var (
	monthWords   = strings.Fields("x jan FEB Mar apr MAY Jun jul AUG Sep oct NOV Dec")
	weekdayWords = strings.Fields("SUN mon Tue WED thu Fri SAT")
)

// drawValues draws a plain field: values, ranges, steps and lists of them.
func drawValues(t *rapid.T, name string, low, high int, words []string, of func(civil) int) oracleField {
	in := make(map[int]bool)
	spell := func(v int) string {
		if words != nil && rapid.IntRange(0, 2).Draw(t, name+" spell") == 0 {
			return words[v]
		}
		if rapid.IntRange(0, 4).Draw(t, name+" zero") == 0 {
			return fmt.Sprintf("%03d", v)
		}
		return strconv.Itoa(v)
	}
	var items []string
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, name+" items") {
		first := rapid.IntRange(low, high).Draw(t, name+" first")
		last := rapid.IntRange(first, high).Draw(t, name+" last")
		step := rapid.IntRange(1, high-low+1).Draw(t, name+" step")
		switch rapid.IntRange(0, 3).Draw(t, name+" form") {
		case 0:
			items, last, step = append(items, spell(first)), first, 1
		case 1:
			items, step = append(items, spell(first)+"-"+spell(last)), 1
		case 2:
			items = append(items, fmt.Sprintf("%s-%s/%d", spell(first), spell(last), step))
		case 3:
			items, last = append(items, fmt.Sprintf("%s/%d", spell(first), step)), high
		}
		for v := first; v <= last; v += step {
			in[v] = true
		}
	}
	return oracleField{text: strings.Join(items, ","), match: func(c civil) bool { return in[of(c)] }}
}

func everything(text string) oracleField {
	return oracleField{text: text, star: true, match: func(civil) bool { return true }}
}

func drawField(t *rapid.T, name string, stars int, low, high int, words []string, of func(civil) int) oracleField {
	if rapid.IntRange(0, 9).Draw(t, name+" star") < stars {
		return everything(rapid.SampledFrom([]string{"*", "?"}).Draw(t, name+" sign"))
	}
	return drawValues(t, name, low, high, words, of)
}

// drawTime draws a field of the time: it may be a period, with or without further values.
func drawTime(t *rapid.T, name string, high int, of func(civil) int) oracleField {
	if rapid.IntRange(0, 3).Draw(t, name+" period") > 0 {
		return drawField(t, name, 2, 0, high, nil, of)
	}
	step := rapid.IntRange(1, high).Draw(t, name+" every")
	f := oracleField{text: "*/" + strconv.Itoa(step), star: true, match: func(c civil) bool { return of(c)%step == 0 }}
	if rapid.IntRange(0, 2).Draw(t, name+" more") == 0 {
		more, period := drawValues(t, name+" other", 0, high, nil, of), f.match
		f.text += "," + more.text
		f.match = func(c civil) bool { return period(c) || more.match(c) }
	}
	return f
}

// all reports whether the field matches each hour, minute or second.
func (f oracleField) all(size int, at func(int) civil) bool {
	for v := range size {
		if !f.match(at(v)) {
			return false
		}
	}
	return true
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func weekdayOf(year, month, day int) int {
	return int(time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Weekday())
}

func workday(year, month, day int) bool {
	w := weekdayOf(year, month, day)
	return w != 0 && w != 6
}

// drawDom adds the forms of the day-of-month field.
func drawDom(t *rapid.T) oracleField {
	switch rapid.IntRange(0, 9).Draw(t, "dom form") {
	case 0:
		return oracleField{text: "L", match: func(c civil) bool { return c.day == daysIn(c.year, c.month) }}
	case 1:
		return oracleField{text: "lw", match: func(c civil) bool {
			day := daysIn(c.year, c.month)
			for !workday(c.year, c.month, day) {
				day--
			}
			return c.day == day
		}}
	case 2:
		want := rapid.IntRange(1, 31).Draw(t, "dom W")
		return oracleField{text: strconv.Itoa(want) + "W", match: func(c civil) bool {
			length := daysIn(c.year, c.month)
			if want > length {
				return false
			}
			// The nearest working day of the same month: the earlier one for a Saturday, the later one for a Sunday.
			for distance := range 3 {
				for _, day := range []int{want - distance, want + distance} {
					if day >= 1 && day <= length && workday(c.year, c.month, day) {
						return c.day == day
					}
				}
			}
			return false
		}}
	}
	return drawField(t, "dom", 7, 1, 31, nil, func(c civil) int { return c.day })
}

// drawDow adds the forms of the day-of-week field.
func drawDow(t *rapid.T) oracleField {
	switch rapid.IntRange(0, 9).Draw(t, "dow form") {
	case 0:
		want := rapid.IntRange(0, 7).Draw(t, "dow L")
		return oracleField{text: strconv.Itoa(want) + "L", match: func(c civil) bool {
			return c.weekday == want%7 && c.day+7 > daysIn(c.year, c.month)
		}}
	case 1:
		want, k := rapid.IntRange(0, 6).Draw(t, "dow day"), rapid.IntRange(1, 5).Draw(t, "dow week")
		return oracleField{text: fmt.Sprintf("%s#%d", weekdayWords[want], k), match: func(c civil) bool {
			return c.weekday == want && (c.day-1)/7 == k-1
		}}
	case 2:
		first := rapid.IntRange(1, 6).Draw(t, "dow to sunday")
		return oracleField{
			text:  weekdayWords[first] + "-" + rapid.SampledFrom([]string{"7", "SUN", "0"}).Draw(t, "sunday"),
			match: func(c civil) bool { return c.weekday == 0 || c.weekday >= first },
		}
	}
	return drawField(t, "dow", 7, 0, 6, weekdayWords, func(c civil) int { return c.weekday })
}

// drawLine draws a line whose hours are often near changes of the clock. withSeconds makes a seven-field line.
func drawLine(t *rapid.T, withSeconds bool) oracleLine {
	l := oracleLine{
		second: oracleField{text: "0", match: func(c civil) bool { return c.second == 0 }},
		minute: drawTime(t, "minute", 59, func(c civil) int { return c.minute }),
		dom:    drawDom(t),
		month:  drawField(t, "month", 9, 1, 12, monthWords, func(c civil) int { return c.month }),
		dow:    drawDow(t),
		year:   everything("*"),
	}
	hourOf := func(c civil) int { return c.hour }
	switch rapid.IntRange(0, 3).Draw(t, "hours") {
	case 0:
		l.hour, l.allHours = everything("*"), true
	case 1:
		l.hour = drawValues(t, "night", 0, 3, nil, hourOf)
		if strings.Contains(l.hour.text, "/") { // there a step ends with the day
			l.hour = oracleField{text: "0-3", match: func(c civil) bool { return c.hour <= 3 }}
		}
	default:
		l.hour = drawTime(t, "hour", 23, hourOf)
		l.allHours = l.hour.all(24, func(v int) civil { return civil{hour: v} })
	}
	fields := []string{l.minute.text, l.hour.text, l.dom.text, l.month.text, l.dow.text}
	if withSeconds {
		l.second = drawTime(t, "second", 59, func(c civil) int { return c.second })
		fields = append(append([]string{l.second.text}, fields...), l.year.text)
	}
	l.text = strings.Join(fields, " ")
	l.periodic = l.hour.star || l.minute.star || l.minute.all(60, func(v int) civil { return civil{minute: v} }) ||
		l.second.star || l.second.all(60, func(v int) civil { return civil{second: v} })
	return l
}

// lines generates lines for rapid and, by number, for sweeps.
func lines(withSeconds bool) *rapid.Generator[oracleLine] {
	return rapid.Custom(func(t *rapid.T) oracleLine { return drawLine(t, withSeconds) })
}

// moment is one step of the brute-force clock.
type moment struct {
	unix, wall  int64
	civil       civil
	first, last bool // first and last time that the wall clock shows this
}

// timeline is every step between two instants in a zone. Of the zone it uses only the local time at an instant.
type timeline struct {
	step    int64
	moments []moment
	from    int // index of the first compared moment; earlier ones are a lead-in
	to      int // index after the last compared moment
}

// newTimeline steps through the zone for span on both sides of the centre, plus a lead on both sides, so that all
// repetitions of a local time are included.
func newTimeline(loc *time.Location, centre int64, span, lead time.Duration, step int64) timeline {
	tl := timeline{step: step}
	low, high := centre-int64(span/time.Second), centre+int64(span/time.Second)
	lead /= time.Second
	seen := make(map[int64]int)
	for u := (low - int64(lead)) / step * step; u < high+int64(lead); u += step {
		local := time.Unix(u, 0).In(loc)
		c := civilOf(local)
		wall := time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, 0, time.UTC).Unix()
		m := moment{unix: u, wall: wall, civil: c, first: true, last: true}
		if earlier, twice := seen[wall]; twice {
			m.first = false
			tl.moments[earlier].last = false
		}
		seen[wall] = len(tl.moments)
		switch {
		case u < low:
			tl.from = len(tl.moments) + 1
		case u < high:
			tl.to = len(tl.moments) + 1
		}
		tl.moments = append(tl.moments, m)
	}
	return tl
}

// fires returns the fires that the documented rules require.
func (tl timeline) fires(l oracleLine, r Rules) []int64 {
	var out []int64
	for i := tl.from; i < tl.to; i++ {
		m := tl.moments[i]
		fire := false
		if l.match(m.civil) {
			switch {
			case l.allHours, r.Overlap == OverlapBoth, r.Overlap == OverlapCron && l.periodic:
				fire = true
			case r.Overlap == OverlapSecond:
				fire = m.last
			default:
				fire = m.first
			}
		}
		missing := m.wall - tl.moments[i-1].wall - tl.step
		if missing > 0 && missing <= 3*3600 && !l.allHours && r.Gap == GapRun {
			for w := tl.moments[i-1].wall + tl.step; w < m.wall; w += tl.step {
				fire = fire || l.match(civilOf(time.Unix(w, 0).UTC()))
			}
		}
		if fire {
			out = append(out, m.unix)
		}
	}
	return out
}

// transitions returns the changes of the offset between two times, a day apart or more.
func transitions(loc *time.Location, from, to time.Time) []int64 {
	offset := func(u int64) int { _, o := time.Unix(u, 0).In(loc).Zone(); return o }
	var out []int64
	for u := from.Unix(); u < to.Unix(); u += 86400 {
		low, high := u, u+86400
		if offset(low) == offset(high) {
			continue
		}
		for high-low > 1 {
			if mid := (low + high) / 2; offset(mid) == offset(low) {
				low = mid
			} else {
				high = mid
			}
		}
		out = append(out, high)
	}
	return out
}
