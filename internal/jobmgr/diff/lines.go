package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"

	"carillon/internal/common"
)

// Lines returns a definition as lines of YAML, in the order of its fields; none for no job.
func Lines(job *common.Job) ([]string, error) {
	if job == nil {
		return nil, nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(job); err != nil {
		return nil, fmt.Errorf("encode job %q: %w", job.Name, err)
	}
	p := &printer{in: json.NewDecoder(&text)}
	p.in.UseNumber()
	if err := p.value("", ""); err != nil && err != io.EOF {
		return nil, fmt.Errorf("print job %q: %w", job.Name, err)
	}
	return p.lines, nil
}

// printer writes JSON as YAML, token by token.
type printer struct {
	in    *json.Decoder
	lines []string
}

func (p *printer) add(line string) { p.lines = append(p.lines, line) }

// value writes the next value; its first line begins with head.
func (p *printer) value(indent, head string) error {
	token, err := p.in.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		return p.members(indent, head, token == '{')
	case string:
		p.text(indent, head, token)
	case nil:
		p.add(head + "null")
	default:
		p.add(head + fmt.Sprint(token))
	}
	return nil
}

func (p *printer) members(indent, head string, object bool) error {
	switch {
	case !p.in.More() && object:
		p.add(head + "{}")
	case !p.in.More():
		p.add(head + "[]")
	case head != "":
		p.add(strings.TrimSuffix(head, " "))
	}
	for p.in.More() {
		own, under := indent+"- ", indent+"  "
		if object {
			name, err := p.in.Token()
			if err != nil {
				return err
			}
			own = indent + scalar(fmt.Sprint(name)) + ": "
		}
		if err := p.value(under, own); err != nil {
			return err
		}
	}
	_, err := p.in.Token()
	return err
}

// text writes a text of several lines as a block, if that preserves every byte of it.
func (p *printer) text(indent, head, text string) {
	body, ended := strings.CutSuffix(text, "\n")
	odd := func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") || strings.ContainsAny(body[:1], " \t\n") ||
		strings.ContainsFunc(text, odd) {
		p.add(head + scalar(text))
		return
	}
	mark := "|-"
	if ended {
		mark = "|"
	}
	p.add(head + mark)
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			line = indent + line
		}
		p.add(line)
	}
}

var (
	plain    = regexp.MustCompile(`^[A-Za-z/_][A-Za-z0-9/_. -]*[A-Za-z0-9/_]$|^[A-Za-z_/]$`)
	reserved = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)
)

// scalar writes a text in one line: unquoted if YAML reads it as the same text.
func scalar(text string) string {
	if plain.MatchString(text) && !reserved.MatchString(text) {
		return text
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a text can always be encoded
	return strings.TrimSuffix(out.String(), "\n")
}
