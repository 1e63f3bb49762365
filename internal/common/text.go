package common

import (
	"bytes"
	"regexp"
	"strings"
)

// WithoutMark returns a text file without the byte-order mark that some editors begin it with.
func WithoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// ShellWord returns a text as one word of a shell's command line.
func ShellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// ShellWords returns words as a command line that a shell divides into the same words.
func ShellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = ShellWord(word)
	}
	return strings.Join(quoted, " ")
}
