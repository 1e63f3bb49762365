package sqlitelog

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

// Each transaction of the upkeep is so small that the writer of a batch does not wait for it longer than for
// another batch.
const (
	expireRuns   = 50
	expireChunks = 64
	expireRows   = 500 // of roll-ups and changes
	tidyPieces   = 20  // of expireRows, in one call
	defaultLimit = 1000
)

const (
	// A name belongs to a job if there is a run of it.
	selectKept = `SELECT name, id FROM names WHERE name > ? AND EXISTS (SELECT 1 FROM runs INDEXED BY runs_by_job WHERE job = names.id)
ORDER BY name LIMIT ?`
	selectSize = "SELECT count(*), min(planned) FROM runs INDEXED BY runs_by_job WHERE job = ?"
)

// Kept lists the jobs that have runs.
func (s *Store) Kept(ctx context.Context, after string, limit int) ([]runlog.Kept, error) {
	type job struct {
		name string
		id   int64
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	jobs, err := collect(ctx, s.reader, selectKept, []any{after, limit}, func(rows *sql.Rows) (j job, err error) {
		return j, rows.Scan(&j.name, &j.id)
	})
	if err != nil {
		return nil, s.failed(ctx, "list the jobs of the run log", err)
	}
	var all []runlog.Kept
	for _, j := range jobs {
		k := runlog.Kept{Job: j.name}
		var oldest sql.NullInt64
		if err := s.reader.QueryRowContext(ctx, selectSize, j.id).Scan(&k.Runs, &oldest); err != nil {
			return nil, s.failed(ctx, "count runs", err)
		}
		if k.Runs > 0 {
			k.Oldest = entry.Time(oldest.Int64)
			all = append(all, k)
		}
	}
	return all, nil
}

const (
	selectNewest = "SELECT planned, id FROM runs INDEXED BY runs_by_job WHERE job = ? ORDER BY planned DESC, id DESC " +
		"LIMIT 1 OFFSET ?"
	selectOldest = "SELECT planned, id, n FROM runs INDEXED BY runs_by_job WHERE job = ? AND (planned, id) < (?, ?) " +
		"AND NOT " + ended + " ORDER BY planned, id LIMIT ?"
	// SQLite reads the time in a document as days. An unreadable one protects nothing.
	ended = `EXISTS (SELECT 1 FROM docs WHERE docs.n = runs.n AND julianday(?) <
CASE WHEN json_valid(doc) THEN coalesce(julianday(json_extract(doc, '$.endedAt')), julianday(runs.planned / 1e9, 'unixepoch')) END)`
	deleteChunks = "DELETE FROM chunks WHERE rowid IN (SELECT rowid FROM chunks WHERE run = ? LIMIT ?) RETURNING " +
		"length(data)"
	noteExpired = "INSERT INTO expired (job, upto) VALUES (?, ?) ON CONFLICT DO UPDATE SET upto = max(upto, " +
		"excluded.upto)"
)

// Expire deletes runs of a job with their output, the oldest first.
func (s *Store) Expire(ctx context.Context, e runlog.Expiry) (runlog.Expired, error) {
	gone, err := s.expire(ctx, e)
	if err != nil {
		return gone, s.failed(ctx, "delete runs", err)
	}
	return gone, nil
}

func (s *Store) expire(ctx context.Context, e runlog.Expiry) (gone runlog.Expired, err error) {
	if e.Limit <= 0 {
		e.Limit = defaultLimit
	}
	found, err := s.numbersOf(ctx, []string{e.Job})
	if err != nil || len(found) == 0 {
		return gone, err
	}
	job := found[e.Job]
	stays, err := s.stays(ctx, job, &e)
	if err != nil || stays == nil {
		return gone, err
	}
	spares := "9999-12-31T23:59:59Z" // later than any end
	if !e.Ended.IsZero() {
		spares = e.Ended.UTC().Format(time.RFC3339Nano)
	}
	gone.More = true
	for gone.More && gone.Runs < e.Limit {
		if err := s.exclusive(ctx, func(tx *sql.Tx) error {
			return s.expirePiece(ctx, tx, job, *stays, spares, e.Limit, &gone)
		}); err != nil {
			return gone, err
		}
	}
	if gone.More {
		err = s.reader.QueryRowContext(ctx, "SELECT EXISTS ("+selectOldest+")", job, stays.planned, stays.id, spares,
			1).Scan(&gone.More)
	}
	return gone, err
}

// stays returns the oldest position of a run that stays; nil if all stay.
func (s *Store) stays(ctx context.Context, job int64, e *runlog.Expiry) (*spot, error) {
	newest := func(n int) (*spot, error) {
		var at spot
		err := s.reader.QueryRowContext(ctx, selectNewest, job, n).Scan(&at.planned, &at.id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		}
		return &at, err
	}
	var stays *spot
	if !e.Before.IsZero() {
		stays = &spot{planned: entry.Nanos(e.Before)}
	}
	if e.Keep > 0 {
		kept, err := newest(e.Keep - 1)
		if err != nil {
			return nil, err
		}
		if kept != nil && (stays == nil || stays.before(*kept)) {
			stays = kept
		}
	}
	if stays != nil && e.Newest {
		last, err := newest(0)
		if err != nil {
			return nil, err
		}
		if last != nil && last.before(*stays) {
			stays = last
		}
	}
	return stays, nil
}

// before reports whether a position is older.
func (s spot) before(o spot) bool {
	return s.planned < o.planned || s.planned == o.planned && s.id < o.id
}

// expirePiece deletes some of the runs that are older than a position, and did not end after a time.
func (s *Store) expirePiece(ctx context.Context, tx *sql.Tx, job int64, stays spot, spares string, limit int,
	gone *runlog.Expired) error {
	type oldest struct {
		spot
		n int64
	}
	piece := *gone
	runs, err := collect(ctx, tx, selectOldest,
		[]any{job, stays.planned, stays.id, spares, min(expireRuns, limit-gone.Runs)},
		func(rows *sql.Rows) (o oldest, err error) {
			return o, rows.Scan(&o.planned, &o.id, &o.n)
		})
	if err != nil {
		return err
	}
	piece.More = len(runs) > 0
	counted := min(s.pending.books[hours].upto, s.pending.books[days].upto)
	chunks := expireChunks
	for _, r := range runs {
		if r.n > counted { // a deleted run cannot be counted again
			if err := s.settle(ctx, tx, true); err != nil {
				return err
			}
			counted = math.MaxInt64
		}
		lengths, err := collect(ctx, tx, deleteChunks, []any{r.id, chunks}, func(rows *sql.Rows) (n int64, err error) {
			return n, rows.Scan(&n)
		})
		if err != nil {
			return err
		}
		for _, n := range lengths {
			piece.Bytes += n
		}
		piece.Chunks += len(lengths)
		if chunks -= len(lengths); chunks == 0 {
			break
		}
		for _, d := range []struct {
			text string
			args []any
		}{
			{"DELETE FROM late WHERE run = ?", []any{r.id}},
			{"DELETE FROM docs WHERE n = ?", []any{r.n}},
			{"DELETE FROM runs WHERE planned = ? AND id = ?", []any{r.planned, r.id}},
			{noteExpired, []any{job, r.planned}},
		} {
			if _, err := tx.ExecContext(ctx, d.text, d.args...); err != nil {
				return err
			}
		}
		piece.Runs++
	}
	*gone = piece
	return nil
}

// Tidy brings roll-ups up to date, checks for wrong ones, deletes expired data, and returns free space to the
// disk.
func (s *Store) Tidy(ctx context.Context, t runlog.Tidy) (runlog.Tidied, error) {
	var done runlog.Tidied
	for _, do := range []func(context.Context, *runlog.Tidy, *runlog.Tidied) error{s.countAll, s.expireRows,
		s.expireOrphans, s.repair, s.shrink} {
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
			var rows int64
			err := s.exclusive(ctx, func(tx *sql.Tx) error {
				result, err := tx.ExecContext(ctx, e.text, e.upto, expireRows)
				if err == nil {
					rows, err = result.RowsAffected()
				}
				return err
			})
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
	if t.Hours.IsZero() {
		return nil
	}
	type chunk struct {
		row, at int64
		run     string
	}
	var checked int64
	if err := s.reader.QueryRowContext(ctx, selectCounter, "checked_chunk").Scan(&checked); err != nil {
		return err
	}
	chunks, err := collect(ctx, s.reader, selectChunks, []any{checked, chunksAtOnce},
		func(rows *sql.Rows) (c chunk, err error) {
			return c, rows.Scan(&c.row, &c.run, &c.at)
		})
	if err != nil || len(chunks) == 0 && checked == 0 {
		return err
	}
	var orphans []any
	for _, c := range chunks {
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
	if len(chunks) == chunksAtOnce {
		next = chunks[len(chunks)-1].row
	}
	for len(orphans) > 0 {
		part := orphans[:min(expireChunks, len(orphans))]
		if err := s.exclusive(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "DELETE FROM chunks WHERE rowid IN "+marks(len(part)), part...)
			return err
		}); err != nil {
			return err
		}
		done.Expired += len(part)
		orphans = orphans[len(part):]
	}
	if next == checked {
		return nil
	}
	return s.exclusive(ctx, func(tx *sql.Tx) error { return setCounter(ctx, tx, "checked_chunk", next) })
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
