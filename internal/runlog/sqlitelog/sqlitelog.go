// Package sqlitelog keeps the run log in one SQLite file.
//
// It promises what the ports of package runlog promise. A batch is one
// transaction, so all of it is stored or nothing, and it is synced to the disk
// (WAL, synchronous=FULL) before Write returns. Any number of goroutines may use
// a Store: writes wait for the one connection that writes, reads have connections
// of their own and wait for nobody.
//
// It starts no goroutine. The file belongs to one user (mode 0600) and must be on
// a local disk.
package sqlitelog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

var _ interface {
	runlog.Writer
	runlog.Reader
} = (*Store)(nil)

// readers is how many reads run at the same time; more wait.
const readers = 8

// Store is an open run log.
type Store struct {
	writer *sql.DB // one connection
	reader *sql.DB
	insert inserts
	closed atomic.Bool
}

// inserts are the statements of Write, prepared once.
type inserts struct{ chunk, run, change *sql.Stmt }

// Open opens the file, makes it where there is none, and brings its schema up to
// date. A file with a newer schema is refused with common.CodeConflict; one that
// cannot be opened is common.CodeUnavailable.
func Open(ctx context.Context, path string) (*Store, error) {
	s, err := open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open the run log %q: %w", path, failure(ctx, err))
	}
	return s, nil
}

func open(ctx context.Context, path string) (_ *Store, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := restrict(path); err != nil {
		return nil, &common.Error{Code: common.CodeUnavailable, Message: "the file of the run log cannot be opened", Err: err}
	}
	s := &Store{}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	// auto_vacuum must come before anything is in the file; it lets pages that
	// retention frees go back to the disk without rewriting the file. The cache (KiB) is to
	// hold the pages that the indexes grow at, and those are to be copied from the WAL
	// into the file only after many batches: each is written anew by most of them.
	s.writer, err = connect(path, 1, "busy_timeout(10000)", "auto_vacuum(incremental)", "journal_mode(WAL)",
		"synchronous(FULL)", "journal_size_limit(67108864)", "cache_size(-32768)", "wal_autocheckpoint(8000)")
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, s.writer); err != nil {
		return nil, err
	}
	s.reader, err = connect(path, readers, "busy_timeout(10000)", "query_only(1)")
	if err != nil {
		return nil, err
	}
	for _, p := range []struct {
		into **sql.Stmt
		text string
	}{{&s.insert.chunk, insertChunk}, {&s.insert.run, insertRun}, {&s.insert.change, insertChange}} {
		if *p.into, err = s.writer.PrepareContext(ctx, p.text); err != nil {
			return nil, err
		}
	}
	return s, s.reader.PingContext(ctx)
}

// restrict makes the file, or takes it away from other users. SQLite gives the
// files beside it (WAL, shared memory) the same mode.
func restrict(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

func connect(path string, connections int, pragmas ...string) (*sql.DB, error) {
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Ping tells whether the store answers; if not, the error is common.CodeUnavailable.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	if err := s.reader.QueryRowContext(ctx, "SELECT 1 FROM sqlite_schema LIMIT 1").Scan(&one); err != nil {
		return s.failed(ctx, "ask the run log", err)
	}
	return nil
}

// Close ends the store. What was written is on the disk already.
func (s *Store) Close() error {
	s.closed.Store(true)
	var errs []error
	for _, stmt := range []*sql.Stmt{s.insert.chunk, s.insert.run, s.insert.change} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	// The writer goes last, so that it is the one to fold the WAL into the file.
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close the run log: %w", err)
	}
	return nil
}

// failed says what was being done when err came.
func (s *Store) failed(ctx context.Context, doing string, err error) error {
	if s.closed.Load() {
		return &common.Error{Code: common.CodeUnavailable, Message: "the run log is closed", Err: err}
	}
	return fmt.Errorf("%s: %w", doing, failure(ctx, err))
}

// failure gives an error of SQLite the code that it means to a caller: disk, lock
// and time troubles pass, so they are common.CodeUnavailable.
func failure(ctx context.Context, err error) error {
	if _, coded := errors.AsType[*common.Error](err); coded {
		return err
	}
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	unavailable := errors.Is(err, context.DeadlineExceeded)
	if e, ok := errors.AsType[*sqlite.Error](err); ok && !errors.Is(err, context.Canceled) {
		switch e.Code() & 0xff { // the low byte is the kind
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL,
			sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL:
			unavailable = true
		}
	}
	if unavailable {
		return &common.Error{Code: common.CodeUnavailable, Message: "the run log does not answer", Err: err}
	}
	return err
}
