package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// chinese puts the day first, and larger units before smaller ones: "周一至周五 02:30".
type chinese struct{}

func (chinese) period(d time.Duration) string {
	days, hours, minutes, seconds := amounts(d)
	var b strings.Builder
	for _, p := range []struct {
		n    float64
		unit string
	}{{float64(days), " 天"}, {float64(hours), " 小时"}, {float64(minutes), " 分钟"}, {seconds, " 秒"}} {
		if p.n != 0 {
			b.WriteString(" " + strconv.FormatFloat(p.n, 'f', -1, 64) + p.unit)
		}
	}
	return "每隔" + b.String() + "，从上一次触发算起"
}

func (chinese) once(t time.Time) string {
	return "仅一次，" + t.Format("2006-01-02 15:04:05 -07:00")
}

func (c chinese) line(s shape) string {
	date := c.date(s)
	if date == "" && len(s.times) > 0 {
		date = "每天"
	}
	if date == "" {
		return c.clock(s)
	}
	return date + " " + c.clock(s)
}

// date describes years, months and days.
func (c chinese) date(s shape) string {
	years := ""
	if s.years != nil {
		years = c.list(s.years, func(v int) string { return strconv.Itoa(v) + "年" })
	}
	months := ""
	if s.months != nil {
		months = c.list(s.months, func(v int) string { return strconv.Itoa(v) + "月" })
	}
	var either []string
	if !s.day.star {
		either = append(either, c.monthDays(s.day))
	}
	if !s.weekday.star {
		either = append(either, c.weekDays(s.weekday))
	}
	days := strings.Join(either, "，或")
	switch {
	case days == "" && months == "" && years == "":
		return ""
	case days == "":
		return years + months + "的每天"
	case months != "":
		return years + months + "的" + days
	case !s.day.star || !onlyPlain(s.weekday):
		if years != "" {
			years += "的"
		}
		return years + "每月" + days
	case years != "":
		return years + "的" + days
	default:
		return days
	}
}

// onlyPlain reports whether the weekdays occur every week.
func onlyPlain(f *field) bool { return f.lastDow.empty() && f.nth == [5]set{} }

func (c chinese) monthDays(f *field) string {
	var items []string
	if !f.set.empty() {
		items = append(items, c.list(runs(f.set.values(1)), func(v int) string { return strconv.Itoa(v) + "日" }))
	}
	for _, v := range f.work.values(1) {
		items = append(items, "离"+strconv.Itoa(v)+"日最近的工作日")
	}
	if f.last {
		items = append(items, "最后一天")
	}
	if f.lastWork {
		items = append(items, "最后一个工作日")
	}
	return strings.Join(items, "、")
}

func (c chinese) weekDays(f *field) string {
	name := func(v int) string {
		return [...]string{"周日", "周一", "周二", "周三", "周四", "周五", "周六"}[v%7]
	}
	var items []string
	if !f.set.empty() {
		items = append(items, c.list(weekdays(f.set), name))
	}
	for k, ordinal := range [...]string{"第一个", "第二个", "第三个", "第四个", "第五个"} {
		for _, r := range weekdays(f.nth[k]) {
			for v := r.from; v <= r.to; v++ {
				items = append(items, ordinal+name(v))
			}
		}
	}
	for _, r := range weekdays(f.lastDow) {
		for v := r.from; v <= r.to; v++ {
			items = append(items, "最后一个"+name(v))
		}
	}
	return strings.Join(items, "、")
}

// clock describes the time of day.
func (c chinese) clock(s shape) string {
	if len(s.times) > 0 {
		return strings.Join(s.times, "、")
	}
	if s.second.zero && s.minute.zero {
		switch {
		case s.hour.all:
			return "每小时整点"
		case s.hour.step > 0:
			return "每 " + strconv.Itoa(s.hour.step) + " 小时"
		case len(s.hour.runs()) == 1:
			r := s.hour.runs()[0]
			return fmt.Sprintf("%02d:00 至 %02d:00 每小时整点", r.from, r.to)
		}
	}
	var parts []string
	if !s.hour.all {
		if r := s.hour.runs(); len(r) == 1 {
			parts = append(parts, fmt.Sprintf("%02d:00 至 %02d:59 之间", r[0].from, r[0].to))
		} else {
			parts = append(parts, c.list(r, strconv.Itoa)+" 时")
		}
	}
	switch {
	case s.second.zero && s.hour.all && !s.minute.all && s.minute.step == 0:
		parts = append(parts, "每小时的第 "+c.list(s.minute.runs(), strconv.Itoa)+" 分")
	case s.second.zero:
		parts = append(parts, c.every(s.minute, "分钟", "分"))
	case !s.minute.all:
		parts = append(parts, "第 "+c.list(s.minute.runs(), strconv.Itoa)+" 分")
	}
	if !s.second.zero {
		parts = append(parts, c.every(s.second, "秒", "秒"))
	}
	return strings.Join(parts, "，")
}

// every describes the smallest field that varies.
func (c chinese) every(p part, pace, unit string) string {
	switch {
	case p.all:
		return "每" + pace
	case p.step > 0:
		return "每 " + strconv.Itoa(p.step) + " " + pace
	default:
		return "第 " + c.list(p.runs(), strconv.Itoa) + " " + unit
	}
}

// list joins runs: "1、3、5至9".
func (chinese) list(rs []run, name func(int) string) string {
	var items []string
	for _, r := range rs {
		switch {
		case r.from == r.to:
			items = append(items, name(r.from))
		case r.from+1 == r.to:
			items = append(items, name(r.from), name(r.to))
		default:
			items = append(items, name(r.from)+"至"+name(r.to))
		}
	}
	return strings.Join(items, "、")
}
