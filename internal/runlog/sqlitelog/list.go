package sqlitelog

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

// bounds limits the work of one operation.
type bounds struct {
	rows, docs int // one list reads so many rows of an index, and so many documents for a text
	cells      int // a book is written to the file when it has so many
}

func defaultBounds() bounds { return bounds{rows: 30_000, docs: 4_000, cells: 1000} }

const (
	// firstRows is how many it reads at first; then four times as many, and so on.
	firstRows = 500
	// probeRows is how far the candidate indexes of a list are compared.
	probeRows = 300
)

// Runs lists runs, the newest or the oldest first. A list with a limit ends early after as many rows as its
// bounds allow.
func (s *Store) Runs(ctx context.Context, q runlog.Query) (runlog.Found, error) {
	found, err := s.list(ctx, &q)
	if err == nil {
		err = s.orphans(ctx, found.Runs)
	}
	if err != nil {
		return runlog.Found{}, s.failed(ctx, "list runs", err)
	}
	return found, nil
}

func (s *Store) list(ctx context.Context, q *runlog.Query) (runlog.Found, error) {
	ways, possible := leads(q)
	if !possible {
		return runlog.Found{}, nil
	}
	if strings.Contains(q.Fire, ".") {
		return s.attempts(ctx, q)
	}
	whole := spanOf(q)
	by, err := s.best(ctx, ways, whole, q.Oldest)
	if err != nil {
		return runlog.Found{}, err
	}
	page := page{q: *q, needle: needleOf(q.Text)}
	page.q.Fire, page.q.Nodes = "", !q.TopLevel() // the ids decide
	part := whole                                 // the part that is not read yet
	for rows, passed := firstRows, 0; ; rows *= 4 {
		bounded := q.Limit > 0 && (len(by.filter.terms) > 0 || q.Text != "" || q.Step != "")
		rows = min(rows, s.bounds.rows-passed)
		var end *spot
		if bounded {
			if end, err = s.nth(ctx, by, part, q.Oldest, rows); err != nil {
				return runlog.Found{}, err
			}
		}
		now := part
		if end != nil {
			now = part.upTo(q, *end)
		}
		if err := s.read(ctx, &page, by, now); err != nil {
			return runlog.Found{}, err
		}
		passed += rows
		switch {
		case page.full() || end == nil && page.until == nil:
			return runlog.Found{Runs: page.runs}, nil
		case page.until != nil:
			return runlog.Found{Runs: page.runs, Until: page.until}, nil
		case passed >= s.bounds.rows:
			return runlog.Found{
				Runs:  page.runs,
				Until: &runlog.Position{PlannedAt: entry.Time(end.planned), ID: end.id},
			}, nil
		}
		part = part.rest(q, *end)
	}
}

// page is the state of a list.
type page struct {
	q      runlog.Query
	needle needle
	runs   []common.Run
	docs   int              // that were read
	until  *runlog.Position // where the bound was reached
}

func (p *page) full() bool { return p.q.Limit > 0 && len(p.runs) >= p.q.Limit }

// read adds the runs of a part of the list.
func (s *Store) read(ctx context.Context, p *page, by *lead, part span) error {
	list, args := by.sql("planned, id, (SELECT doc FROM docs WHERE docs.n = runs.n)", part, p.q.Oldest, true)
	exact := p.q.Text != "" || p.q.Step != "" // decided by the document
	if p.q.Limit > 0 && !exact {
		list += "\nLIMIT ?"
		args = append(args, p.q.Limit-len(p.runs))
	}
	rows, err := s.reader.QueryContext(ctx, list, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // its error is in rows.Err
	for rows.Next() {
		var at spot
		var doc string
		if err := rows.Scan(&at.planned, &at.id, &doc); err != nil {
			return err
		}
		p.docs++
		if p.needle.mayBeIn(doc) {
			run, err := entry.DecodeRun(doc)
			if err != nil {
				return err
			}
			if p.q.Matches(&run) {
				p.runs = append(p.runs, run)
			}
		}
		if p.full() {
			return nil
		}
		if p.q.Limit > 0 && exact && p.docs >= s.bounds.docs {
			p.until = &runlog.Position{PlannedAt: entry.Time(at.planned), ID: at.id}
			return nil
		}
	}
	return rows.Err()
}

// nth returns the position in a part of the list after so many rows; nil if it has fewer.
func (s *Store) nth(ctx context.Context, by *lead, part span, oldest bool, rows int) (*spot, error) {
	list, args := by.sql("planned, id", part, oldest, false)
	var at spot
	err := s.reader.QueryRowContext(ctx, list+"\nLIMIT 1 OFFSET ?", append(args, rows-1)...).Scan(&at.planned, &at.id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &at, nil
}

// best returns the lead with the fewest rows: the one on which as many rows reach farthest.
func (s *Store) best(ctx context.Context, ways []lead, part span, oldest bool) (*lead, error) {
	best := &ways[0]
	if len(ways) == 1 {
		return best, nil
	}
	var farthest *spot
	for i := range ways {
		at, err := s.nth(ctx, &ways[i], part, oldest, probeRows)
		if err != nil || at == nil {
			return &ways[i], err
		}
		if farthest == nil || (at.planned > farthest.planned) == oldest {
			best, farthest = &ways[i], at
		}
	}
	return best, nil
}

// Locations of the runs of a fire: at its time, or among the named ones.
const (
	selectOfTime = "SELECT n FROM runs WHERE planned = ? AND id >= ? AND id < ?"
	selectOfName = "SELECT n FROM runs INDEXED BY runs_named WHERE id >= ? AND id < ? AND named = 1"
	selectOfFire = "SELECT doc FROM docs WHERE n IN (" + selectOfTime + " UNION ALL " + selectOfName + ")"
)

// attempts lists the runs of a fire, which are few.
func (s *Store) attempts(ctx context.Context, q *runlog.Query) (runlog.Found, error) {
	low, high := entry.RunsOf(q.Fire)
	planned, _ := timed(low + ".")
	docs, err := collect(ctx, s.reader, selectOfFire, []any{planned, low, high, low, high}, text)
	if err != nil {
		return runlog.Found{}, err
	}
	var runs []common.Run
	match := *q
	match.Fire, match.Nodes = "", true // the ids decide
	for _, doc := range docs {
		run, err := entry.DecodeRun(doc)
		if err != nil {
			return runlog.Found{}, err
		}
		if match.Matches(&run) && (run.ID != q.Fire || run.Fire == q.Fire) { // a fire's own id is that of a gap entry
			runs = append(runs, run)
		}
	}
	slices.SortFunc(runs, q.CompareRuns)
	if q.Limit > 0 && len(runs) > q.Limit {
		runs = runs[:q.Limit]
	}
	return runlog.Found{Runs: runs}, nil
}

// needle is a text as it occurs in a run's document, in lower case; empty if the document is not conclusive.
type needle string

// needleOf returns the needle of a text that JSON does not escape.
func needleOf(text string) needle {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return ""
		}
	}
	return needle(strings.ToLower(text))
}

// mayBeIn reports whether a document may be that of a run with the text. This is always so for a document
// with letters beyond ASCII, some of which have ASCII lower case.
func (n needle) mayBeIn(doc string) bool {
	if n == "" {
		return true
	}
	first, other := n[0], n[0]
	if 'a' <= first && first <= 'z' {
		other = first - 'a' + 'A'
	}
	for i := range len(doc) {
		c := doc[i]
		if c >= 0x80 {
			return true
		}
		if (c == first || c == other) && len(doc)-i >= len(n) && sameFold(doc[i:i+len(n)], string(n)) {
			return true
		}
	}
	return false
}

// sameFold compares with a text in lower case.
func sameFold(s, lower string) bool {
	for i := range len(lower) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
