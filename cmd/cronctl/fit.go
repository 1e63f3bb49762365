package main

import (
	"os"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/term"
	eastasian "golang.org/x/text/width"
)

// leastWidth is how many columns of a cell are always shown: times and ids have fewer.
const leastWidth = 20

var (
	// nameHeads are the heads of names, which often differ at their end only: they are cut in the middle.
	nameHeads = []string{"CHANNEL", "CHECK", "FLOW", "HOST", "JOB", "NAME", "NODE", "REPLICA", "SERVER", "STEP", "USER",
		"WHO", "WORKER"}
	// proseHeads are the heads of texts that are read as a whole: as the last column they make no other one wider.
	proseHeads = []string{"LINE", "REASON", "TEXT"}
)

// fit returns the columns into which a table is to fit: those of the terminal. It is 0 elsewhere, and with -o wide.
func (c *cli) fit() int {
	f, ok := c.screen.(*os.File)
	if !ok || c.format == "wide" {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

func (t *table) head(i int) string { return t.rows[0][min(i, len(t.rows[0])-1)] }

// prose reports whether a column is a text at the end of the rows.
func (t *table) prose(i int) bool {
	return i == len(t.widths)-1 && slices.Contains(proseHeads, t.head(i))
}

// shrink makes the widest columns narrower until the table fits, but none narrower than leastWidth.
func (t *table) shrink() {
	if t.fit == 0 {
		return
	}
	before := slices.Clone(t.widths)
	over := -t.fit - 2
	for i, w := range t.widths {
		if t.prose(i) {
			w = min(w, leastWidth)
		}
		over += w + 2
	}
	for ; over > 0; over-- {
		widest := -1
		for i, w := range t.widths {
			if w > leastWidth && !t.prose(i) && (widest < 0 || w >= t.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		t.widths[widest]--
	}
	if len(t.widths) > 0 && t.ambiguous() {
		t.widths[0] = before[0]
	}
}

// ambiguous reports whether two rows begin with the same text only because it is cut.
func (t *table) ambiguous() bool {
	whole := map[string]string{}
	for _, row := range t.rows {
		short := t.cut(0, row[0])
		if other, found := whole[short]; found && other != row[0] {
			return true
		}
		whole[short] = row[0]
	}
	return false
}

// cut shortens a cell to the width of its column.
func (t *table) cut(i int, cell string) string {
	if t.fit == 0 || t.prose(i) || width(cell) <= t.widths[i] {
		return cell
	}
	if slices.Contains(nameHeads, t.head(i)) {
		return cutMiddle(cell, t.widths[i])
	}
	return cut(cell, t.widths[i])
}

// width returns the columns that a text takes on a terminal: two for each wide character, none for a combining one.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch eastasian.LookupRune(r).Kind() {
	case eastasian.EastAsianWide, eastasian.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut shortens a text to a number of columns.
func cut(s string, limit int) string {
	if width(s) <= limit {
		return s
	}
	n := 0
	for i, r := range s {
		if n += runeWidth(r); n > limit-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// cutMiddle shortens a text to a number of columns, and keeps its beginning and its end.
func cutMiddle(s string, limit int) string {
	if width(s) <= limit {
		return s
	}
	head := cut(s, limit-(limit-1)/2)
	all := []rune(s)
	room, from := limit-width(head), len(all)
	for from > 0 && runeWidth(all[from-1]) <= room {
		from--
		room -= runeWidth(all[from])
	}
	// The text begins with no mark that would be drawn over the dots.
	return head + strings.TrimLeftFunc(string(all[from:]), func(r rune) bool { return runeWidth(r) == 0 })
}
