package sqlitelog

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
)

// rangeOf returns the part of a book that begins within [from, to); zero times are no bounds.
func (b *book) rangeOf(from, to time.Time) (first, end int64) {
	first, end = math.MinInt64, math.MaxInt64
	if !from.IsZero() {
		first = b.from(from)
	}
	if !to.IsZero() {
		end = b.from(to)
	}
	return first, end
}

// A row of roll-ups is looked up for each hour: there are few hours, and many jobs in each. For many hours
// all rows are read instead.
const (
	manyHours    = 50_000
	selectWide   = "SELECT at, worker, cell FROM % WHERE at >= ?1 AND at < ?2 AND job = ?3"
	selectBounds = "SELECT (SELECT min(at) FROM %), (SELECT max(at) FROM %)"
	selectCells  = `WITH RECURSIVE every(at) AS (SELECT ?1 WHERE ?1 < ?2 UNION ALL SELECT at + 1 FROM every WHERE at + 1 < ?2)
SELECT cells.at, cells.worker, cells.cell FROM every CROSS JOIN % AS cells ON cells.at = every.at AND cells.job = ?3`
)

func in(table, text string) string { return strings.ReplaceAll(text, "%", table) }

// counted are cells of one job, by place.
type counted = rollup.Cells[place]

// ask selects the cells of a job in a book.
type ask struct {
	book       int
	job        int64
	first, end int64
}

// cells returns the selected cells: those in the file, and those in memory only. keep returns the cell to
// which a place belongs.
func (s *Store) cells(ctx context.Context, asks []ask, keep func(a *ask, p place) place) (counted, error) {
	// The memory is read first. If it was written to the file meanwhile, the number of the last run there has
	// changed, and all is read again; after three tries the file alone is used, which is right, but slightly
	// behind.
	for range 3 {
		sum, upto := s.inMemory(asks, keep)
		same, err := s.inFile(ctx, asks, &upto, sum, keep)
		if err != nil || same {
			return sum, err
		}
	}
	sum := counted{}
	_, err := s.inFile(ctx, asks, nil, sum, keep)
	return sum, err
}

func (s *Store) inMemory(asks []ask, keep func(*ask, place) place) (counted, [2]int64) {
	sum := counted{}
	p := &s.pending
	p.mu.Lock()
	defer p.mu.Unlock()
	byJob := map[int64][]int{}
	for i := range asks {
		byJob[asks[i].job] = append(byJob[asks[i].job], i)
	}
	for i := range p.books {
		for at, cell := range p.books[i].cells {
			for _, n := range byJob[at.job] {
				if a := &asks[n]; a.book == i && at.at >= a.first && at.at < a.end {
					sum.At(keep(a, at)).Merge(cell)
				}
			}
		}
	}
	return sum, [2]int64{p.books[hours].upto, p.books[days].upto}
}

// inFile adds the cells of the file; same reports whether the books are at the numbers of upto; nil: any.
func (s *Store) inFile(ctx context.Context, asks []ask, upto *[2]int64, sum counted,
	keep func(*ask, place) place) (same bool, err error) {
	tx, err := s.reader.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // it only read
	var is [2]int64
	var bounds [2][2]sql.NullInt64
	for i, table := range tables {
		if err := tx.QueryRowContext(ctx, selectCounter, table).Scan(&is[i]); err != nil {
			return false, err
		}
		if err := tx.QueryRowContext(ctx, in(table, selectBounds)).Scan(&bounds[i][0], &bounds[i][1]); err != nil {
			return false, err
		}
	}
	if upto != nil && is != *upto {
		return false, nil
	}
	for i := range asks {
		a := &asks[i]
		if !bounds[a.book][0].Valid {
			continue
		}
		first, end := max(a.first, bounds[a.book][0].Int64), min(a.end, bounds[a.book][1].Int64+1)
		list := selectCells
		if end-first > manyHours {
			list = selectWide
		}
		rows, err := tx.QueryContext(ctx, in(tables[a.book], list), first, end, a.job)
		if err != nil {
			return false, err
		}
		if err := func() error {
			defer func() { _ = rows.Close() }() // its error is in rows.Err
			for rows.Next() {
				p := place{job: a.job}
				var cell sql.RawBytes
				if err := rows.Scan(&p.at, &p.worker, &cell); err != nil {
					return err
				}
				if err := sum.At(keep(a, p)).AddEncoded(cell); err != nil {
					return err
				}
			}
			return rows.Err()
		}(); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Rollups returns rows in order of time, and of workers' ids.
func (s *Store) Rollups(ctx context.Context, q runlog.RollupQuery) ([]rollup.Row, error) {
	rows, err := s.rollups(ctx, q)
	if err != nil {
		return nil, s.failed(ctx, "read roll-ups", err)
	}
	return rows, nil
}

func (s *Store) rollups(ctx context.Context, q runlog.RollupQuery) ([]rollup.Row, error) {
	a := ask{book: hours, job: noName}
	if q.Days {
		a.book = days
	}
	if q.Job != "" {
		found, err := s.numbersOf(ctx, []string{q.Job})
		if err != nil || len(found) == 0 {
			return nil, err
		}
		a.job = found[q.Job]
	}
	b := book{span: time.Hour}
	if q.Days {
		b.span = 24 * time.Hour
	}
	a.first, a.end = b.rangeOf(q.From, q.To)
	sum, err := s.cells(ctx, []ask{a}, func(_ *ask, p place) place {
		if !q.Workers {
			p.worker = noName
		}
		return p
	})
	if err != nil {
		return nil, err
	}
	workers := map[int64]string{}
	rows := make([]rollup.Row, 0, len(sum))
	for p, cell := range sum {
		name, known := workers[p.worker]
		if !known {
			if err := s.reader.QueryRowContext(ctx, "SELECT name FROM names WHERE id = ?",
				p.worker).Scan(&name); err != nil {
				return nil, err
			}
			workers[p.worker] = name
		}
		rows = append(rows, rollup.Row{At: b.time(p.at), Job: q.Job, Worker: name, Cell: *cell})
	}
	slices.SortFunc(rows, func(a, b rollup.Row) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.Worker, b.Worker)
	})
	return rows, nil
}

// Totals returns the cells of jobs over the hours that begin within [from, to). Whole days among them are
// read from the days.
func (s *Store) Totals(ctx context.Context, jobs []string, from, to time.Time) (map[string]rollup.Cell, error) {
	totals, err := s.totals(ctx, jobs, from, to)
	if err != nil {
		return nil, s.failed(ctx, "read roll-ups", err)
	}
	return totals, nil
}

func (s *Store) totals(ctx context.Context, jobs []string, from, to time.Time) (map[string]rollup.Cell, error) {
	found, err := s.numbersOf(ctx, jobs)
	if err != nil {
		return nil, err
	}
	hour, day := book{span: time.Hour}, book{span: 24 * time.Hour}
	first, end := hour.rangeOf(from, to)
	firstDay, endDay := int64(math.MinInt64), int64(math.MaxInt64)
	if first != math.MinInt64 {
		firstDay = day.from(hour.time(first))
	}
	if end != math.MaxInt64 {
		endDay = day.at(hour.time(end))
	}
	var asks []ask
	for _, job := range slices.Sorted(maps.Values(found)) {
		if firstDay >= endDay {
			asks = append(asks, ask{hours, job, first, end})
			continue
		}
		asks = append(asks, ask{days, job, firstDay, endDay})
		if firstDay != math.MinInt64 {
			asks = append(asks, ask{hours, job, first, firstDay * 24})
		}
		if endDay != math.MaxInt64 {
			asks = append(asks, ask{hours, job, endDay * 24, end})
		}
	}
	sum, err := s.cells(ctx, asks, func(a *ask, _ place) place { return place{job: a.job} })
	if err != nil {
		return nil, err
	}
	totals := map[string]rollup.Cell{}
	for name, job := range found {
		if cell := sum[place{job: job}]; cell != nil && !cell.Empty() {
			totals[name] = *cell
		}
	}
	return totals, nil
}

// numbersOf returns the numbers of the names that exist.
func (s *Store) numbersOf(ctx context.Context, names []string) (map[string]int64, error) {
	found := make(map[string]int64, len(names))
	for _, name := range names {
		if name == "" {
			continue
		}
		var n int64
		err := s.reader.QueryRowContext(ctx, "SELECT id FROM names WHERE name = ?", name).Scan(&n)
		switch {
		case err == nil:
			found[name] = n
		case !errors.Is(err, sql.ErrNoRows):
			return nil, err
		}
	}
	return found, nil
}
