// Package redirection recognizes shell commands that redirect all of their output, so that none of it is recorded.
//
// It promises to report a command only if neither stream keeps its destination, and to work in linear time on any text.
// It reads the forms that crontabs use; for pipes, background commands and here-documents it reports nothing. It
// changes nothing: it returns the end of the command that redirects, for a program that offers to remove it.
package redirection

import "strings"

// OfAll returns the end of a command that redirects all of its output, with the space before it: " >> /var/log/x 2>&1".
func OfAll(command string) (redirect string, found bool) {
	tokens, ok := scan(command)
	if !ok {
		return "", false
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == newline {
		tokens = tokens[:len(tokens)-1]
	}
	first := len(tokens)
	for first > 0 && tokens[first-1].kind == output {
		first--
	}
	var now streams
	for _, t := range tokens[first:] {
		now = now.after(t)
	}
	if !now.out || !now.err || !covers(tokens[:first]) {
		return "", false
	}
	return command[len(strings.TrimRight(command[:tokens[first].at], " \t")):], true
}

// streams reports which of the two streams no longer have the destination of the command.
type streams struct{ out, err bool }

func (s streams) after(t token) streams {
	gone := t.target != "/dev/stdout" && t.target != "/dev/stderr" && t.target != "/dev/tty" &&
		!strings.HasPrefix(t.target, "/dev/fd/") && !strings.HasPrefix(t.target, "/proc/self/fd/")
	switch {
	case t.both:
		return streams{gone, gone}
	case t.duplicate && t.target == "1" && t.from == "2":
		s.err = s.out
	case t.duplicate && t.target == "2" && t.from != "2":
		s.out = s.err
	case t.duplicate && t.target != "-":
		return streams{}
	case t.from == "2":
		s.err = gone
	case t.from == "" || t.from == "1":
		s.out = gone
	}
	return s
}

// silent are commands that print nothing when they succeed.
var silent = map[string]bool{
	"cd": true, "umask": true, "export": true, "set": true, "ulimit": true, "test": true, "[": true, "[[": true,
	".": true, "source": true, "sleep": true, "true": true, ":": true,
}

// covers reports whether redirections after a command apply to all that it prints: it is a single command, a group, or
// one after others that print nothing.
func covers(tokens []token) bool {
	depth, words, shown := 0, 0, false
	begins := true
	for _, t := range tokens {
		switch {
		case t.kind == opening:
			depth++
			words, shown, begins = words+1, true, false
		case t.kind == closing:
			depth--
		case depth > 0:
		case t.kind == concurrent:
			return false
		case t.kind == separator || t.kind == newline:
			if shown {
				return false
			}
			words, begins = 0, true
		case t.kind == word && begins && assigns(t.target):
			words++
		case t.kind == word:
			words++
			shown = shown || begins && !silent[t.target]
			begins = false
		}
	}
	return depth == 0 && words > 0
}

func assigns(text string) bool {
	name, _, found := strings.Cut(text, "=")
	return found && name != "" && !strings.ContainsAny(name, "/-.$\"'")
}
