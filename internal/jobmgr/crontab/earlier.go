package crontab

import (
	"path"
	"regexp"
	"strings"
)

// earlier is the job that versions before LineLabel made of a line: its name ended with the mark, and its title was the
// line.
type earlier struct{ name, title, description string }

var substitution = regexp.MustCompile(`\$\([^()]*\)`)

// earlierProgram returns the program in the name of an earlier job. It never changes, whatever names new jobs get: jobs
// without a mark are recognized by it.
func earlierProgram(command string) (name string) {
	command = substitution.ReplaceAllString(command, "x")
	for _, part := range strings.FieldsFunc(command, func(r rune) bool {
		return strings.ContainsRune("&|;\n(){}", r)
	}) {
		program := earlierFirst(part)
		if program == "" {
			continue
		}
		if name == "" {
			name = program
		}
		switch program {
		case "[", "[[", "test", "cd", "true", "false", ":", "sleep", "command", "umask", ".", "source", "export", "set",
			"ulimit", "trap":
		default:
			return program
		}
	}
	return name
}

func earlierFirst(part string) string {
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
