package schedule

import (
	"strconv"
	"strings"
	"time"
)

// kind is the kind of a schedule's text.
type kind uint8

const (
	kindCron    kind = iota // a cron line
	kindEvery               // @every: a period in real time
	kindAt                  // @at: once
	kindSeveral             // several schedules of one job
)

// parsed is a text that was parsed here, before the engine.
type parsed struct {
	kind   kind
	line   line          // kindCron
	period time.Duration // kindEvery
	at     time.Time     // kindAt, in UTC

	periodic bool // kindCron: second, minute or hour begins with *
}

// canonical returns the one text of all texts with the same meaning.
func (p *parsed) canonical() string {
	switch p.kind {
	case kindEvery:
		return "@every " + p.period.String()
	case kindAt:
		return "@at " + p.at.Format(time.RFC3339Nano)
	default:
		return p.line.String()
	}
}

// parseText parses a user's text. name is the job's, for H.
func parseText(text, name string) (parsed, *Error) {
	tokens, err := tokenize(text)
	if err != nil {
		return parsed{}, err
	}
	switch first := tokens[0].text; {
	case first[0] == '@':
		return parseAlias(tokens)
	case strings.HasPrefix(first, "TZ=") || strings.HasPrefix(first, "CRON_TZ="):
		return parsed{}, &Error{Code: CodeZonePrefix, Field: FieldExpression, Offset: tokens[0].offset,
			Message: quote(first) + " does not belong into the line", Hint: "put the zone into the job's timezone"}
	}
	switch len(tokens) {
	case 5:
		return parseFields(minute, tokens, name)
	case 6:
		if namesYears(tokens[5].text) {
			return parseFields(minute, tokens, name)
		}
		return parsed{}, sixFields(tokens, name)
	case 7:
		return parseFields(second, tokens, name)
	}
	where := tokens[len(tokens)-1]
	if len(tokens) > 7 {
		where = tokens[7]
	}
	return parsed{}, &Error{Code: CodeFieldCount, Field: FieldExpression, Offset: where.offset,
		Message: "the line has " + plural(len(tokens), "field"),
		Hint: "write 5 fields (minute hour day-of-month month day-of-week), 7 (second first, year last), or an " +
			"alias such as @daily"}
}

// tokenize checks the characters and splits the text at blanks.
func tokenize(text string) ([]token, *Error) {
	fail := func(code string, offset int, message, hint string) ([]token, *Error) {
		return nil, &Error{Code: code, Field: FieldExpression, Offset: offset, Message: message, Hint: hint}
	}
	if len(text) > maxTextLen {
		return fail(CodeTooLong, maxTextLen, "the text has "+strconv.Itoa(len(text))+" bytes",
			"at most "+strconv.Itoa(maxTextLen)+" are read; use ranges and steps instead of long lists")
	}
	var tokens []token
	start := -1
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n' || c == '\r':
			return fail(CodeCharacters, i, "there is a line break in the text",
				"a job has one line; make a job of each line")
		case c == ' ' || c == '\t':
			if start >= 0 {
				tokens = append(tokens, token{text[start:i], start})
				start = -1
			}
		case c < ' ' || c > '~':
			return fail(CodeCharacters, i, "there is a character that is not printable ASCII: "+
				quote(firstRune(text[i:])),
				"cron lines are plain ASCII; look for a character that was pasted along")
		case start < 0:
			start = i
		}
	}
	if start >= 0 {
		tokens = append(tokens, token{text[start:], start})
	}
	if len(tokens) == 0 {
		return fail(CodeEmpty, 0, "the text is empty", "write a line such as 30 2 * * MON-FRI")
	}
	return tokens, nil
}

// firstRune returns the first character, or the first byte if there is none.
func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

// parseFields parses the tokens as fields from position first on.
func parseFields(first int, tokens []token, name string) (parsed, *Error) {
	p := parsed{kind: kindCron}
	p.line[second].set.add(0)
	p.line[year].star = true
	for i, tok := range tokens {
		f, err := parseField(first+i, tok, name)
		if err != nil {
			return parsed{}, err
		}
		p.line[first+i] = f
	}
	if err := refuseDayStep(&p.line, tokens[dom-first], tokens[dow-first]); err != nil {
		return parsed{}, err
	}
	p.periodic = p.line.settle()
	return p, nil
}

// refuseDayStep rejects */n in one day field beside a restricted other: for some crons such a field still counts as a
// star, so that both must match, for others either is enough.
func refuseDayStep(l *line, domTok, dowTok token) *Error {
	if !l.either() || !l[dom].starStep && !l[dow].starStep {
		return nil
	}
	pos, tok := dom, domTok
	if !l[dom].starStep {
		pos, tok = dow, dowTok
	}
	lowest, highest := defs[pos].min, defs[pos].max
	return &Error{Code: CodeDayStep, Field: defs[pos].name, Offset: tok.offset,
		Message: quote(tok.text) + " beside a restricted " + defs[dom+dow-pos].name +
			" is read in two ways: some crons want both to match, others either",
		Hint: "for either, write the step with a range, such as " + strconv.Itoa(lowest) + "-" + strconv.Itoa(highest) +
			"/2; for both, let the command check one of them"}
}

// namesYears reports whether a sixth field can only be years: it starts with four digits.
func namesYears(s string) bool {
	digits := 0
	for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	return digits == 4 && s[0] != '0'
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
