package sqlitelog

import (
	"slices"
	"strings"

	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

// condition is the WHERE of one statement, its terms joined by AND.
type condition struct {
	terms []string
	args  []any
}

func (c *condition) and(term string, args ...any) {
	c.terms = append(c.terms, term)
	c.args = append(c.args, args...)
}

// with is a copy with one more term.
func (c *condition) with(term string, args ...any) condition {
	return condition{terms: append(slices.Clone(c.terms), term), args: append(slices.Clone(c.args), args...)}
}

func (c *condition) String() string {
	if len(c.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.terms, " AND ")
}

// listRuns is the statement of a query; possible is false when no run can match.
//
// One filter leads, the most selective one that has an index; the others wear a
// unary plus, which keeps SQLite from choosing an index whose rows it would have
// to sort. Several leading statuses are one ordered scan each, merged.
func listRuns(q *runlog.Query) (text string, args []any, possible bool) {
	statuses, narrowed := entry.Statuses(q)
	if !entry.Keyable(q) || narrowed && len(statuses) == 0 {
		return "", nil, false
	}
	where := narrow(q)
	var scans []condition
	switch {
	case !narrowed:
		scans = []condition{where}
	case q.Job != "" || q.Worker != "" || q.Fire != "":
		all := where.with("+status IN " + marks(len(statuses)))
		for _, status := range statuses {
			all.args = append(all.args, string(status))
		}
		scans = []condition{all}
	default:
		for _, status := range statuses {
			scans = append(scans, where.with("status = ?", string(status)))
		}
	}
	selects := make([]string, len(scans))
	for i := range scans {
		selects[i] = "SELECT planned, id, doc FROM runs" + scans[i].String()
		args = append(args, scans[i].args...)
	}
	text = strings.Join(selects, "\nUNION ALL\n") + "\nORDER BY planned DESC, id DESC"
	if q.Fire != "" {
		// A fire has few runs: sorting them is less than reading all in order.
		text = strings.TrimSuffix(text, "planned DESC, id DESC") + "+planned DESC, +id DESC"
	}
	if q.Limit > 0 {
		text += "\nLIMIT ?"
		args = append(args, q.Limit)
	}
	return text, args, true
}

// marks is a list of so many parameters.
func marks(n int) string { return "(" + strings.TrimSuffix(strings.Repeat("?, ", n), ", ") + ")" }

// narrow is the condition of all filters but the statuses.
func narrow(q *runlog.Query) condition {
	var where condition
	job, worker, planned := "job = ?", "worker = ?", "planned"
	if q.Fire != "" {
		low, high := entry.RunsOf(q.Fire)
		where.and("id >= ? AND id < ?", low, high)
		if strings.Contains(q.Fire, ".") { // else its runs have nothing in common but the uid
			where.and(tailOfID+" >= ? AND "+tailOfID+" < ?", tail(low), tail(high))
		}
		job, worker, planned = "+"+job, "+"+worker, "+"+planned
	}
	if q.Job != "" {
		where.and(job, q.Job)
		worker = "+worker = ?"
	}
	for _, f := range []struct{ term, value string }{
		{worker, q.Worker}, {"job_uid = ?", q.JobUID}, {"grp = ?", q.Group}, {"cause = ?", string(q.Cause)},
	} {
		if f.value != "" {
			where.and(f.term, f.value)
		}
	}
	if !q.From.IsZero() {
		where.and(planned+" >= ?", entry.Nanos(q.From))
	}
	if !q.To.IsZero() {
		where.and(planned+" < ?", entry.Nanos(q.To))
	}
	if q.Before != nil {
		where.and("("+planned+", id) < (?, ?)", entry.Nanos(q.Before.PlannedAt), q.Before.ID)
	}
	return where
}

// listChanges is the statement of a query for changes. A kind alone does not lead:
// its changes, under many names, would have to be sorted.
func listChanges(q *runlog.ChangeQuery) (text string, args []any) {
	var where condition
	switch {
	case q.Kind != "" && q.Name != "":
		where.and("kind = ? AND name = ?", q.Kind, q.Name)
	case q.Kind != "":
		where.and("+kind = ?", q.Kind)
	case q.Name != "":
		where.and("+name = ?", q.Name)
	}
	if q.Before != "" {
		where.and("id < ?", q.Before)
	}
	text = "SELECT doc, before, after FROM changes" + where.String() + " ORDER BY id DESC"
	if q.Limit > 0 {
		text += " LIMIT ?"
		where.args = append(where.args, q.Limit)
	}
	return text, where.args
}
