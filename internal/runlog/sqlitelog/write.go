package sqlitelog

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

const (
	insertChange = `INSERT INTO changes (id, kind, name, verb, actor, at, doc, before, after, seq, previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`
	insertLate = `INSERT INTO late (run, doc) VALUES (?, ?) ON CONFLICT DO NOTHING`
)

// Write stores the batch in one transaction. Existing entries stay as they are. For an invalid batch it
// returns common.CodeInvalid and stores nothing.
func (s *Store) Write(ctx context.Context, b runlog.Batch) error {
	if b.Empty() {
		return nil
	}
	if err := entry.Check(&b); err != nil {
		return err
	}
	rows, err := rowsOf(b.Runs)
	if err != nil {
		return err
	}
	if err := s.write(ctx, &b, rows); err != nil {
		return s.failed(ctx, "write to the run log", err)
	}
	return nil
}

// row is a run as it is stored.
type row struct {
	planned int64
	run     *common.Run
	doc     string
	named   bool
	n       int64
	job     int64
	worker  int64
	args    [5]any // group, status, cause, exit, flow
}

// rowsOf returns runs in the order in which they are stored. Of two with the same id the first stays first.
func rowsOf(runs []common.Run) ([]row, error) {
	rows := make([]row, 0, len(runs))
	seen := make(map[string]bool, len(runs))
	for i := range runs {
		r := &runs[i]
		if seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		doc, err := entry.EncodeRun(r)
		if err != nil {
			return nil, err
		}
		planned := entry.Nanos(r.PlannedAt)
		inID, ok := timed(r.ID)
		rows = append(rows, row{planned: planned, run: r, doc: doc, named: !ok || inID != planned})
	}
	slices.SortFunc(rows, func(a, b row) int {
		if c := cmp.Compare(a.planned, b.planned); c != 0 {
			return c
		}
		return cmp.Compare(a.run.ID, b.run.ID)
	})
	return rows, nil
}

func (s *Store) write(ctx context.Context, b *runlog.Batch, rows []row) error {
	var fresh []row
	return s.exclusive(ctx, func(tx *sql.Tx) error {
		if err := s.settle(ctx, tx, false); err != nil {
			return err
		}
		err := s.chunks.each(ctx, tx, len(b.Chunks), func(i int, args []any) []any {
			c := &b.Chunks[i]
			data := c.Data
			if data == nil {
				data = []byte{}
			}
			return append(args, c.Run, c.Offset, string(c.Stream), c.End(), entry.Nanos(c.At), c.Missing, data)
		}, nil)
		if err != nil {
			return err
		}
		if fresh, err = s.writeRuns(ctx, tx, rows); err != nil {
			return err
		}
		for i := range b.Changes {
			c := &b.Changes[i]
			doc, err := entry.EncodeChange(c)
			if err != nil {
				return err
			}
			args := []any{c.ID, c.Kind, c.Name, c.Verb, c.Actor.Name, entry.Nanos(c.At), doc, side(c.Before),
				side(c.After), nil, nil, nil}
			if l := c.Link; l != nil {
				args = append(args[:9], l.Seq, l.Previous, l.Hash)
			}
			if _, err := tx.ExecContext(ctx, insertChange, args...); err != nil {
				return err
			}
		}
		for i := range b.Late {
			l := &b.Late[i]
			doc, err := entry.EncodeLate(l)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, insertLate, l.Run, doc); err != nil {
				return err
			}
		}
		return writeUsage(ctx, tx, b.Usage)
	}, func() { s.count(fresh) })
}

// writeRuns stores the new runs, and returns them.
func (s *Store) writeRuns(ctx context.Context, tx *sql.Tx, rows []row) (fresh []row, err error) {
	rows, err = s.unclaimed(ctx, tx, rows)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	for i := range rows {
		if err := s.number(ctx, tx, &rows[i]); err != nil {
			return nil, err
		}
	}
	err = s.runs.each(ctx, tx, len(rows), func(i int, args []any) []any {
		r := &rows[i]
		return append(args, r.planned, r.run.ID, r.n, r.named, r.job, r.args[0], r.args[1], r.worker, r.args[2],
			r.args[3], r.run.JobUID, r.args[4])
	}, func(from, to int, inserted int64) error {
		if inserted == int64(to-from) {
			fresh = append(fresh, rows[from:to]...)
			return nil
		}
		for _, r := range rows[from:to] {
			var mine bool
			if err := tx.QueryRowContext(ctx,
				"SELECT EXISTS (SELECT 1 FROM runs WHERE planned = ? AND id = ? AND n = ?)",
				r.planned, r.run.ID, r.n).Scan(&mine); err != nil {
				return err
			}
			if mine {
				fresh = append(fresh, r)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return fresh, s.docs.each(ctx, tx, len(fresh), func(i int, args []any) []any {
		return append(args, fresh[i].n, fresh[i].doc)
	}, nil)
}

// number assigns a row the numbers of its names, and its own.
func (s *Store) number(ctx context.Context, tx *sql.Tx, r *row) error {
	var of [5]int64
	for i, name := range [...]string{r.run.Job, r.run.Worker, r.run.Group, string(r.run.Status), string(r.run.Cause)} {
		n, err := s.names.of(ctx, tx, name)
		if err != nil {
			return err
		}
		of[i] = n
	}
	r.job, r.worker = of[0], of[1]
	r.args = [5]any{of[2], of[3], of[4], nil, nil}
	if r.run.ExitCode != nil {
		r.args[3] = int64(*r.run.ExitCode)
	}
	if r.run.Flow != nil {
		r.args[4] = r.run.Flow.Run
	}
	s.last++
	r.n = s.last
	return nil
}

// unclaimed removes duplicates that no index would detect: a run whose id contains another time than its
// planned time, and that was stored with that time, or the other way round. No version creates such ids;
// without any in the file there is nothing to do.
func (s *Store) unclaimed(ctx context.Context, tx *sql.Tx, rows []row) ([]row, error) {
	stray := func(r row) bool { _, ok := timed(r.run.ID); return ok && r.named }
	if !s.strays {
		if !slices.ContainsFunc(rows, stray) {
			return rows, nil
		}
		if err := setCounter(ctx, tx, "strays", 1); err != nil {
			return nil, err
		}
		s.strays = true
	}
	var kept []row
	for _, r := range rows {
		var taken bool
		inID, ok := timed(r.run.ID)
		if ok {
			if err := tx.QueryRowContext(ctx, "SELECT EXISTS ("+selectPlace+") OR EXISTS ("+selectNamed+")", inID,
				r.run.ID, r.run.ID).Scan(&taken); err != nil {
				return nil, err
			}
		}
		if !taken {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// side returns one value of a change for the driver, which needs an untyped nil for NULL.
func side(data []byte) any {
	if len(data) == 0 {
		return nil
	}
	return data
}
