package sqlitelog

import (
	"context"

	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

const (
	insertChunk = `INSERT INTO chunks (run, off, stream, ends, at, missing, data) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`
	insertRun = `INSERT INTO runs (id, planned, job, job_uid, grp, status, worker, cause, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`
	insertChange = `INSERT INTO changes (id, kind, name, doc, before, after) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`
	insertLate = `INSERT INTO late (run, doc) VALUES (?, ?) ON CONFLICT DO NOTHING`
)

// Write stores the batch in one transaction. What is stored already stays as it
// is. A batch that cannot be kept is common.CodeInvalid, and nothing of it is stored.
func (s *Store) Write(ctx context.Context, b runlog.Batch) error {
	if b.Empty() {
		return nil
	}
	if err := entry.Check(&b); err != nil {
		return err
	}
	if err := s.write(ctx, &b); err != nil {
		return s.failed(ctx, "write to the run log", err)
	}
	return nil
}

func (s *Store) write(ctx context.Context, b *runlog.Batch) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo after the commit

	chunk := tx.StmtContext(ctx, s.insert.chunk)
	for i := range b.Chunks {
		c := &b.Chunks[i]
		data := c.Data
		if data == nil {
			data = []byte{}
		}
		if _, err := chunk.ExecContext(ctx, c.Run, c.Offset, string(c.Stream), c.End(), entry.Nanos(c.At), c.Missing, data); err != nil {
			return err
		}
	}
	run := tx.StmtContext(ctx, s.insert.run)
	for i := range b.Runs {
		r := &b.Runs[i]
		doc, err := entry.EncodeRun(r)
		if err != nil {
			return err
		}
		if _, err := run.ExecContext(ctx, r.ID, entry.Nanos(r.PlannedAt), r.Job, r.JobUID, r.Group, string(r.Status),
			r.Worker, string(r.Cause), doc); err != nil {
			return err
		}
	}
	change := tx.StmtContext(ctx, s.insert.change)
	for i := range b.Changes {
		c := &b.Changes[i]
		doc, err := entry.EncodeChange(c)
		if err != nil {
			return err
		}
		if _, err := change.ExecContext(ctx, c.ID, c.Kind, c.Name, doc, side(c.Before), side(c.After)); err != nil {
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
	return tx.Commit()
}

// side is one side of a change for the driver, which takes an untyped nil for NULL.
func side(data []byte) any {
	if len(data) == 0 {
		return nil
	}
	return data
}
