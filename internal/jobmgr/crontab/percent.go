package crontab

import (
	"regexp"
	"strings"
)

// splitPercent separates a command from its standard input. The first unescaped percent sign begins the input, further
// ones are line ends in it, and cron ends the last line. An escaped percent sign is a percent sign; every other
// backslash is kept.
func splitPercent(raw string) (command, stdin string) {
	var b strings.Builder
	escaped := false
	for i := range len(raw) {
		c := raw[i]
		switch {
		case escaped:
			if c != '%' {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '%':
			return strings.TrimRight(b.String(), " \t"), input(raw[i+1:])
		default:
			b.WriteByte(c)
		}
	}
	if escaped {
		b.WriteByte('\\')
	}
	return b.String(), ""
}

// input parses the text after the first percent sign. A backslash after another one may still escape a percent sign, as
// in cron.
func input(raw string) string {
	var b strings.Builder
	escaped := false
	for i := range len(raw) {
		c := raw[i]
		switch {
		case escaped && c != '%':
			b.WriteByte('\\')
		case !escaped && c == '%':
			c = '\n'
		}
		escaped = c == '\\'
		if !escaped {
			b.WriteByte(c)
		}
	}
	if escaped {
		b.WriteByte('\\')
	}
	text := b.String()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// A date format, of which the percent sign is missing.
var dateFormat = regexp.MustCompile(`date\s[^;|&]*\+[A-Za-z:_.-]*$`)

// cutByPercent reports whether the first percent sign of a line was probably not meant to end its command: it is in a
// substitution, in quotes, or in the format of a date. It is used for a hint only.
func cutByPercent(command string) bool {
	masked := quoted.ReplaceAllString(command, "")
	return strings.ContainsAny(masked, "'\"") || strings.Count(masked, "`")%2 == 1 ||
		strings.Count(masked, "(") > strings.Count(masked, ")") || dateFormat.MatchString(masked)
}
