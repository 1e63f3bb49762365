package crontab

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// Lengths of the parts of a name; with eight hexadecimal digits, a number and the dashes they are below the limit of
// names.
const (
	maxPrefix  = 48
	maxProgram = 40
)

var substitution = regexp.MustCompile(`\$\([^()]*\)`)

// PrefixOf returns the prefix of the names from a file's path.
func PrefixOf(file string) string { return prefixOf(path.Base(file)) }

// prefixOf returns the prefix, which is a label's value as well, of a text.
func prefixOf(text string) string { return cmp.Or(slug(text, maxPrefix), Group) }

// name consists of the file's prefix, the program and a hash of the line, so that it depends neither on the position of
// the line nor on other lines. The second of two identical lines gets a number.
func (p *parser) name(expr, user, raw, command string) string {
	prefix, program := prefixOf(p.Prefix), cmp.Or(slug(program(command), maxProgram), "command")
	sum := sha256.Sum256([]byte(expr + "\x00" + user + "\x00" + raw))
	name := fmt.Sprintf("%s-%s-%s", prefix, program, hex.EncodeToString(sum[:4]))
	p.names[name]++
	if n := p.names[name]; n > 1 {
		p.report(Note, "same_line", "says the same as a line above; both are taken")
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return name
}

// slug makes a text valid for names: lower case letters, digits and single dashes.
func slug(text string, limit int) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r)
			dash = false
		} else {
			dash = true
		}
		if b.Len() >= limit {
			break
		}
	}
	return b.String()
}

// program guesses which program a shell command is about: the first one that does more than test, move or set
// something. It is used for names only.
func program(command string) string {
	command = substitution.ReplaceAllString(command, "x")
	first := ""
	for _, part := range strings.FieldsFunc(command, func(r rune) bool {
		return strings.ContainsRune("&|;\n(){}", r)
	}) {
		name := firstProgram(part)
		if name == "" {
			continue
		}
		if first == "" {
			first = name
		}
		if !preparing(name) {
			return name
		}
	}
	return first
}

func firstProgram(part string) string {
	for w := range strings.FieldsSeq(part) {
		w = strings.Trim(w, `"'`+"`")
		if name, _, found := strings.Cut(w, "="); found && variable.MatchString(name) {
			continue
		}
		switch w {
		case "", "!", "if", "then", "else", "elif", "fi", "while", "do", "done", "for", "exec", "env", "nice", "ionice",
			"nohup", "sudo", "time":
			continue
		}
		if strings.HasPrefix(w, "-") { // an option of nice or a similar program
			continue
		}
		return path.Base(w)
	}
	return ""
}

func preparing(program string) bool {
	switch program {
	case "[", "[[", "test", "cd", "true", "false", ":", "sleep", "command", "umask", ".", "source", "export", "set",
		"ulimit", "trap":
		return true
	}
	return false
}

func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar
}
