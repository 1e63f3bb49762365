package sqlitelog

import (
	"context"
	"database/sql"
	"slices"

	"carillon/internal/runlog"
)

const (
	insertDefinition = "INSERT OR IGNORE INTO definitions (digest, part, data) VALUES (?, ?, ?)"
	selectDefinition = "SELECT data FROM definitions WHERE digest = ? ORDER BY part"
	selectDefined    = "SELECT digest FROM definitions WHERE part = 0 AND digest IN "
	definedAtOnce    = 500
)

// Define stores the parts of the body of a flow.
func (s *Store) Define(ctx context.Context, digest string, parts [][]byte) error {
	err := s.exclusive(ctx, func(tx *sql.Tx) error {
		for i, part := range parts {
			if _, err := tx.ExecContext(ctx, insertDefinition, digest, i, part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return s.failed(ctx, "store a definition", err)
	}
	return nil
}

// Definition returns the parts of the body of a flow.
func (s *Store) Definition(ctx context.Context, digest string) ([][]byte, error) {
	parts, err := collect(ctx, s.reader, selectDefinition, []any{digest}, func(rows *sql.Rows) ([]byte, error) {
		var part []byte
		err := rows.Scan(&part)
		return part, err
	})
	if err != nil {
		return nil, s.failed(ctx, "read a definition", err)
	}
	if len(parts) == 0 {
		return nil, runlog.NoDefinition(digest)
	}
	return parts, nil
}

// Defined returns which of the digests have a stored body.
func (s *Store) Defined(ctx context.Context, digests []string) (map[string]bool, error) {
	found := map[string]bool{}
	for part := range slices.Chunk(digests, definedAtOnce) {
		args := make([]any, len(part))
		for i, digest := range part {
			args[i] = digest
		}
		stored, err := collect(ctx, s.reader, selectDefined+marks(len(part)), args, text)
		if err != nil {
			return nil, s.failed(ctx, "look up definitions", err)
		}
		for _, digest := range stored {
			found[digest] = true
		}
	}
	return found, nil
}
