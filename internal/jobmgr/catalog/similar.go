package catalog

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// leastSimilar is the length of a text from which similar words are found: for shorter ones nearly all are.
const leastSimilar = 4

// similar reports whether a text in lower case, such as a name, has all words that are wanted, in any order: each as a
// part of the text, or as the beginning of a word but for a typing error or two.
func similar(wanted, text string) bool {
	found := false
	for word := range wordsOf(wanted) {
		if found = strings.Contains(text, word) || hasSimilarWord(word, text); !found {
			return false
		}
	}
	return found
}

func wordsOf(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" -_./:\x00", r) })
}

func hasSimilarWord(wanted, text string) bool {
	length := utf8.RuneCountInString(wanted)
	if length < leastSimilar {
		return false
	}
	allowed := 1
	if length > 6 {
		allowed = 2
	}
	for word := range wordsOf(text) {
		if distance([]rune(wanted), []rune(word), allowed) <= allowed {
			return true
		}
	}
	return false
}

// distance returns the number of typing errors (a missing, surplus, wrong or swapped letter) between a text and the
// beginning of a word; more than allowed are not counted exactly.
func distance(wanted, word []rune, allowed int) int {
	if len(word) > len(wanted)+allowed {
		word = word[:len(wanted)+allowed] // further letters are beyond its beginning
	}
	if len(word)+allowed < len(wanted) {
		return allowed + 1
	}
	before, last := make([]int, len(word)+1), make([]int, len(word)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(wanted); i++ {
		row := make([]int, len(word)+1)
		row[0] = i
		for j := 1; j <= len(word); j++ {
			cost := 1
			if wanted[i-1] == word[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && wanted[i-1] == word[j-2] && wanted[i-2] == word[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	least := last[0]
	for _, d := range last {
		least = min(least, d)
	}
	return least
}
