package sqlitelog

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

// Bounds of the transactions of one Tidy, as for Expire.
const (
	expireRows = 500 // of roll-ups and changes
	tidyPieces = 20  // of expireRows, in one call
)

// Tidy brings roll-ups up to date, checks for wrong ones, deletes expired data, and returns free space to the
// disk.
func (s *Store) Tidy(ctx context.Context, t runlog.Tidy) (runlog.Tidied, error) {
	var done runlog.Tidied
	for _, do := range []func(context.Context, *runlog.Tidy, *runlog.Tidied) error{s.countAll, s.expireRows,
		s.expireOrphans, s.expireUsage, s.repair, s.shrink} {
		if err := do(ctx, &t, &done); err != nil {
			return done, s.failed(ctx, "tidy the run log", err)
		}
	}
	return done, nil
}

func (s *Store) countAll(ctx context.Context, _ *runlog.Tidy, done *runlog.Tidied) error {
	cells := 0
	err := s.exclusive(ctx, func(tx *sql.Tx) error {
		for i := range s.pending.books {
			cells += len(s.pending.books[i].cells)
		}
		return s.settle(ctx, tx, true)
	})
	if err == nil {
		done.Counted += cells
	}
	return err
}

// execute executes a statement as a write transaction, and returns how many rows it has changed.
func (s *Store) execute(ctx context.Context, text string, args ...any) (rows int64, err error) {
	err = s.exclusive(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, text, args...)
		if err == nil {
			rows, err = result.RowsAffected()
		}
		return err
	})
	return rows, err
}

// expireRows deletes roll-ups and changes. Those of a time are adjacent.
func (s *Store) expireRows(ctx context.Context, t *runlog.Tidy, done *runlog.Tidied) error {
	for _, e := range []struct {
		text string
		some bool
		upto int64
	}{
		{deleteOld("hours", "at, job, worker"), !t.Hours.IsZero(), (&book{span: time.Hour}).from(t.Hours)},
		{deleteOld("days", "at, job, worker"), !t.Days.IsZero(), (&book{span: 24 * time.Hour}).from(t.Days)},
		{deleteOldChanges, !t.Changes.IsZero(), entry.Nanos(t.Changes)},
		{deleteSealed, t.Sealed > 0, t.Sealed},
	} {
		if !e.some {
			continue
		}
		for n := range tidyPieces {
			rows, err := s.execute(ctx, e.text, e.upto, expireRows)
			if err != nil {
				return err
			}
			done.Expired += int(rows)
			if rows < expireRows {
				break
			}
			done.More = done.More || n == tidyPieces-1
		}
	}
	return nil
}

const (
	deleteOldChanges = "DELETE FROM changes WHERE id IN (SELECT id FROM changes WHERE at < ? AND seq IS NULL ORDER " +
		"BY at LIMIT ?)"
	deleteSealed = "DELETE FROM changes WHERE seq IN (SELECT seq FROM changes WHERE seq <= ? ORDER BY seq LIMIT ?)"
)

// deleteOld deletes some rows of a table that are older than a time.
func deleteOld(table, key string) string {
	return "DELETE FROM " + table + " WHERE (" + key + ") IN (SELECT " + key + " FROM " + table +
		" WHERE at < ? ORDER BY at LIMIT ?)"
}

const (
	selectChunks = "SELECT rowid, run, at FROM chunks WHERE rowid > ? ORDER BY rowid LIMIT ?"
	chunksAtOnce = 1000
)

// expireOrphans deletes output without a run that is as old as the oldest hours: it was written after its run
// was deleted. Each call reads a part of all output, in rotation.
func (s *Store) expireOrphans(ctx context.Context, t *runlog.Tidy, done *runlog.Tidied) error {
	return s.expireStrays(ctx, t, done, strays{counter: "checked_chunk", table: "chunks", list: selectChunks})
}

// strays are rows that may have no run: the counter of their rotation, their table, and the query that lists row, run
// and time.
type strays struct{ counter, table, list string }

func (s *Store) expireStrays(ctx context.Context, t *runlog.Tidy, done *runlog.Tidied, of strays) error {
	if t.Hours.IsZero() {
		return nil
	}
	type entryOf struct {
		row, at int64
		run     string
	}
	var checked int64
	if err := s.reader.QueryRowContext(ctx, selectCounter, of.counter).Scan(&checked); err != nil {
		return err
	}
	rows, err := collect(ctx, s.reader, of.list, []any{checked, chunksAtOnce},
		func(rows *sql.Rows) (c entryOf, err error) {
			return c, rows.Scan(&c.row, &c.run, &c.at)
		})
	if err != nil || len(rows) == 0 && checked == 0 {
		return err
	}
	var orphans []any
	for _, c := range rows {
		if c.at >= entry.Nanos(t.Hours) {
			continue
		}
		planned, _ := timed(c.run)
		var there bool
		if err := s.reader.QueryRowContext(ctx, "SELECT EXISTS ("+selectPlace+") OR EXISTS ("+selectNamed+")", planned,
			c.run, c.run).Scan(&there); err != nil {
			return err
		}
		if !there {
			orphans = append(orphans, c.row)
		}
	}
	next := int64(0)
	if len(rows) == chunksAtOnce {
		next = rows[len(rows)-1].row
	}
	for part := range slices.Chunk(orphans, expireChunks) {
		if _, err := s.execute(ctx, "DELETE FROM "+of.table+" WHERE rowid IN "+marks(len(part)), part...); err != nil {
			return err
		}
		done.Expired += len(part)
	}
	if next == checked {
		return nil
	}
	return s.exclusive(ctx, func(tx *sql.Tx) error { return setCounter(ctx, tx, of.counter, next) })
}

// Space that shrink leaves free, since it will be used again soon, and space that it returns at once.
const (
	freeShare  = 20 // a twentieth of the file
	freePages  = 100
	freePieces = 50
)

// shrink returns free pages at the end of the file to the disk.
func (s *Store) shrink(ctx context.Context, _ *runlog.Tidy, done *runlog.Tidied) error {
	for n := range freePieces {
		pages, err := s.shrinkPiece(ctx)
		if err != nil || pages == 0 {
			return err
		}
		done.Freed += pages * pageSize
		done.More = done.More || n == freePieces-1
	}
	return nil
}

const pageSize = 4096

func (s *Store) shrinkPiece(ctx context.Context) (pages int64, err error) {
	var total, free int64
	for _, p := range []struct {
		name string
		to   *int64
	}{{"page_count", &total}, {"freelist_count", &free}} {
		if err := s.reader.QueryRowContext(ctx, "PRAGMA "+p.name).Scan(p.to); err != nil {
			return 0, err
		}
	}
	if free <= max(freePages, total/freeShare) {
		return 0, nil
	}
	err = s.exclusive(ctx, func(tx *sql.Tx) error {
		// A step of the statement is a page; rows are read until there are no more.
		rows, err := tx.QueryContext(ctx, "PRAGMA incremental_vacuum(100)")
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		var left int64
		if err := tx.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&left); err != nil {
			return err
		}
		pages = max(0, free-left)
		return nil
	})
	return pages, err
}
