package crontab

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// parser parses line by line; its settings apply to the next line.
type parser struct {
	Options
	env     settings
	above   comments
	marks   map[string]int // how many lines have a mark
	namer   Namer
	line    int
	crlf    bool
	result  Result
	stopped bool
}

// Parse parses a crontab.
func Parse(text string, o Options) Result {
	p := &parser{Options: o, marks: map[string]int{}}
	p.env.init(o)
	if len(text) > MaxBytes {
		p.report(Fault, "too_large", "is larger than %d KiB", MaxBytes>>10)
		return p.result
	}
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		p.line++
		p.read(strings.TrimSuffix(line, "\n"))
		if p.stopped {
			return p.result
		}
	}
	if p.File && text != "" && !strings.HasSuffix(text, "\n") {
		p.report(Note, "no_newline", "the file does not end with a newline: cron would ignore all of it, or "+
			"this line")
	}
	return p.result
}

func (p *parser) read(line string) {
	if trimmed, found := strings.CutSuffix(line, "\r"); found {
		line = trimmed
		if !p.crlf {
			p.report(Note, "carriage_returns", "lines end as on Windows; the carriage returns are dropped, "+
				"which cron "+
				"would make part of the commands")
			p.crlf = true
		}
	}
	line = strings.TrimLeft(line, " \t\f")
	switch {
	case line == "":
		p.above.reset()
		return
	case line[0] == '#':
		p.above.add(line)
		return
	}
	above := p.above
	p.above.reset()
	if strings.ContainsRune(line, 0) {
		p.report(Fault, "nul", "contains a NUL character")
		return
	}
	name, value, set := splitEnv(line)
	if !utf8.ValidString(line) {
		p.report(NotTaken, "utf8", "is not valid UTF-8; convert the file, for example with: iconv -f latin1 -t utf-8")
		if set {
			p.env.refuse(name, p.line)
		}
		return
	}
	if set {
		p.setting(name, value)
		return
	}
	p.entry(line, above)
}

// notice adds the notice of a field.
func (p *parser) notice(r refusal) {
	p.result.Notices = append(p.result.Notices, Notice{
		Line:  p.line,
		Level: r.level,
		Code:  r.code,
		Text:  r.text,
		Value: r.what,
	})
}

// report adds a notice about the line. The first text among the arguments is the part of the line that it is about.
func (p *parser) report(l Level, code, format string, args ...any) {
	n := Notice{Line: p.line, Level: l, Code: code, Text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if text, ok := a.(string); ok {
			n.Value = text
			break
		}
	}
	p.result.Notices = append(p.result.Notices, n)
}

// most is the maximum number of imported entries.
func (p *parser) most() int {
	if p.Most > 0 && p.Most < MaxEntries {
		return p.Most
	}
	return MaxEntries
}
