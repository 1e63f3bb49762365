package sqlitelog

import (
	"context"
	"database/sql"
	"errors"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

// A run is found by the time in its id, and otherwise by name.
const (
	selectPlace  = "SELECT n FROM runs WHERE planned = ? AND id = ?"
	selectNamed  = "SELECT n FROM runs INDEXED BY runs_named WHERE id = ? AND named = 1"
	selectByTime = "SELECT doc FROM docs WHERE n = (" + selectPlace + ")"
	selectByName = "SELECT doc FROM docs WHERE n = (" + selectNamed + ")"
)

// Run returns the run with the id.
func (s *Store) Run(ctx context.Context, id string) (common.Run, error) {
	var doc string
	err := sql.ErrNoRows
	if planned, ok := timed(id); ok {
		err = s.reader.QueryRowContext(ctx, selectByTime, planned, id).Scan(&doc)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = s.reader.QueryRowContext(ctx, selectByName, id).Scan(&doc)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return common.Run{}, common.Errorf(common.CodeNotFound, "no run %q in the run log", common.Shorten(id))
	case err != nil:
		return common.Run{}, s.failed(ctx, "read a run", err)
	}
	run, err := entry.DecodeRun(doc)
	if err != nil {
		return common.Run{}, err
	}
	runs := []common.Run{run}
	if err := s.orphans(ctx, runs); err != nil {
		return common.Run{}, s.failed(ctx, "read the late end of a run", err)
	}
	return runs[0], nil
}

const selectLate = "SELECT doc FROM late WHERE run IN "

// orphans adds the late ends to lost runs.
func (s *Store) orphans(ctx context.Context, runs []common.Run) error {
	return entry.Orphans(runs, func(ids []string) ([]string, error) {
		args := make([]any, len(ids))
		for i, id := range ids {
			args[i] = id
		}
		return collect(ctx, s.reader, selectLate+marks(len(ids)), args, text)
	})
}

// Last returns the last runs of each job.
func (s *Store) Last(ctx context.Context, jobs []string, n int) (map[string][]common.Run, error) {
	last := make(map[string][]common.Run, len(jobs))
	for _, job := range jobs {
		found, err := s.Runs(ctx, runlog.Query{Job: job, Limit: n})
		if err != nil {
			return nil, err
		}
		if len(found.Runs) > 0 {
			last[job] = found.Runs
		}
	}
	return last, nil
}

// Chunks before the first place can only span the offset if they record missing bytes, since others are at
// most common.MaxChunk long; those have an index of their own. So the end of a long output is found without
// reading its beginning.
const listOutput = `
SELECT off, stream, at, missing, data FROM chunks WHERE run = ?1 AND missing > 0 AND off <= ?2 AND ends > ?3
UNION ALL
SELECT off, stream, at, missing, data FROM chunks WHERE run = ?1 AND off > ?2 AND ends > ?3
ORDER BY off, stream`

// Output returns the chunks of a run that end after offset, in order of offset.
func (s *Store) Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error) {
	chunks, err := s.output(ctx, run, offset, limit)
	if err != nil {
		return nil, s.failed(ctx, "read output", err)
	}
	return chunks, nil
}

func (s *Store) output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error) {
	offset = max(offset, -1)
	rows, err := s.reader.QueryContext(ctx, listOutput, run, offset-common.MaxChunk, offset)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its error is in rows.Err
	var chunks []common.Chunk
	budget := entry.Budget{Limit: limit}
	for rows.Next() {
		c := common.Chunk{Run: run}
		var stream string
		var at int64
		if err := rows.Scan(&c.Offset, &stream, &at, &c.Missing, &c.Data); err != nil {
			return nil, err
		}
		if !budget.Take(&c) {
			return chunks, nil
		}
		c.Stream, c.At, c.Data = common.Stream(stream), entry.Time(at), entry.Side(c.Data)
		chunks = append(chunks, c)
	}
	return chunks, rows.Err()
}

// Changes lists changes, the newest first.
func (s *Store) Changes(ctx context.Context, q runlog.ChangeQuery) ([]common.Change, error) {
	list, args := listChanges(&q)
	return s.listed(ctx, list, args...)
}

const (
	changeColumns = "doc, before, after, coalesce(seq, 0), coalesce(previous, ''), coalesce(hash, ''), id, kind, " +
		"name, verb, actor, at"
	selectSealed = "SELECT " + changeColumns +
		" FROM changes INDEXED BY changes_by_seq WHERE seq > ? ORDER BY seq LIMIT ?"
)

// Sealed lists changes by their position in the chain.
func (s *Store) Sealed(ctx context.Context, after int64, limit int) ([]common.Change, error) {
	return s.listed(ctx, selectSealed, max(after, 0), limit)
}

func (s *Store) listed(ctx context.Context, text string, args ...any) ([]common.Change, error) {
	changes, err := collect(ctx, s.reader, text, args, func(rows *sql.Rows) (common.Change, error) {
		var doc, previous, hash string
		var before, after []byte
		var seq int64
		var filed entry.Filed
		if err := rows.Scan(&doc, &before, &after, &seq, &previous, &hash, &filed.ID, &filed.Kind, &filed.Name,
			&filed.Verb, &filed.Actor, &filed.At); err != nil {
			return common.Change{}, err
		}
		return entry.DecodeSealed(doc, before, after, seq, previous, hash, filed)
	})
	if err != nil {
		return nil, s.failed(ctx, "list changes", err)
	}
	return changes, nil
}

// asker is a database, or a transaction.
type asker interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// text reads a row of one text.
func text(rows *sql.Rows) (s string, err error) { return s, rows.Scan(&s) }

func collect[T any](ctx context.Context, db asker, text string, args []any,
	read func(*sql.Rows) (T, error)) ([]T, error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its error is in rows.Err
	var all []T
	for rows.Next() {
		one, err := read(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
