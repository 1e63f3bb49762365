package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// table prints rows in columns. Cells are single lines; wide characters take two columns, as on terminals.
type table struct {
	rows     [][]string
	colours  bool  // colour the words under STATUS and STATE
	headless bool  // the first row was printed before
	widths   []int // column widths so far
}

func (t *table) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = oneLine(cell)
	}
	t.rows = append(t.rows, cells)
}

// oneLine replaces control characters and newlines with spaces.
func oneLine(s string) string { return strings.Join(strings.FieldsFunc(s, unicode.IsControl), " ") }

func (t *table) print(w io.Writer) error {
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(t.widths) {
				t.widths = append(t.widths, 0)
			}
			t.widths[i] = max(t.widths[i], width(cell))
		}
	}
	var b strings.Builder
	for n, row := range t.rows {
		if n == 0 && t.headless {
			continue
		}
		var line strings.Builder
		for i, cell := range row {
			if head := t.rows[0][min(i,
				len(t.rows[0])-1)]; t.colours && n > 0 && (head == "STATUS" || head == "STATE") {
				line.WriteString(paint(cell))
			} else {
				line.WriteString(cell)
			}
			line.WriteString(strings.Repeat(" ", t.widths[i]-width(cell)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	_, err := fmt.Fprint(w, b.String())
	return err
}

func width(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
			r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 ||
			r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd):
			n += 2
		default:
			n++
		}
	}
	return n
}

// cut shortens a text to a number of columns.
func cut(s string, limit int) string {
	if width(s) <= limit {
		return s
	}
	n := 0
	for i, r := range s {
		if n += width(string(r)); n > limit-1 {
			return s[:i] + "…"
		}
	}
	return s
}
