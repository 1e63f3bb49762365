package crontab

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"carillon/internal/common"
)

const (
	maxCommentLines = 5
	shortTitle      = 80
)

var (
	// The heading that crontab -e writes, ASCII drawings, and disabled lines.
	heading     = regexp.MustCompile(`(?i)^m(i?n(ute)?s?)?[ \t]+h(ou)?r?s?\b`)
	drawing     = regexp.MustCompile(`^[^\pL\pN]|[|*]|[-=_#]{4}|[. ]{6}`)
	switchedOff = regexp.MustCompile(`^([0-9*,/-]+[ \t]+){2}|^@[a-z]+[ \t]|^[A-Za-z_]+[ \t]*=`)
	// The marks of programs that write crontabs. Some of them name their line.
	generated = regexp.MustCompile(`(?i)^(begin|end) whenever\b|do not (edit|modify|change)|(generated|managed|installed) by\b`)
	named     = regexp.MustCompile(`^(Ansible|(Puppet|Chef) Name): *`)
)

// comments collects the comment directly above a line. It describes the line only if it reads like a short sentence.
type comments struct {
	lines []string
	unfit bool
}

func (c *comments) reset() { *c = comments{} }

func (c *comments) add(line string) {
	text := strings.Join(strings.FieldsFunc(strings.TrimLeft(line, "#"), unprintable), " ")
	text = named.ReplaceAllString(text, "")
	switch {
	case text == "":
		c.reset()
	case generated.MatchString(text):
	case len(c.lines) >= maxCommentLines || heading.MatchString(text) || drawing.MatchString(text) ||
		switchedOff.MatchString(text):
		c.unfit = true
	default:
		c.lines = append(c.lines, text)
	}
}

// split returns the comment as a job's title and description: its first line, and all of it if there are more. A short
// sentence on several lines is a title, a long one a description.
func (c *comments) split() (title, description string) {
	if c.unfit || len(c.lines) == 0 {
		return "", ""
	}
	title = c.lines[0]
	switch joined := strings.Join(c.lines, " "); {
	case len(c.lines) > 1 && c.continues() && utf8.RuneCountInString(joined) <= shortTitle:
		title = joined
	case len(c.lines) > 1 && c.continues() || utf8.RuneCountInString(title) > common.MaxTitle:
		return "", c.text()
	case len(c.lines) > 1:
		description = c.text()
	}
	return strings.TrimRight(title, ":. "), description
}

// continues reports whether the second line continues the sentence of the first.
func (c *comments) continues() bool {
	first, _ := utf8.DecodeRuneInString(c.lines[1])
	return unicode.IsLower(first) && !strings.HasSuffix(c.lines[0], ".") && !strings.HasSuffix(c.lines[0], ":")
}

func (c *comments) text() string {
	if c.unfit {
		return ""
	}
	return strings.Join(c.lines, "\n")
}
