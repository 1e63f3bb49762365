package crontab

import (
	"regexp"
	"strings"
)

const maxCommentLines = 5

var (
	// The heading that crontab -e writes, ASCII drawings, and disabled lines.
	heading     = regexp.MustCompile(`(?i)^m(in(ute)?)?[ \t]+h(ou)?r?\b`)
	drawing     = regexp.MustCompile(`^[^\pL\pN]|[|*]|[-=_#]{4}|[. ]{6}`)
	switchedOff = regexp.MustCompile(`^([0-9*,/-]+[ \t]+){2}|^@[a-z]+[ \t]|^[A-Za-z_]+[ \t]*=`)
)

// comments collects the comment directly above a line. It describes the line only if it reads like a short sentence.
type comments struct {
	lines []string
	unfit bool
}

func (c *comments) reset() { *c = comments{} }

func (c *comments) add(line string) {
	text := strings.Join(strings.FieldsFunc(strings.TrimLeft(line, "#"), unprintable), " ")
	switch {
	case text == "":
		c.reset()
	case len(c.lines) >= maxCommentLines || heading.MatchString(text) || drawing.MatchString(text) ||
		switchedOff.MatchString(text):
		c.unfit = true
	default:
		c.lines = append(c.lines, text)
	}
}

func (c *comments) text() string {
	if c.unfit {
		return ""
	}
	return strings.Join(c.lines, "\n")
}
