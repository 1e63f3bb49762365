package sqlitelog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"carillon/internal/common"
)

// Contents describes the contents of a file.
type Contents struct {
	Schema int // the version of its schema
	Runs   int64
	Newest time.Time // PlannedAt of the newest run; zero if there is none
}

// Examine reads a run log that is not open, such as a backup, without changing anything. It returns an error
// for a file that is damaged, or no run log.
func Examine(ctx context.Context, path string) (Contents, error) {
	c, err := examine(ctx, path)
	if err != nil {
		return Contents{}, fmt.Errorf("examine the run log %q: %w", path, failure(ctx, err))
	}
	return c, nil
}

func examine(ctx context.Context, path string) (c Contents, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return c, err
	}
	db, err := connect(path, 1, url.Values{"immutable": {"1"}, "mode": {"ro"}})
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return c, err
	}
	if verdict != "ok" {
		return c, &common.Error{Code: common.CodeUnavailable, Message: "the run log is damaged: " + verdict}
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&c.Schema); err != nil {
		return c, err
	}
	var newest sql.NullInt64
	if err := db.QueryRowContext(ctx, "SELECT count(*), max(planned) FROM runs").Scan(&c.Runs, &newest); err != nil {
		return c, err
	}
	if newest.Valid {
		c.Newest = time.Unix(0, newest.Int64)
	}
	return c, nil
}
