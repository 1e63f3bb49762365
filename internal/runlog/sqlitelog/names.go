package sqlitelog

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
)

// Numbers of names that conditions of the schema contain.
const (
	noName    = 0 // the empty name; of a job in roll-ups: all of them
	succeeded = 1
)

// maxNames is how many names are cached.
const maxNames = 50_000

// numbers caches the numbers of names for the writer.
type numbers struct {
	known map[string]int64
	next  int64 // 0: unknown
}

// forget discards the cache after a failed transaction, which may have inserted names.
func (d *numbers) forget() { d.known, d.next = map[string]int64{}, 0 }

// of returns the number of a name, and inserts a new one.
func (d *numbers) of(ctx context.Context, tx *sql.Tx, name string) (int64, error) {
	if n, ok := d.known[name]; ok {
		return n, nil
	}
	if len(d.known) >= maxNames {
		clear(d.known)
	}
	var n int64
	err := tx.QueryRowContext(ctx, "SELECT id FROM names WHERE name = ?", name).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		if d.next == 0 {
			if err := tx.QueryRowContext(ctx, "SELECT max(id) + 1 FROM names").Scan(&d.next); err != nil {
				return 0, err
			}
		}
		n = d.next
		if _, err = tx.ExecContext(ctx, "INSERT INTO names (id, name) VALUES (?, ?)", n, name); err == nil {
			d.next++
		}
	}
	if err != nil {
		return 0, err
	}
	d.known[name] = n
	return n, nil
}

// timed returns the planned time in a run's id: the text after the first dot, if it is 20 digits and another
// dot.
func timed(id string) (planned int64, ok bool) {
	_, rest, _ := strings.Cut(id, ".")
	if len(rest) <= 20 || rest[20] != '.' {
		return 0, false
	}
	n, err := strconv.ParseUint(rest[:20], 10, 63)
	return int64(n), err == nil
}
