package crontab

import (
	"path"
	"regexp"
	"strings"
)

// program is a program that a command runs, with its arguments.
type program struct {
	name string
	args []string
	code bool // an interpreter, with its code as an argument
}

// maxInside is how many command lines inside command lines are read: bash -c "su -c '…'".
const maxInside = 4

// found matches a program that is searched for where it is run: $(which php).
var found = regexp.MustCompile("^(?:\\$\\(|`)\\s*(?:which|command -v|type -[pP])\\s+(\\S+?)\\s*[)`]$")

// workOf guesses which program of a shell's command line does its work: the first one that does more than test,
// announce, move or set something, without the programs that only run it, such as nice or flock. It is used for names
// only.
func workOf(command string, inside int) (work program) {
	best := 3
	for _, words := range commandsOf(command) {
		p := inner(words, inside)
		if rank := p.rank(); p.name != "" && rank < best {
			work, best = p, rank
		}
	}
	return work
}

// rank is 0 for a program that does work of its own, 1 for one that probably accompanies it, and 2 for one that
// prepares it.
func (p *program) rank() int {
	switch p.name {
	case "[", "[[", "test", "cd", "true", "false", ":", "sleep", "command", "umask", ".", "source", "export", "set",
		"ulimit", "trap", "which", "type", "hash", "exit", "return", "break", "continue", "read", "pushd", "popd",
		"local", "declare", "readonly", "unset", "shopt", "wait", "let", "eval", "shift":
		return 2
	case "echo", "printf", "date", "logger":
		return 1
	}
	if w := wrapperOf(p.name); w != nil && !w.script && w.sub == nil && !p.code {
		return 2 // without a program: exec > log, flock 9, ionice -p $$
	}
	if p.code {
		return 1
	}
	return 0
}

// inner returns the program of a simple command, inside the programs that only run it.
func inner(words []string, inside int) program {
	for len(words) > 0 {
		word := words[0]
		switch word {
		case "for", "case", "select", "function":
			return program{}
		case "", "!", "{", "}", "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "esac":
			words = words[1:]
			continue
		}
		if assigns(word) {
			words = words[1:]
			continue
		}
		if m := found.FindStringSubmatch(word); m != nil {
			word = m[1]
		}
		p := program{name: path.Base(word), args: words[1:]}
		w := wrapperOf(p.name)
		if w == nil || p.name == "command" && len(p.args) > 0 && strings.EqualFold(p.args[0], "-v") {
			return p
		}
		rest, code, ok := w.inside(p.args)
		switch {
		case !ok:
			return p
		case code != "" && !w.script && inside > 0:
			if in := workOf(code, inside-1); in.name != "" {
				return in
			}
			p.code = true
			return p
		case code != "":
			p.code = true
			return p
		case len(rest) == 0:
			return p
		}
		words = rest
	}
	return program{}
}
