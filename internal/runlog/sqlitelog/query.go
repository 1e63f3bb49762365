package sqlitelog

import (
	"math"
	"slices"
	"strings"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

// condition is the WHERE clause of one statement, its terms joined by AND.
type condition struct {
	terms []string
	args  []any
}

func (c *condition) and(term string, args ...any) {
	c.terms = append(c.terms, term)
	c.args = append(c.args, args...)
}

// with returns a copy with more terms.
func (c *condition) with(more condition) condition {
	return condition{
		terms: append(slices.Clone(c.terms), more.terms...),
		args:  append(slices.Clone(c.args), more.args...),
	}
}

func (c *condition) String() string {
	if len(c.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.terms, " AND ")
}

// marks returns a list of so many parameters.
func marks(n int) string { return "(" + strings.TrimSuffix(strings.Repeat("?, ", n), ", ") + ")" }

// numberOf selects the number of a name, or NULL, which equals nothing, if there is none.
const numberOf = "(SELECT names.id FROM names WHERE name = ?)"

// lead is how rows are found: from one index, or from several ranges of it merged, in the order of the list.
// An empty index is the table, which has that order.
type lead struct {
	index  string
	scans  []condition
	filter condition // filters to apply to each row
}

// spot is a position in the list.
type spot struct {
	planned int64
	id      string
}

// span is a part of the list: from a spot, inclusive, until before another one, in time.
type span struct{ from, before spot }

// next returns the first spot that may come after one in time.
func (s spot) next() spot { return spot{s.planned, s.id + "\x00"} }

// rest returns the part of a span after a spot in it, in the order of a list.
func (s span) rest(q *runlog.Query, at spot) span {
	if q.Oldest {
		return span{at.next(), s.before}
	}
	return span{s.from, at}
}

// upTo returns the part of a span up to a spot in it, inclusive, in the order of a list.
func (s span) upTo(q *runlog.Query, at spot) span {
	if q.Oldest {
		return span{s.from, at.next()}
	}
	return span{at, s.before}
}

// leads returns the ways to execute a query: each filter that has an index leads in one of them. possible is
// false if no run can match.
func leads(q *runlog.Query) (all []lead, possible bool) {
	statuses, narrowed := entry.Statuses(q)
	if !entry.Keyable(q) || narrowed && len(statuses) == 0 {
		return nil, false
	}
	type filter struct {
		column, index string
		values        []any
		rare          string // the condition of a partial index
	}
	var filters []filter
	if q.FlowRun != "" {
		filters = append(filters, filter{column: "flow", index: "runs_by_flow", values: []any{q.FlowRun},
			rare: " AND flow IS NOT NULL"})
	}
	for _, f := range []struct{ column, index, value, rare string }{
		{"job", "runs_by_job", q.Job, ""},
		{"grp", "runs_by_group", q.Group, ""},
		{"worker", "runs_by_worker", q.Worker, ""},
	} {
		if f.value != "" {
			filters = append(filters, filter{column: f.column, index: f.index, values: []any{f.value}})
		}
	}
	if narrowed {
		f := filter{column: "status"}
		for _, status := range statuses {
			f.values = append(f.values, string(status))
		}
		if !slices.Contains(statuses, common.StatusSucceeded) {
			f.index, f.rare = "runs_by_status", " AND status <> 1"
		}
		filters = append(filters, f)
	}
	if q.Cause != "" {
		f := filter{column: "cause", values: []any{string(q.Cause)}}
		if q.Cause != common.CauseCron {
			f.index, f.rare = "runs_by_cause", " AND cause <> 2"
		}
		filters = append(filters, f)
	}
	var rest condition
	if q.JobUID != "" {
		rest.and("uid = ?", q.JobUID)
	}
	if q.Fire != "" {
		low, high := entry.RunsOf(q.Fire)
		rest.and("+id >= ? AND +id < ?", low, high)
	}
	if q.ExitCode != nil {
		f := filter{column: "exit", values: []any{int64(*q.ExitCode)}}
		if *q.ExitCode != 0 {
			f.index, f.rare = "runs_by_exit", " AND exit <> 0"
		}
		filters = append(filters, f)
	}
	value := func(f filter) string {
		if f.column == "exit" || f.column == "flow" {
			return "?"
		}
		return numberOf
	}
	left := func(but int) condition {
		c := rest.with(condition{})
		if q.TopLevel() && but >= 0 { // otherwise runs_top leads
			c.and(topLevel)
		}
		for i, f := range filters {
			if i != but {
				values := strings.TrimSuffix(strings.Repeat(value(f)+", ", len(f.values)), ", ")
				c.and("+"+f.column+" IN ("+values+")", f.values...)
			}
		}
		return c
	}
	for i, f := range filters {
		if f.index == "" {
			continue
		}
		l := lead{index: f.index, filter: left(i)}
		for _, v := range f.values {
			l.scans = append(l.scans, condition{terms: []string{f.column + " = " + value(f) + f.rare}, args: []any{v}})
		}
		all = append(all, l)
	}
	switch {
	case len(all) > 0:
	case q.TopLevel():
		all = []lead{{index: "runs_top", scans: []condition{{terms: []string{topLevel}}}, filter: left(-1)}}
	default:
		all = []lead{{scans: []condition{{}}, filter: left(-1)}}
	}
	return all, true
}

// spanOf returns the part of the list that a query selects.
func spanOf(q *runlog.Query) span {
	s := span{from: spot{planned: math.MinInt64}, before: spot{math.MaxInt64, "\U0010FFFF"}}
	if !q.From.IsZero() {
		s.from.planned = entry.Nanos(q.From)
	}
	if to := entry.Nanos(q.To); !q.To.IsZero() && to < math.MaxInt64 {
		s.before = spot{planned: to}
	}
	if q.Before != nil {
		// The cursor may be narrower than the bounds of time.
		switch b := (spot{entry.Nanos(q.Before.PlannedAt), q.Before.ID}); {
		case q.Oldest && s.from.earlier(b.next()), !q.Oldest && b.earlier(s.before):
			s = s.rest(q, b)
		}
	}
	return s
}

func (s spot) earlier(than spot) bool {
	return s.planned < than.planned || s.planned == than.planned && s.id < than.id
}

func (s *span) condition() condition {
	return condition{terms: []string{"(planned, id) >= (?, ?)", "(planned, id) < (?, ?)"},
		args: []any{s.from.planned, s.from.id, s.before.planned, s.before.id}}
}

// sql returns a statement over the rows of a lead within a part of the list; narrowed applies the remaining
// filters. It ends with the order, without a limit.
func (l *lead) sql(columns string, s span, oldest, narrowed bool) (text string, args []any) {
	from := " FROM runs"
	if l.index != "" {
		from += " INDEXED BY " + l.index
	}
	selects := make([]string, len(l.scans))
	for i := range l.scans {
		c := l.scans[i].with(s.condition())
		if narrowed {
			c = c.with(l.filter)
		}
		selects[i] = "SELECT " + columns + from + c.String()
		args = append(args, c.args...)
	}
	order := "\nORDER BY planned DESC, id DESC"
	if oldest {
		order = "\nORDER BY planned, id"
	}
	return strings.Join(selects, "\nUNION ALL\n") + order, args
}

// listChanges returns the statement of a query for changes: one index leads, in the order of the list.
func listChanges(q *runlog.ChangeQuery) (text string, args []any) {
	var where condition
	index := ""
	lead := func(column, by string) string {
		if index != "" {
			return "+" + column + " = ?"
		}
		index = " INDEXED BY " + by
		return column + " = ?"
	}
	if q.Kind != "" && len(q.Names) > 0 {
		index = " INDEXED BY changes_by_name"
		where.and("kind = ?", q.Kind)
	}
	if len(q.Names) > 0 {
		names := make([]any, len(q.Names))
		for i, name := range q.Names {
			names[i] = name
		}
		column := "+name"
		if q.Kind != "" {
			column = "name"
		}
		where.and(column+" IN "+marks(len(names)), names...)
	}
	if q.Kind != "" && q.Name != "" && index == "" {
		index = " INDEXED BY changes_by_name"
		where.and("kind = ? AND name = ?", q.Kind, q.Name)
	} else if q.Name != "" {
		where.and("+name = ?", q.Name)
	}
	if q.Actor != "" {
		where.and(lead("actor", "changes_by_actor"), q.Actor)
	}
	if q.Verb != "" {
		where.and(lead("verb", "changes_by_verb"), q.Verb)
	}
	if q.Kind != "" && q.Name == "" && len(q.Names) == 0 {
		where.and(lead("kind", "changes_by_kind"), q.Kind)
	}
	low, high := entry.ChangesOf(q)
	if low != "" {
		where.and("id >= ?", low)
	}
	if high != "" {
		where.and("id < ?", high)
	}
	text = "SELECT " + changeColumns + " FROM changes" + index + where.String() + " ORDER BY id DESC"
	if q.Limit > 0 {
		text += " LIMIT ?"
		where.args = append(where.args, q.Limit)
	}
	return text, where.args
}
