package common

import (
	"strings"
	"unicode"
)

// Nearest returns the known name that was probably meant: the same letters in another style, or else at most a third of
// them wrong, or two of a short name; empty if there is none.
func Nearest(name string, known []string) string {
	if len(name) > 100 {
		return ""
	}
	meant := letters(name)
	best, least := "", min(max(2, len(meant)/3), len(meant)-1)+1
	for _, k := range known {
		if d := distance(meant, letters(k), least); d < least {
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

// distance counts the letters to insert, delete or replace (Levenshtein). Once it is certain to reach the bound, the
// bound is returned.
func distance(a, b string, bound int) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		closest := row[0]
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
			closest = min(closest, row[j+1])
		}
		if closest >= bound {
			return bound
		}
	}
	return row[len(b)]
}
