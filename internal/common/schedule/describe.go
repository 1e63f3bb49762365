package schedule

import (
	"fmt"
	"strings"
	"time"

	"carillon/internal/common"
)

// mostTimes is the number of clock times up to which a description lists them; beyond it, it describes the fields.
const mostTimes = 6

// Describe describes in words when a schedule fires. lang is "en" or "zh"; other values mean English. It returns no
// description for a text that Parse rejects.
func Describe(spec Spec, lang string) string {
	p, refused := parseText(spec.Expr, spec.Name)
	if refused != nil {
		return ""
	}
	var w wording = english{}
	if lang == "zh" {
		w = chinese{}
	}
	switch p.kind {
	case kindEvery:
		return w.period(p.period)
	case kindAt:
		at := p.at
		if z, refused := loadZone(spec.Zone); refused == nil {
			at = at.In(z.loc)
		}
		return w.once(at)
	}
	return w.line(shapeOf(&p.line))
}

// DescribeJob describes in words when a job's schedules fire, separated by semicolons; empty for a job without one.
func DescribeJob(j *common.Job, lang string) string {
	var all []string
	j.EachSchedule(func(_ string, _ int, s *common.JobSchedule) {
		if spec, err := SpecOf(j.Name, s); err == nil && spec.Expr != "" {
			all = append(all, Describe(spec, lang))
		}
	})
	between := "; "
	if lang == "zh" {
		between = "；"
	}
	return strings.Join(all, between)
}

// wording describes schedules in one language.
type wording interface {
	period(time.Duration) string
	once(time.Time) string
	line(shape) string
}

// shape is a line in the form that descriptions need.
type shape struct {
	times                []string // all clock times, if they are few
	second, minute, hour part
	day                  *field // day-of-month
	weekday              *field
	months               []run // empty: every month
	years                []run // empty: every year
}

// part is one of the three clock fields.
type part struct {
	all    bool // every value
	zero   bool // only 0
	step   int  // every step-th value, evenly; 0 if it is no such series
	values []int
}

func (p part) runs() []run { return runs(p.values) }

func shapeOf(l *line) shape {
	s := shape{
		second: partOf(&l[second], second), minute: partOf(&l[minute], minute), hour: partOf(&l[hour], hour),
		day: &l[dom], weekday: &l[dow],
	}
	if !l[month].star {
		s.months = runs(l[month].set.values(1))
	}
	if !l[year].star {
		s.years = runs(l[year].set.values(minYear))
	}
	if len(s.second.values)*len(s.minute.values)*len(s.hour.values) > mostTimes {
		return s
	}
	for _, h := range s.hour.values {
		for _, m := range s.minute.values {
			for _, sec := range s.second.values {
				if s.second.zero {
					s.times = append(s.times, fmt.Sprintf("%02d:%02d", h, m))
				} else {
					s.times = append(s.times, fmt.Sprintf("%02d:%02d:%02d", h, m, sec))
				}
			}
		}
	}
	return s
}

func partOf(f *field, pos int) part {
	d := &defs[pos]
	if f.star {
		all := set{1<<d.size() - 1}
		return part{all: true, values: all.values(0)}
	}
	p := part{values: f.set.values(0)}
	p.zero = len(p.values) == 1 && p.values[0] == 0
	if n := len(p.values); n > 1 && d.size()%n == 0 {
		p.step = d.size() / n
		for i, v := range p.values {
			if v != i*p.step {
				p.step = 0
				break
			}
		}
	}
	return p
}

// weekdays lists plain weekdays with Sunday as day 7, so that weekends are not split.
func weekdays(s set) []run {
	var values []int
	for _, v := range s.values(0) {
		if v > 0 {
			values = append(values, v)
		}
	}
	if s.has(0) {
		values = append(values, 7)
	}
	return runs(values)
}

// amounts splits a period into days, hours, minutes and remaining seconds.
func amounts(d time.Duration) (days, hours, minutes int, seconds float64) {
	days, d = int(d/(24*time.Hour)), d%(24*time.Hour)
	hours, d = int(d/time.Hour), d%time.Hour
	minutes, d = int(d/time.Minute), d%time.Minute
	return days, hours, minutes, d.Seconds()
}
