package schedule

import (
	"strconv"
	"strings"
)

// token is a part of the user's text with its position.
type token struct {
	text   string
	offset int
}

// from returns the rest of the token from its i-th byte on.
func (t token) from(i int) token { return token{t.text[i:], t.offset + i} }

// fieldParser parses one field. Errors of its methods name the wrong character.
type fieldParser struct {
	def  *fieldDef
	pos  int    // index of the field
	seed string // the job's name, for H
	out  field
}

func (p *fieldParser) fail(code string, at token, message, hint string) *Error {
	return &Error{Code: code, Field: p.def.name, Offset: at.offset, Message: message, Hint: hint}
}

// parseField parses a comma-separated list of items.
func parseField(pos int, tok token, seed string) (field, *Error) {
	p := fieldParser{def: &defs[pos], pos: pos, seed: seed}
	rest := tok
	for {
		text, _, more := strings.Cut(rest.text, ",")
		item := token{text, rest.offset}
		if text == "" {
			return field{}, p.fail(CodeEmptyItem, item, "there is an empty item in the list "+quote(tok.text),
				"write values between the commas, such as 1,2,3")
		}
		if err := p.item(item); err != nil {
			return field{}, err
		}
		if !more {
			return p.out, nil
		}
		rest = rest.from(len(text) + 1)
	}
}

// item parses one item of a list.
func (p *fieldParser) item(it token) *Error {
	switch it.text[0] {
	case '*':
		return p.wildcard(it)
	case '?':
		if len(it.text) > 1 {
			return p.trailing(it.from(1), "? stands alone")
		}
		p.out.star = true
		return nil
	case 'H', 'h':
		return p.hashed(it)
	case 'L', 'l':
		return p.lastDay(it)
	}
	v, rest, err := p.value(it)
	if err != nil {
		return err
	}
	if rest.text == "" {
		p.out.set.add(v%p.modulus() - p.def.min)
		return nil
	}
	switch rest.text[0] {
	case '-':
		return p.span(it, v, rest.from(1))
	case '/':
		step, err := p.step(rest.from(1))
		if err != nil {
			return err
		}
		p.addSpan(v%p.modulus(), p.def.max, step)
		return nil
	case 'W', 'w':
		if p.pos == dom && len(rest.text) == 1 {
			p.out.work.add(v - 1)
			return nil
		}
	case 'L', 'l':
		if p.pos == dow && len(rest.text) == 1 {
			p.out.lastDow.add(v % 7)
			return nil
		}
	case '#':
		if p.pos == dow {
			return p.nthWeekday(v%7, rest)
		}
	}
	return p.trailing(rest, "")
}

// wildcard parses * and */n.
func (p *fieldParser) wildcard(it token) *Error {
	if len(it.text) == 1 {
		p.out.star = true
		return nil
	}
	if it.text[1] != '/' {
		return p.trailing(it.from(1), "after * only a step may follow, such as */5")
	}
	step, err := p.step(it.from(2))
	if err != nil {
		return err
	}
	p.out.starStep = true
	p.addSpan(p.def.min, p.def.max, step)
	return nil
}

// span parses the part after the dash of a range that starts with first.
func (p *fieldParser) span(it token, first int, rest token) *Error {
	last, rest, err := p.value(rest)
	if err != nil {
		return err
	}
	first, last, err = p.order(it, first, last)
	if err != nil {
		return err
	}
	step := 1
	if rest.text != "" {
		if rest.text[0] != '/' {
			return p.trailing(rest, "")
		}
		if step, err = p.step(rest.from(1)); err != nil {
			return err
		}
	}
	p.addSpan(first, last, step)
	return nil
}

// order checks the ends of a range. In a range of weekdays, Sunday at the end is day 7, so that FRI-SUN, 5-7 and 5-0
// are Friday to Sunday; at the start it is day 0.
func (p *fieldParser) order(it token, first, last int) (int, int, *Error) {
	if p.pos == dow {
		switch {
		case first == 7 && last%7 == 0:
			first, last = 0, 0
		case first == 7:
			first = 0
		case first > 0 && last == 0:
			last = 7
		}
	}
	if first <= last {
		return first, last, nil
	}
	hint := "write the smaller value first, or two ranges with a comma between them"
	if p.pos == dow {
		hint = "a week ends on Sunday here; write two ranges with a comma between them, such as FRI-SUN,MON"
	}
	return 0, 0, p.fail(CodeReversed, it, "the range "+quote(it.text)+" ends before it starts", hint)
}

// addSpan adds every step-th value; weekdays count modulo 7.
func (p *fieldParser) addSpan(first, last, step int) {
	for v := first; v <= last; v += step {
		p.out.set.add(v%p.modulus() - p.def.min)
	}
}

// modulus maps day 7 to Sunday, day 0; other fields keep their values.
func (p *fieldParser) modulus() int {
	if p.pos == dow {
		return 7
	}
	return p.def.max + 1
}

// lastDay parses L and LW of the day-of-month field.
func (p *fieldParser) lastDay(it token) *Error {
	switch {
	case p.pos == dow:
		return p.fail(CodeSyntax, it, "L alone does not name a weekday",
			"write the weekday before it, such as 5L for the last Friday of the month")
	case p.pos != dom:
		return p.fail(CodeSyntax, it, quote(it.text)+" is not a value of this field", p.valueHint())
	case len(it.text) == 1:
		p.out.last = true
		return nil
	case strings.EqualFold(it.text, "LW"):
		p.out.lastWork = true
		return nil
	default:
		return p.trailing(it.from(1), lastHint(it.text))
	}
}

// lastHint returns what to write for L with something after it: for L-3, the third day before the last, as in Quartz,
// the days that it means.
func lastHint(text string) string {
	const known = "only L (last day) and LW (last working day) are known"
	if text[1] != '-' {
		return known
	}
	days, nearest := strings.CutSuffix(strings.ToUpper(text[2:]), "W")
	n, err := strconv.Atoi(days)
	if err != nil || n < 1 || n > 27 {
		return known
	}
	day := func(last int) string {
		if nearest {
			return strconv.Itoa(last-n) + "W"
		}
		return strconv.Itoa(last - n)
	}
	return known + "; write several schedules, which have as this field and the next one " + day(31) +
		" 1,3,5,7,8,10,12, " + day(30) + " 4,6,9,11 and " + day(28) + " 2 (in leap years " + day(29) + " 2)"
}

// nthWeekday parses the #k of MON#1.
func (p *fieldParser) nthWeekday(day int, rest token) *Error {
	n, after := number(rest.from(1))
	if after.offset == rest.offset+1 || n < 1 || n > 5 {
		return p.fail(CodeFieldRange, rest, quote(rest.text)+" is not a week of the month",
			"write #1 to #5, such as MON#1")
	}
	if after.text != "" {
		return p.trailing(after, "")
	}
	p.out.nth[n-1].add(day)
	return nil
}

// value parses a number or a name and checks its range.
func (p *fieldParser) value(t token) (int, token, *Error) {
	if v, rest := number(t); rest.offset > t.offset {
		low, high := p.def.min, p.def.max
		if p.pos == dow {
			high = 7
		}
		if v < low || v > high {
			return 0, t, p.fail(CodeFieldRange, t,
				quote(t.text[:rest.offset-t.offset])+" is not between "+strconv.Itoa(low)+" and "+strconv.Itoa(high),
				p.valueHint())
		}
		return v, rest, nil
	}
	if len(t.text) >= 3 {
		for i, name := range p.def.names {
			if strings.EqualFold(t.text[:3], name) {
				return i + p.def.min, t.from(3), nil
			}
		}
	}
	if t.text == "" {
		return 0, t, p.fail(CodeSyntax, t, "a value is missing here", p.valueHint())
	}
	return 0, t, p.fail(CodeSyntax, t, quote(t.text)+" is not a value of this field", p.valueHint())
}

// step parses the number after a slash, up to the end of the item.
func (p *fieldParser) step(t token) (int, *Error) {
	n, rest := number(t)
	switch {
	case rest.offset == t.offset:
		return 0, p.fail(CodeStep, t, "the step after / must be a number", "such as */5")
	case rest.text != "":
		return 0, p.trailing(rest, "")
	case n == 0:
		return 0, p.fail(CodeStep, t, "a step of 0 never moves on", "the smallest step is 1")
	case n > p.def.size():
		hint := "the longest step here is " + strconv.Itoa(p.def.size())
		switch p.pos {
		case second:
			hint += "; for a longer period write @every, such as @every 90s"
		case minute:
			hint += "; for a longer period write @every, such as @every 90m"
		case hour:
			hint += "; for a longer period write @every, such as @every 36h"
		}
		return 0, p.fail(CodeStep, t, "the step "+quote(t.text)+" is longer than the field: steps start over in each "+
			p.turn(), hint)
	}
	return n, nil
}

// turn returns the name of the unit in which a field starts again.
func (p *fieldParser) turn() string {
	switch p.pos {
	case second:
		return "minute"
	case minute:
		return "hour"
	case hour:
		return "day"
	case dom:
		return "month"
	case month:
		return "year"
	case dow:
		return "week"
	default:
		return "line"
	}
}

func (p *fieldParser) trailing(rest token, hint string) *Error {
	if hint == "" {
		hint = p.valueHint()
	}
	return p.fail(CodeTrailing, rest, quote(rest.text)+" does not belong here", hint)
}

// valueHint describes the values of the field.
func (p *fieldParser) valueHint() string {
	switch p.pos {
	case dom:
		return "this field takes 1-31, L, LW, 15W, H, *, ?, lists, ranges and steps"
	case month:
		return "this field takes 1-12, JAN-DEC (three letters), H, *, ?, lists, ranges and steps"
	case dow:
		return "this field takes 0-7 (0 and 7 are Sunday), SUN-SAT (three letters), 5L, MON#1, H, *, ?, lists, " +
			"ranges and steps"
	case year:
		return "this field takes 1970-2099, *, ?, lists, ranges and steps"
	default:
		return "this field takes " + strconv.Itoa(p.def.min) + "-" + strconv.Itoa(p.def.max) +
			", H, *, ?, lists, ranges and steps"
	}
}

// number parses leading digits as a decimal, with any number of leading zeros; a number that is too large for any field
// stays too large. Without a digit it returns the token unchanged.
func number(t token) (int, token) {
	n, i := 0, 0
	for ; i < len(t.text) && '0' <= t.text[i] && t.text[i] <= '9'; i++ {
		n = min(n*10+int(t.text[i]-'0'), 1_000_000)
	}
	return n, t.from(i)
}
