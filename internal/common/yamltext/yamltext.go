// Package yamltext writes JSON as YAML that people read, edit and compare: keys keep their order, texts of several
// lines become blocks, and every text that a parser might read as another type is in double quotes. It promises that
// the result parses to the same JSON.
package yamltext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Of returns JSON as YAML, without unwanted keys of the outermost object.
func Of(data []byte, unwanted ...string) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	w := &yamlWriter{unwanted: unwanted}
	if err := w.value(dec, 0, atStart); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return w.Bytes(), nil
}

// place is the position at which a value begins.
type place int

const (
	atStart  place = iota // of the document
	afterKey              // on the line of "key:"
	inList                // on the line of "-"
)

type yamlWriter struct {
	bytes.Buffer
	unwanted []string // keys of the outermost object
}

func (w *yamlWriter) value(dec *json.Decoder, depth int, at place) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	if open, nested := token.(json.Delim); nested {
		return w.nested(dec, open, depth, at)
	}
	if at != atStart {
		w.WriteByte(' ')
	}
	switch v := token.(type) {
	case string:
		w.text(v, depth)
	case json.Number:
		w.WriteString(v.String())
	case bool:
		w.WriteString(strconv.FormatBool(v))
	case nil:
		w.WriteString("null")
	}
	w.WriteByte('\n')
	return nil
}

// nested writes an object or a list. Its items have the indentation depth; those of a list that is the value of
// a key have the key's.
func (w *yamlWriter) nested(dec *json.Decoder, open json.Delim, depth int, at place) error {
	empty := !dec.More()
	if empty {
		if at != atStart {
			w.WriteByte(' ')
		}
		w.WriteString(map[json.Delim]string{'{': "{}\n", '[': "[]\n"}[open])
	}
	if at == afterKey && open == '[' {
		depth--
	}
	for first := true; dec.More(); first = false {
		switch {
		case first && at == inList:
			w.WriteByte(' ')
		case first && at == afterKey:
			w.WriteByte('\n')
			w.indent(depth)
		default:
			w.indent(depth)
		}
		if open == '[' {
			w.WriteByte('-')
			if err := w.value(dec, depth+1, inList); err != nil {
				return err
			}
			continue
		}
		key, err := dec.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return errors.New("key is not a string")
		}
		if at == atStart && slices.Contains(w.unwanted, name) {
			var skipped json.RawMessage
			if err := dec.Decode(&skipped); err != nil {
				return err
			}
			continue
		}
		w.WriteString(scalar(name))
		w.WriteByte(':')
		if err := w.value(dec, depth+1, afterKey); err != nil {
			return err
		}
	}
	_, err := dec.Token() // closing delimiter
	return err
}

func (w *yamlWriter) indent(depth int) { w.WriteString(strings.Repeat("  ", depth)) }

// text writes a text: several lines as a block, if that parses to the same text.
func (w *yamlWriter) text(s string, depth int) {
	if !blockable(s) {
		w.WriteString(scalar(s))
		return
	}
	lines := strings.Split(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
		w.WriteString("|")
	} else {
		w.WriteString("|-")
	}
	for _, line := range lines {
		w.WriteByte('\n')
		if line != "" {
			w.indent(max(depth, 1))
			w.WriteString(line)
		}
	}
}

// blockable reports whether a text can be written as a block: only visible line ends, no empty line at the
// start or end, and no indentation in the first line.
func blockable(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(s,
		"\n") || body == "" || strings.HasSuffix(body, "\n") || strings.ContainsAny(s[:1], " \t\n#") {
		return false
	}
	for line := range strings.SplitSeq(body, "\n") {
		if strings.TrimRight(line, " \t") != line || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "...") {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && r != '\t' && !visible(r) })
}

// spoken are the words that some parser reads as a boolean or null.
var spoken = regexp.MustCompile(`(?i)^(y|yes|n|no|true|false|on|off|null)$`)

// scalar writes a text on one line, without quotes if every parser reads it as this text.
func scalar(s string) string {
	first, _ := utf8.DecodeRuneInString(s)
	if !unicode.IsLetter(first) && first != '/' && first != '_' || spoken.MatchString(s) || strings.Contains(s,
		": ") || strings.Contains(s, " #") ||
		strings.HasSuffix(s,
			":") || strings.HasSuffix(s, " ") || strings.ContainsFunc(s, func(r rune) bool { return !visible(r) }) {
		return quoted(s)
	}
	return s
}

func quoted(s string) string {
	b := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case visible(r):
			b = append(b, string(r)...)
		case r <= 0xffff:
			b = fmt.Appendf(b, `\u%04X`, r)
		default:
			b = fmt.Appendf(b, `\U%08X`, r)
		}
	}
	return string(append(b, '"'))
}

// visible reports whether a character may appear in YAML unescaped.
func visible(r rune) bool { return r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r) }
