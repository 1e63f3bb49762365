package crontab

import "strings"

// openQuote returns the quote that a command line of a shell leaves open; 0 if there is none. It is used for a hint
// only: quotes within a substitution in quotes count like others.
func openQuote(text string) byte {
	var open byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case open == '\'' && c != '\'':
		case c == '\\':
			i++
		case open == 0 && strings.HasPrefix(text[i:], "$'"): // in it a quote may be escaped, as \'
			if i = ansiEnd(text, i+2); i < 0 {
				return '\''
			}
		case c == open:
			open = 0
		case open == 0 && (c == '\'' || c == '"' || c == '`'):
			open = c
		case open == 0 && c == '#' && (i == 0 || strings.IndexByte(" \t;&|()\n", text[i-1]) >= 0):
			_, rest, _ := strings.Cut(text[i:], "\n")
			i = len(text) - len(rest) - 1
		}
	}
	return open
}

// ansiEnd returns the place of the quote that ends $'…', whose text begins at a place; -1 if none does.
func ansiEnd(text string, i int) int {
	for ; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\'':
			return i
		}
	}
	return -1
}
