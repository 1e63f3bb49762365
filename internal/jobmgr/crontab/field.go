package crontab

import (
	"errors"
	"fmt"
	"slices"
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
	words     string // three letters each; the first one means low
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

// size returns the number of values of the field.
func (f *field) size() int {
	if f.high == 7 {
		return 7
	}
	return f.high - f.low + 1
}

// reading is the parsed content of a field, or of an item of its list.
type reading struct {
	set   set
	text  string // in the form of a job's cronExpr; empty if no value matches
	notes []refusal
}

// refusal is why a field is rejected, or a notice about one that is accepted.
type refusal struct {
	level            Level
	code, text, what string // what is the part of the field that it is about
}

func (r refusal) Error() string { return r.text }

// read parses a list of values, ranges and steps. The error is a refusal.
func (f *field) read(text string) (reading, error) {
	var whole reading
	var texts []string
	for item := range strings.SplitSeq(text, ",") {
		it, err := f.item(item)
		if err != nil {
			return reading{}, f.refuse(text, err)
		}
		whole.set |= it.set
		for _, n := range it.notes { // one of each kind is enough
			if !slices.ContainsFunc(whole.notes, func(m refusal) bool { return m.code == n.code }) {
				whole.notes = append(whole.notes, n)
			}
		}
		if it.text != "" {
			texts = append(texts, it.text)
		}
	}
	if whole.set == 0 {
		return reading{}, f.refuse(text, whole.notes[0])
	}
	if f.high == 7 && whole.set&(1<<7) != 0 { // 7 is Sunday, as 0 is
		whole.set = whole.set&^(1<<7) | 1
	}
	whole.text = strings.Join(texts, ",")
	return whole, nil
}

// refuse adds the name of the field to an error.
func (f *field) refuse(text string, err error) error {
	r := refusal{level: Fault, code: "field", text: err.Error(), what: common.Excerpt(text)}
	if own, ok := errors.AsType[refusal](err); ok {
		r.code, r.level = own.code, NotTaken
	}
	r.text = fmt.Sprintf("%s %q: %s", f.name, r.what, r.text)
	return r
}

// item parses one item of a list, character by character as cron does.
func (f *field) item(item string) (reading, error) {
	if item == "" {
		return reading{}, errors.New("an item of the list is empty")
	}
	first, rest := alphanumeric(item)
	low, high := f.low, f.high
	if item[0] == '*' {
		rest = item[1:]
		if f.high == 7 {
			high = 6
		}
		return f.stepped(item, low, high, rest)
	}
	if strings.HasPrefix(rest, "~") {
		return f.random(item, first, rest[1:])
	}
	var err error
	if low, err = f.value(first, item); err != nil {
		return reading{}, err
	}
	switch {
	case rest == "":
		return reading{set: 1 << low, text: short(item)}, nil
	case rest[0] == '/':
		return reading{},
			fmt.Errorf("a step needs a range, since crons read %q in different ways; write %s or %s-%d/%s",
				common.Shorten(item), common.Excerpt(first), common.Excerpt(first), f.high, common.Excerpt(rest[1:]))
	case rest[0] != '-':
		return reading{}, f.ignored(item, rest)
	}
	second, rest := alphanumeric(rest[1:])
	if high, err = f.value(second, second); err != nil {
		return reading{}, err
	}
	if high < low && high == 0 && rest == "" && f.high == 7 {
		note := refusal{Note, "sunday_last", ("ends on Sunday, as under cronie; under Debian's cron it matches " +
			"nothing"), common.Excerpt(item)}
		return reading{set: span(low, 7, 1), text: item, notes: []refusal{note}}, nil
	}
	if high < low {
		return f.reversed(item, rest)
	}
	return f.stepped(item, low, high, rest)
}

// stepped parses the part after a star or a range: nothing, or a step.
func (f *field) stepped(item string, low, high int, rest string) (reading, error) {
	if rest == "" {
		return reading{set: span(low, high, 1), text: short(item)}, nil
	}
	step, err := f.step(item, rest)
	if err != nil {
		return reading{}, err
	}
	r := reading{set: span(low, high, step), text: short(item)}
	if step > f.size() {
		r.text = strconv.Itoa(low)
		r.notes = []refusal{{Note, "long_step", fmt.Sprintf("matches only %d, as under cron: the step is "+
			"longer than the field", low), common.Excerpt(item)}}
	}
	return r, nil
}

// step parses a slash and a number, to the end of the item.
func (f *field) step(item, rest string) (int, error) {
	if rest[0] != '/' {
		return 0, f.ignored(item, rest)
	}
	digits, rest := alphanumeric(rest[1:])
	step, err := number(digits)
	if err != nil || step == 0 {
		return 0, errors.New("a step is a number from 1")
	}
	if rest != "" {
		return 0, f.ignored(item, rest)
	}
	return step, nil
}

// reversed is a range that ends before it begins: cron accepts it, and it matches nothing.
func (f *field) reversed(item, rest string) (reading, error) {
	if rest != "" {
		if _, err := f.step(item, rest); err != nil {
			return reading{}, err
		}
	}
	from, end, _ := strings.Cut(item, "-")
	to, _ := alphanumeric(end)
	first, last := strconv.Itoa(f.low), strconv.Itoa(f.high)
	if f.high == 7 {
		last = "6"
	}
	if f.words != "" && len(from) == 3 {
		first, last = f.words[:3], f.words[len(f.words)-3:]
	}
	wanted := dashed(from, last) + "," + dashed(first, to)
	return reading{notes: []refusal{{Note, "reversed",
		fmt.Sprintf("is reversed: Debian's cron and cronie accept it, but it matches nothing; write %s to wrap "+
			"around", wanted),
		common.Excerpt(item)}}}, nil
}

func dashed(from, to string) string {
	if from == to {
		return from
	}
	return from + "-" + to
}

// random parses a~b: cronie picks a value between the two when it reads the file. H does the same, by the job's name.
func (f *field) random(item, first, rest string) (reading, error) {
	second, rest := alphanumeric(rest)
	low, high := f.low, f.high
	var err error
	if first != "" {
		if low, err = f.value(first, first); err != nil {
			return reading{}, err
		}
	}
	if second != "" {
		if high, err = f.value(second, second); err != nil || high < low {
			return reading{}, f.ignored(item, item[len(first):])
		}
	} else if f.high == 7 && low < 7 {
		high = 6
	}
	text := fmt.Sprintf("H(%d-%d)", low, high)
	if rest != "" {
		step, err := f.step(item, rest)
		if err != nil {
			return reading{}, err
		}
		if step <= f.size() {
			text += "/" + strconv.Itoa(step)
		}
	}
	if low == f.low && span(low, high, 1) == f.all() && f.name != "day of month" && rest == "" {
		text = "H"
	}
	note := refusal{Note, "random", fmt.Sprintf("becomes %s, a fixed value derived from the job's name; cronie "+
		"picks one when it reads the file, Debian's cron takes the first", text), common.Excerpt(item)}
	return reading{set: span(low, high, 1), text: text, notes: []refusal{note}}, nil
}

// ignored is an item of which one cron reads only the beginning, and others nothing.
func (f *field) ignored(item, rest string) error {
	text := common.Excerpt(strings.TrimSuffix(item, rest))
	return refusal{NotTaken, "ignored",
		fmt.Sprintf("Debian's cron reads %s and ignores %q after it, other crons reject the line; write what "+
			"you mean", text, common.Shorten(rest)), text}
}

func (f *field) value(text, item string) (int, error) {
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
	return 0, fmt.Errorf("%q is not a value of it", common.Shorten(item))
}

// number parses plain digits; four, apart from leading zeros, are more than any field has.
func number(text string) (int, error) {
	digits := strings.TrimLeft(text, "0")
	if digits == "" && text != "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || len(digits) > 4 {
		return 0, fmt.Errorf("%q is not a number", common.Shorten(text))
	}
	return int(n), nil
}

// short removes leading zeros that would make an expression too long.
func short(item string) string {
	if len(item) < 16 {
		return item
	}
	var b strings.Builder
	for item != "" {
		word, rest := alphanumeric(item)
		if digits := strings.TrimLeft(word, "0"); digits != "" || word == "" {
			word = digits
		} else {
			word = "0"
		}
		b.WriteString(word)
		if rest != "" {
			b.WriteByte(rest[0])
			rest = rest[1:]
		}
		item = rest
	}
	return b.String()
}

// alphanumeric removes the letters and digits from the beginning of a text.
func alphanumeric(s string) (word, rest string) {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

func span(low, high, step int) set {
	var bits set
	for v := low; v <= high; v += step {
		bits |= 1 << v
	}
	return bits
}

// neverFires reports whether none of the months ever has one of the days.
func neverFires(days, months set) bool {
	longest := [13]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	for m := 1; m <= 12; m++ {
		if months&(1<<m) != 0 && days&span(1, longest[m], 1) != 0 {
			return false
		}
	}
	return true
}
