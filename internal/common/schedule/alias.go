package schedule

import (
	"strconv"
	"strings"
	"time"
)

// maxPeriod bounds @every; longer periods are mistakes.
const maxPeriod = 10 * 366 * 24 * time.Hour

// aliasLine returns the line that an alias stands for.
func aliasLine(word string) string {
	switch word {
	case "@yearly", "@annually":
		return "0 0 1 1 *"
	case "@monthly":
		return "0 0 1 * *"
	case "@weekly":
		return "0 0 * * 0"
	case "@daily", "@midnight":
		return "0 0 * * *"
	case "@hourly":
		return "0 * * * *"
	}
	return ""
}

// parseAlias parses a text that starts with @.
func parseAlias(tokens []token) (parsed, *Error) {
	word := tokens[0]
	fail := func(code string, at token, message, hint string) (parsed, *Error) {
		return parsed{}, &Error{Code: code, Field: FieldExpression, Offset: at.offset, Message: message, Hint: hint}
	}
	most := 1
	if word.text == "@every" || word.text == "@at" {
		most = 2
	}
	if line := aliasLine(word.text); line == "" && most == 1 {
		return fail(CodeAlias, word, quote(word.text)+" is not a known alias", aliasHint(word.text))
	}
	if len(tokens) > most {
		return fail(CodeTrailing, tokens[most], quote(tokens[most].text)+" does not belong behind "+word.text,
			"remove it")
	}
	switch word.text {
	case "@every":
		if len(tokens) < 2 {
			return fail(CodeEvery, word, "@every needs a duration", "such as @every 90s or @every 1h30m")
		}
		period, ok := parsePeriod(tokens[1].text)
		switch {
		case !ok:
			return fail(CodeEvery, tokens[1], quote(tokens[1].text)+" is not a duration",
				"write it like 90s, 15m, 1h30m or 2d")
		case period < time.Second:
			return fail(CodeEvery, tokens[1], quote(tokens[1].text)+" is shorter than one second",
				"the shortest period is 1s")
		case period > maxPeriod:
			return fail(CodeEvery, tokens[1], quote(tokens[1].text)+" is longer than ten years",
				"write a cron line with a year, or @at")
		}
		return parsed{kind: kindEvery, period: period}, nil
	case "@at":
		if len(tokens) < 2 {
			return fail(CodeAt, word, "@at needs a time", "such as @at 2026-12-01T09:00:00+08:00")
		}
		at, err := time.Parse(time.RFC3339, tokens[1].text)
		if err != nil {
			return fail(CodeAt, tokens[1], quote(tokens[1].text)+" is not a time with its offset",
				"write date, time and offset as in 2026-12-01T09:00:00+08:00, or Z for UTC")
		}
		if at = at.UTC(); at.Year() < minYear || at.Year() > maxYear {
			return fail(CodeAt, tokens[1], "the year of "+quote(tokens[1].text)+" is not between 1970 and 2099", "")
		}
		return parsed{kind: kindAt, at: at}, nil
	}
	fields, err := tokenize(aliasLine(word.text))
	if err != nil {
		return parsed{}, err
	}
	return parseFields(minute, fields, "")
}

func aliasHint(word string) string {
	lower := strings.ToLower(word)
	switch {
	case aliasLine(lower) != "" || lower == "@every" || lower == "@at":
		return "write it in small letters: " + lower
	case lower == "@reboot":
		return "a cluster has no boot; let systemd start what belongs to one machine's boot"
	}
	return "known are @yearly @annually @monthly @weekly @daily @midnight @hourly, @every 90s and @at " +
		"2026-12-01T09:00:00Z"
}

// parsePeriod parses a Go duration that may start with days: 2d, 1d12h.
func parsePeriod(s string) (time.Duration, bool) {
	var total time.Duration
	if days, rest, found := strings.Cut(s, "d"); found {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, false
		}
		total = time.Duration(n) * 24 * time.Hour
		if rest == "" {
			return total, true
		}
		s = rest
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, false
	}
	if total += d; total < 0 {
		return 0, false
	}
	return total, true
}
