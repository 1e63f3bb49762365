package config

import (
	"strings"
	"unicode"

	"carillon/internal/common"
)

// unknown returns the error for an undeclared name, with a suggestion if there is one.
func unknown(location, what, name string, known []string) common.Fault {
	f := common.NewFault(location, "unknown", nil, "unknown %s %q", what, common.Shorten(name))
	if near := nearest(name, known); near != "" {
		f.Hint = "did you mean " + near + "?"
		f.Message += "; " + f.Hint
	}
	return f
}

// nearest finds the known name that was probably meant: the same letters in
// another style, or else at most a third of them wrong.
func nearest(name string, known []string) string {
	best, least := "", max(2, len(name)/3)+1
	if len(name) > 100 {
		return ""
	}
	for _, k := range known {
		if d := distance(letters(name), letters(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// letters leaves out case and punctuation.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// distance counts the letters to insert, delete or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
