package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"carillon/test/chaos/check"
)

// columns are the headings of the table, with the rules below them.
var columns = []struct {
	head string
	of   func(*row) string
}{
	{"fault", func(r *row) string { return r.Name }},
	{"seed", func(r *row) string { return fmt.Sprint(r.Seed) }},
	{"took", func(r *row) string { return r.Took.String() }},
	{"fires", func(r *row) string { return fmt.Sprint(r.Planned) }},
	{"commands", func(r *row) string { return fmt.Sprint(r.Starts) }},
	{"lost runs", func(r *row) string { return fmt.Sprint(r.Lost) }},
	{"doubled", func(r *row) string { return fmt.Sprint(r.Count(check.Doubled) + r.Count(check.Twice)) }},
	{"overlapping", func(r *row) string { return fmt.Sprint(r.Count(check.Overlaps)) }},
	{"silent", func(r *row) string { return fmt.Sprint(r.Count(check.Silent) + r.Count(check.Open)) }},
	{"outcomes lost", func(r *row) string { return fmt.Sprint(r.Count(check.Outcome)) }},
	{"output lost", func(r *row) string { return fmt.Sprint(r.Count(check.Output)) }},
	{"other", func(r *row) string { return fmt.Sprint(r.other()) }},
	{"commands gone", func(r *row) string { return brief(r.Deaths) }},
	{"run again (away)", func(r *row) string { return spread(r.Reruns) }},
	{"run again (back)", func(r *row) string { return spread(r.Returns) }},
	{"at rest", func(r *row) string { return brief(r.Rest) }},
	{"verdict", func(r *row) string { return r.verdict() }},
}

// other counts the violations without a column.
func (r *row) other() int {
	shown := 0
	for _, rule := range []check.Rule{check.Doubled, check.Twice, check.Overlaps, check.Silent, check.Open,
		check.Outcome, check.Output} {
		shown += r.Count(rule)
	}
	return len(r.Violations) - shown
}

func (r *row) verdict() string {
	switch {
	case r.idle():
		return "not made"
	case r.bad():
		return "FAILED"
	case r.Permitted > 0:
		return fmt.Sprintf("held; %d not promised", r.Permitted)
	}
	return "held"
}

func brief(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

func spread(s check.Spread) string {
	if s.N == 0 {
		return "–"
	}
	return "≤ " + brief(s.Max)
}

// mostViolations bounds the violations that are printed.
const mostViolations = 12

// print prints a result as it arrives.
func (l *lab) print(r row) {
	var cells []string
	for _, c := range columns {
		cells = append(cells, c.head+" "+c.of(&r))
	}
	fmt.Fprintln(l.out, strings.Join(cells, " · "))
	for _, text := range r.Figures {
		fmt.Fprintln(l.out, "  =", text)
	}
	for i, v := range r.Violations {
		if i == mostViolations {
			fmt.Fprintf(l.out, "  ! and %d more\n", len(r.Violations)-i)
			break
		}
		fmt.Fprintf(l.out, "  ! %s: %s %s: %s\n", v.Rule, v.Job, v.What, v.Detail)
	}
	// Last, since they are few and name the cause of the others.
	for _, text := range append(append([]string{}, r.Errors...), r.NotMade...) {
		fmt.Fprintln(l.out, "  !", text)
	}
	if r.Unsettled != "" {
		fmt.Fprintln(l.out, "  ! not settled:", r.Unsettled)
	}
	if r.Kept != "" {
		fmt.Fprintln(l.out, "  logs, ledger and history:", r.Kept)
	}
	fmt.Fprintln(l.out, "  again:", r.Again)
}

// save writes a result to the file, in place of an earlier one of its name, or after the others. Several
// programs may do so at a time.
func save(path string, r row) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	all, err := readRows(f)
	if err != nil {
		return err
	}
	if at := slices.IndexFunc(all, func(old row) bool { return old.Name == r.Name }); at >= 0 {
		all[at] = r
	} else {
		all = append(all, r)
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return err
}

func readRows(f *os.File) (rows []row, err error) {
	data, err := io.ReadAll(f)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return rows, nil
}

// sum reports whether there is no violation.
func (l *lab) sum() error {
	var bad []string
	for _, r := range l.rows {
		if r.bad() {
			bad = append(bad, r.Name)
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d of %d trials failed: %s", len(bad), len(l.rows), strings.Join(bad, ", "))
	}
	if len(l.rows) > 0 {
		fmt.Fprintf(l.out, "%d of %d trials held.\n", len(l.rows), len(l.rows))
	}
	return nil
}

// printTable prints results as Markdown.
func printTable(out io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := readRows(f)
	if err != nil {
		return err
	}
	var heads, rules []string
	for _, c := range columns {
		heads, rules = append(heads, c.head), append(rules, "---")
	}
	fmt.Fprintf(out, "| %s |\n| %s |\n", strings.Join(heads, " | "), strings.Join(rules, " | "))
	for i := range rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.of(&rows[i]))
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
	return nil
}
