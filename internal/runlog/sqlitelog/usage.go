package sqlitelog

import (
	"context"
	"database/sql"
	"errors"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

const (
	putUsage = `INSERT INTO usage (run, at, data) VALUES (?, ?, ?)
ON CONFLICT (run) DO UPDATE SET at = excluded.at, data = excluded.data WHERE excluded.at > usage.at`
	selectUsage = "SELECT data FROM usage WHERE run = ?"
	deleteUsage = "DELETE FROM usage WHERE run = ?"
)

// writeUsage stores samples, unless later ones of the same run are stored.
func writeUsage(ctx context.Context, tx *sql.Tx, all []common.Usage) error {
	for i := range all {
		u := &all[i]
		if _, err := tx.ExecContext(ctx, putUsage, u.Run, entry.Nanos(u.Until()), entry.EncodeUsage(u)); err != nil {
			return err
		}
	}
	return nil
}

// Usage returns the samples of a run.
func (s *Store) Usage(ctx context.Context, run string) (common.Usage, error) {
	var data []byte
	err := s.reader.QueryRowContext(ctx, selectUsage, run).Scan(&data)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return common.Usage{Run: run}, nil
	case err != nil:
		return common.Usage{}, s.failed(ctx, "read samples", err)
	}
	return entry.DecodeUsage(run, data)
}

const selectUsages = "SELECT rowid, run, at FROM usage WHERE rowid > ? ORDER BY rowid LIMIT ?"

// expireUsage deletes samples without a run, as expireOrphans deletes output.
func (s *Store) expireUsage(ctx context.Context, t *runlog.Tidy, done *runlog.Tidied) error {
	return s.expireStrays(ctx, t, done, strays{counter: "checked_usage", table: "usage", list: selectUsages})
}
