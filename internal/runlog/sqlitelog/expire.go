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

// Each transaction of an expiry is so small that the writer of a batch does not wait for it longer than for
// another batch.
const (
	expireRuns   = 50
	expireChunks = 64
	defaultLimit = 1000
)

const (
	// A name belongs to a job if there is a run of it. One with a colon is that of a step.
	selectKept = `SELECT name, id FROM names WHERE name > ? AND instr(name, ':') = 0
AND EXISTS (SELECT 1 FROM runs INDEXED BY runs_by_job WHERE job = names.id) ORDER BY name LIMIT ?`
	selectSize = "SELECT count(*), min(planned) FROM runs INDEXED BY runs_by_job WHERE job = ? AND " + topLevel
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
	selectNewest = "SELECT planned, id FROM runs INDEXED BY runs_by_job WHERE job = ? AND " + topLevel + apart +
		" ORDER BY planned DESC, id DESC LIMIT 1 OFFSET ?"
	selectOldest = "SELECT planned, id, n, job FROM runs INDEXED BY runs_by_job WHERE job = ? AND " +
		"(planned, id) < (?, ?) AND " + topLevel + " AND NOT " + ended + apart + " ORDER BY planned, id LIMIT ?"
	// The index does not contain the flow run, which is read only if there is a backfill.
	apart      = " AND (? = '' OR flow IS NOT ?)"
	selectNode = "SELECT planned, id, n, job FROM runs INDEXED BY runs_by_flow WHERE flow = ? AND NOT " + topLevel +
		" LIMIT 1"
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
	stays, err := e.Boundary(func(n int) (*runlog.Position, error) { return s.newest(ctx, job, n, e.Apart) })
	if err != nil || stays == nil {
		return gone, err
	}
	boundary := spot{entry.Nanos(stays.PlannedAt), stays.ID}
	spares := "9999-12-31T23:59:59Z" // later than any end
	if !e.Ended.IsZero() {
		spares = e.Ended.UTC().Format(time.RFC3339Nano)
	}
	gone.More = true
	for gone.More && gone.Runs < e.Limit {
		if err := s.exclusive(ctx, func(tx *sql.Tx) error {
			return s.expirePiece(ctx, tx, job, boundary, spares, &e, &gone)
		}); err != nil {
			return gone, err
		}
	}
	if gone.More {
		err = s.reader.QueryRowContext(ctx, "SELECT EXISTS ("+selectOldest+")", job, boundary.planned, boundary.id,
			spares, e.Apart, e.Apart, 1).Scan(&gone.More)
	}
	return gone, err
}

// newest returns the position of the nth newest run of a job; nil if there are fewer.
func (s *Store) newest(ctx context.Context, job int64, n int, apart string) (*runlog.Position, error) {
	var planned int64
	var at runlog.Position
	err := s.reader.QueryRowContext(ctx, selectNewest, job, apart, apart, n-1).Scan(&planned, &at.ID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	}
	at.PlannedAt = entry.Time(planned)
	return &at, nil
}

// stored is a run in the file.
type stored struct {
	spot
	n, job int64
}

func scanStored(rows *sql.Rows) (r stored, err error) {
	return r, rows.Scan(&r.planned, &r.id, &r.n, &r.job)
}

// lowest returns a run of a node of a flow run that is not a flow run with nodes itself; the run if it has no nodes.
func lowest(ctx context.Context, tx *sql.Tx, run stored) (stored, error) {
	for {
		nodes, err := collect(ctx, tx, selectNode, []any{run.id}, scanStored)
		if err != nil || len(nodes) == 0 {
			return run, err
		}
		run = nodes[0]
	}
}

// expirePiece deletes some of the runs that are older than a position, and did not end after a time. The runs of the
// nodes of a flow run are deleted before it.
func (s *Store) expirePiece(ctx context.Context, tx *sql.Tx, job int64, stays spot, spares string,
	e *runlog.Expiry, gone *runlog.Expired) error {
	piece := *gone
	most := min(expireRuns, e.Limit-gone.Runs)
	runs, err := collect(ctx, tx, selectOldest, []any{job, stays.planned, stays.id, spares, e.Apart, e.Apart, most},
		scanStored)
	if err != nil {
		return err
	}
	piece.More = len(runs) > 0
	counted := min(s.pending.books[hours].upto, s.pending.books[days].upto)
	chunks := expireChunks
	for i := 0; i < len(runs) && most > 0 && chunks > 0; {
		r, err := lowest(ctx, tx, runs[i])
		if err != nil {
			return err
		}
		if r.n > counted { // a deleted run cannot be counted again
			if err := s.settle(ctx, tx, true); err != nil {
				return err
			}
			counted = math.MaxInt64
		}
		whole, err := expireRun(ctx, tx, r, &chunks, &piece)
		if err != nil {
			return err
		}
		if whole {
			most--
			if r.id == runs[i].id {
				i++
			}
		}
	}
	*gone = piece
	return nil
}

// expireRun deletes a run with its output, of which it deletes so many chunks at most. whole is false if it has more.
func expireRun(ctx context.Context, tx *sql.Tx, r stored, chunks *int, piece *runlog.Expired) (whole bool, err error) {
	lengths, err := collect(ctx, tx, deleteChunks, []any{r.id, *chunks}, func(rows *sql.Rows) (n int64, err error) {
		return n, rows.Scan(&n)
	})
	if err != nil {
		return false, err
	}
	for _, n := range lengths {
		piece.Bytes += n
	}
	piece.Chunks += len(lengths)
	if *chunks -= len(lengths); *chunks == 0 {
		return false, nil
	}
	for _, d := range []struct {
		text string
		args []any
	}{
		{"DELETE FROM late WHERE run = ?", []any{r.id}},
		{deleteUsage, []any{r.id}},
		{"DELETE FROM docs WHERE n = ?", []any{r.n}},
		{"DELETE FROM runs WHERE planned = ? AND id = ?", []any{r.planned, r.id}},
		{noteExpired, []any{r.job, r.planned}},
	} {
		if _, err := tx.ExecContext(ctx, d.text, d.args...); err != nil {
			return false, err
		}
	}
	piece.Runs++
	return true, nil
}
