package crontab

import (
	"fmt"
	"strconv"
	"strings"

	"carillon/internal/common"
)

// set holds the values that a field matches, one bit each.
type set uint64

// field is one of the five, with its bounds and names.
type field struct {
	name      string
	low, high int
	words     string // three letters each, the first stands for low
}

var fields = [5]field{
	{"minute", 0, 59, ""},
	{"hour", 0, 23, ""},
	{"day of month", 1, 31, ""},
	{"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
	{"day of week", 0, 7, "sunmontuewedthufrisat"},
}

func (f *field) all() set {
	if f.high == 7 {
		return 1<<7 - 1
	}
	return span(f.low, f.high, 1)
}

// parse reads a list of values, ranges and steps.
func (f *field) parse(text string) (set, error) {
	var bits set
	for item := range strings.SplitSeq(text, ",") {
		more, err := f.item(item)
		if err != nil {
			return 0, fmt.Errorf("%s %q: %w", f.name, common.Excerpt(text), err)
		}
		bits |= more
	}
	if f.high == 7 && bits&(1<<7) != 0 { // 7 is Sunday, as 0 is
		bits = bits&^(1<<7) | 1
	}
	return bits, nil
}

func (f *field) item(item string) (set, error) {
	values, stepText, stepped := strings.Cut(item, "/")
	from, to, ranged := strings.Cut(values, "-")
	low, high := f.low, f.high
	switch {
	case item == "":
		return 0, fmt.Errorf("an item of the list is empty")
	case values == "*":
		if f.high == 7 {
			high = 6
		}
	default:
		var err error
		if low, err = f.value(from); err != nil {
			return 0, err
		}
		high = low
		if ranged {
			if high, err = f.value(to); err != nil {
				return 0, err
			}
		} else if stepped {
			return 0, fmt.Errorf("a step needs a range, since crons read %q in different ways; write %s or %s-%d/%s",
				common.Excerpt(item), common.Excerpt(from), common.Excerpt(from), f.high, common.Excerpt(stepText))
		}
		if high < low {
			return 0, fmt.Errorf("the range ends before it begins")
		}
	}
	step := 1
	if stepped {
		var err error
		if step, err = number(stepText); err != nil || step == 0 {
			return 0, fmt.Errorf("a step is a number from 1")
		}
	}
	return span(low, high, step), nil
}

func (f *field) value(text string) (int, error) {
	if n, err := number(text); err == nil {
		if n < f.low || n > f.high {
			return 0, fmt.Errorf("%d is not from %d to %d", n, f.low, f.high)
		}
		return n, nil
	}
	if len(text) == 3 {
		if at := strings.Index(f.words, strings.ToLower(text)); at >= 0 && at%3 == 0 {
			return f.low + at/3, nil
		}
	}
	return 0, fmt.Errorf("%q is not a value of it", common.Excerpt(text))
}

// number reads plain digits; four are more than any field has.
func number(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || len(text) > 4 {
		return 0, fmt.Errorf("%q is not a number", common.Excerpt(text))
	}
	return int(n), nil
}

func span(low, high, step int) set {
	var bits set
	for v := low; v <= high; v += step {
		bits |= 1 << v
	}
	return bits
}

// random tells whether a field asks for a random value, as cronie's a~b does.
func random(text string) bool {
	return strings.Contains(text, "~") && strings.Trim(text, "0123456789~,-*/") == ""
}

// neverFires tells whether none of the months ever has one of the days.
func neverFires(days, months set) bool {
	longest := [13]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	for m := 1; m <= 12; m++ {
		if months&(1<<m) != 0 && days&span(1, longest[m], 1) != 0 {
			return false
		}
	}
	return true
}
