package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
)

// table prints rows in columns. Cells are single lines; on a terminal long ones are cut to fit.
type table struct {
	rows     [][]string
	colours  bool  // colour the words under STATUS and STATE
	headless bool  // the first row was printed before
	widths   []int // column widths so far
	fit      int   // columns of the terminal; 0: cells are not cut
}

func (t *table) row(values ...any) { t.rows = append(t.rows, cellsOf(values)) }

// fact adds a row with a name, unless the value is empty.
func (t *table) fact(name string, value any) {
	if at, ok := value.(*time.Time); value != "" && (!ok || at != nil) {
		t.row(name+":", value)
	}
}

func cellsOf(values []any) []string {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = oneLine(cell(v))
	}
	return cells
}

// cell formats a value of the API. Optional ones without a value are "-".
func cell(v any) string {
	switch v := v.(type) {
	case time.Time:
		return when(v)
	case *time.Time:
		return whenSet(v)
	case *string:
		return cmp.Or(value(v), "-")
	case *int64:
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v)
	}
	return fmt.Sprint(v)
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
	t.shrink()
	var b strings.Builder
	for n, row := range t.rows {
		if n == 0 && t.headless {
			continue
		}
		var line strings.Builder
		for i, cell := range row {
			head := t.head(i)
			cell = t.cut(i, cell)
			if t.colours && n > 0 && (head == "STATUS" || head == "STATE") {
				line.WriteString(paint(cell))
			} else {
				line.WriteString(cell)
			}
			line.WriteString(strings.Repeat(" ", max(t.widths[i]-width(cell), 0)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	_, err := fmt.Fprint(w, b.String())
	return err
}

// columns are those of a list.
type columns struct {
	heads []string // with + in front: only with -o wide; with ?: only if a cell has a value
	cells func(item json.RawMessage, wide bool) ([]string, error)
}

// columnsOf returns the columns for items that parse as T. cells returns a value for each of the heads.
func columnsOf[T any](heads string, cells func(v *T, wide bool) []any) columns {
	return columns{strings.Split(heads, ","), func(item json.RawMessage, wide bool) ([]string, error) {
		v, err := decode[T](item)
		if err != nil {
			return nil, err
		}
		return cellsOf(cells(&v, wide)), nil
	}}
}

// table returns the heads and rows to show for the items.
func (k *columns) table(items []json.RawMessage, wide bool) (heads []string, rows [][]string, err error) {
	used := map[int]bool{}
	rows = make([][]string, len(items))
	for n, item := range items {
		if rows[n], err = k.cells(item, wide); err != nil {
			return nil, nil, err
		}
		for i, cell := range rows[n] {
			used[i] = used[i] || cell != "-"
		}
	}
	pick := func(row []string) (kept []string) {
		for i, head := range k.heads {
			if head[0] != '+' && head[0] != '?' || head[0] == '+' && wide || head[0] == '?' && used[i] {
				kept = append(kept, row[i])
			}
		}
		return kept
	}
	for n := range rows {
		rows[n] = pick(rows[n])
	}
	heads = pick(k.heads)
	for i := range heads {
		heads[i] = strings.TrimLeft(heads[i], "+?")
	}
	return slices.Clip(heads), rows, nil
}

// show prints a list or one item: unchanged as JSON or YAML, or as a table.
func (k *columns) show(c *cli, v any, items []json.RawMessage) error {
	if c.seen == nil && c.structured() {
		return c.print(v)
	}
	heads, rows, err := k.table(items, c.format == "wide")
	if err != nil {
		return err
	}
	if c.seen != nil {
		return c.seen.show(c, heads, rows, items)
	}
	t := table{colours: c.colours(), fit: c.fit(), rows: append([][]string{heads}, rows...)}
	return t.print(c.stdout)
}
