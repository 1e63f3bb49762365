package sqlitelog

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/entry"
	"carillon/internal/runlog/rollup"
)

// A book keeps the roll-ups of one span. Stored runs are first counted in memory, then, when these are many,
// added to the file within the transaction of the next batch, together with the number of the last run in
// them. So each run is counted once, whatever is interrupted, and a roll-up is written once for many runs;
// counts that were in memory only are counted again from the runs after that number.
type book struct {
	name    string // of the table and of the counter
	span    time.Duration
	cells   counted
	runs    int   // in cells
	upto    int64 // number of the last run counted in the file
	settled int64 // the same, once the transaction is committed; 0: nothing was written
}

// place is the key of a roll-up.
type place struct{ at, job, worker int64 }

// A book is written when it holds so many runs, or as many cells as the bounds allow: this limits memory, the
// time within one transaction, and the time to count again.
const (
	maxCounted = 20_000
	countParts = 1000
)

// pending holds the two books.
type pending struct {
	mu    sync.Mutex // the writer changes them, others read
	books [2]book
}

const (
	hours = iota
	days
)

// tables are the names of the books.
var tables = [...]string{hours: "hours", days: "days"}

func (b *book) at(planned time.Time) int64 {
	return floorDiv(planned.Unix(), int64(b.span/time.Second))
}

func (b *book) time(at int64) time.Time {
	return time.Unix(at*int64(b.span/time.Second), 0).UTC()
}

// from returns the first number of a span that begins at a time or after it.
func (b *book) from(t time.Time) int64 {
	at := b.at(t)
	if b.time(at).Before(t) {
		at++
	}
	return at
}

func floorDiv(a, b int64) int64 {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

func (b *book) add(job, worker int64, run *common.Run) {
	b.runs++
	p := place{b.at(run.PlannedAt), job, worker}
	b.cells.At(p).Add(run)
	if job != noName {
		p.job = noName
		b.cells.At(p).Add(run)
	}
}

func (b *book) clear(upto int64) {
	b.cells, b.runs, b.upto, b.settled = counted{}, 0, upto, 0
}

// count adds committed runs.
func (s *Store) count(fresh []row) {
	s.pending.mu.Lock()
	defer s.pending.mu.Unlock()
	for i := range s.pending.books {
		for j := range fresh {
			s.pending.books[i].add(fresh[j].job, fresh[j].worker, fresh[j].run)
		}
	}
}

// keep discards the changes of a transaction that failed.
func (p *pending) keep() {
	for i := range p.books {
		p.books[i].settled = 0
	}
}

// settled applies the changes of a committed transaction.
func (p *pending) settled() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.books {
		if b := &p.books[i]; b.settled != 0 {
			b.clear(b.settled)
		}
	}
}

// settle writes the books that are full, or both.
func (s *Store) settle(ctx context.Context, tx *sql.Tx, all bool) error {
	for i := range s.pending.books {
		b := &s.pending.books[i]
		if b.runs == 0 || !all && len(b.cells) < s.bounds.cells && b.runs < maxCounted {
			continue
		}
		if err := b.write(ctx, tx); err != nil {
			return err
		}
		if err := setCounter(ctx, tx, b.name, s.last); err != nil {
			return err
		}
		b.settled = s.last
	}
	return nil
}

// write adds the cells to those of the file, in the order of the table.
func (b *book) write(ctx context.Context, tx *sql.Tx) error {
	get, err := tx.PrepareContext(ctx, "SELECT cell FROM "+b.name+" WHERE at = ? AND job = ? AND worker = ?")
	if err != nil {
		return err
	}
	defer func() { _ = get.Close() }() // it only read
	put, err := tx.PrepareContext(ctx, "INSERT INTO "+b.name+
		" (at, job, worker, cell) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET cell = excluded.cell")
	if err != nil {
		return err
	}
	defer func() { _ = put.Close() }() // its writes belong to the transaction
	places := slices.SortedFunc(maps.Keys(b.cells), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.job, b.job), cmp.Compare(a.worker, b.worker))
	})
	for _, p := range places {
		var stored []byte
		switch err := get.QueryRowContext(ctx, p.at, p.job, p.worker).Scan(&stored); {
		case errors.Is(err, sql.ErrNoRows):
			stored = b.cells[p].Encode()
		case err != nil:
			return err
		default:
			var sum rollup.Cell
			if err := sum.AddEncoded(stored); err != nil {
				return err
			}
			sum.Merge(b.cells[p])
			stored = sum.Encode()
		}
		if _, err := put.ExecContext(ctx, p.at, p.job, p.worker, stored); err != nil {
			return err
		}
	}
	return nil
}

// reload makes the memory agree with the file, and counts the runs that no roll-up there contains yet: in a
// file without roll-ups, all runs.
func (s *Store) reload(ctx context.Context) error {
	version, err := versionOf(ctx, s.writer)
	if err != nil {
		return err
	}
	s.names.forget()
	p := &s.pending
	p.mu.Lock()
	p.books = [2]book{hours: {name: tables[hours], span: time.Hour}, days: {name: tables[days], span: 24 * time.Hour}}
	p.mu.Unlock()
	last := s.last
	for i := range p.books {
		var upto int64
		if err := s.writer.QueryRowContext(ctx, selectCounter, p.books[i].name).Scan(&upto); err != nil {
			return err
		}
		p.mu.Lock()
		p.books[i].clear(upto)
		p.mu.Unlock()
		last = max(last, upto)
	}
	if err := s.writer.QueryRowContext(ctx, selectCounter, "strays").Scan(&s.strays); err != nil {
		return err
	}
	s.last = min(p.books[hours].upto, p.books[days].upto)
	for {
		counted, err := s.countOn(ctx)
		if err != nil {
			return err
		}
		if counted == 0 {
			break
		}
	}
	s.last, s.version, s.stale = max(s.last, last), version, false
	return nil
}

const (
	selectCounter   = "SELECT value FROM counters WHERE name = ?"
	selectUncounted = "SELECT n, doc FROM docs WHERE n > ? ORDER BY n LIMIT ?"
)

func setCounter(ctx context.Context, tx *sql.Tx, name string, value int64) error {
	_, err := tx.ExecContext(ctx, "UPDATE counters SET value = ? WHERE name = ?", value, name)
	return err
}

// countOn counts some of the runs after the last one.
func (s *Store) countOn(ctx context.Context) (int, error) {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo after the commit
	type counted struct {
		n           int64
		run         common.Run
		job, worker int64
	}
	runs, err := collect(ctx, tx, selectUncounted, []any{s.last, countParts},
		func(rows *sql.Rows) (c counted, err error) {
			var doc string
			if err := rows.Scan(&c.n, &doc); err != nil {
				return c, err
			}
			c.run, err = entry.DecodeRun(doc)
			return c, err
		})
	if err != nil || len(runs) == 0 {
		return 0, err
	}
	for i := range runs {
		if runs[i].job, err = s.names.of(ctx, tx, runs[i].run.Job); err != nil {
			return 0, err
		}
		if runs[i].worker, err = s.names.of(ctx, tx, runs[i].run.Worker); err != nil {
			return 0, err
		}
	}
	if err := s.settle(ctx, tx, false); err != nil {
		return 0, err
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	s.pending.settled()
	s.pending.mu.Lock()
	defer s.pending.mu.Unlock()
	for i := range s.pending.books {
		b := &s.pending.books[i]
		for _, c := range runs {
			if c.n > b.upto {
				b.add(c.job, c.worker, &c.run)
			}
		}
	}
	s.last = runs[len(runs)-1].n
	return len(runs), nil
}
