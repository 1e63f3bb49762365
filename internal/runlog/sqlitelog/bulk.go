package sqlitelog

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// bulkRows is how many rows one statement inserts: the cost of SQLite and the driver for each statement is
// then small compared to that for each row.
const bulkRows = 64

// bulk holds two statements that insert rows, many and one.
type bulk struct {
	many, one *sql.Stmt
	args      []any // reused; owned by the holder of the transaction
}

func prepareBulk(ctx context.Context, db *sql.DB, into string, columns int) (b *bulk, err error) {
	b = &bulk{}
	text := func(rows int) string {
		return into + " VALUES " + strings.TrimSuffix(strings.Repeat(marks(columns)+", ", rows), ", ")
	}
	if b.many, err = db.PrepareContext(ctx, text(bulkRows)); err == nil {
		b.one, err = db.PrepareContext(ctx, text(1))
	}
	return b, err
}

// each inserts so many rows, with the arguments that args appends for each of them. done is called for each
// statement, with its rows and how many of them were new.
func (b *bulk) each(ctx context.Context, tx *sql.Tx, rows int, args func(i int, args []any) []any,
	done func(from, to int, inserted int64) error) error {
	if rows == 0 {
		return nil
	}
	defer func() { clear(b.args[:cap(b.args)]) }()
	many, one := tx.StmtContext(ctx, b.many), tx.StmtContext(ctx, b.one)
	for from := 0; from < rows; {
		to, stmt := from+bulkRows, many
		if to > rows {
			to, stmt = from+1, one
		}
		b.args = b.args[:0]
		for i := from; i < to; i++ {
			b.args = args(i, b.args)
		}
		result, err := stmt.ExecContext(ctx, b.args...)
		if err != nil {
			return err
		}
		if done != nil {
			inserted, err := result.RowsAffected()
			if err == nil {
				err = done(from, to, inserted)
			}
			if err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

func (b *bulk) close() error {
	var errs []error
	for _, stmt := range []*sql.Stmt{b.many, b.one} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(errs...)
}
