// Package sqlitelog keeps the run log in one SQLite file.
//
// It promises what the ports of package runlog promise. A batch is one transaction, so all of it is stored or
// nothing, and it is synced to the disk (WAL, synchronous=FULL) before Write returns. Any number of
// goroutines may use a Store: writes wait for the single write connection, reads have connections of their
// own and do not wait.
//
// Runs are counted in roll-ups when they are stored; the newest counts are in memory only, and are counted
// again from the file at the next start (see books).
//
// A Store has one goroutine, which ends with it: it copies the WAL into the file (see checkpointer). The file
// belongs to one user (mode 0600) and must be on a local disk.
package sqlitelog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

var _ interface {
	runlog.Writer
	runlog.Reader
	runlog.Statistics
	runlog.Upkeep
	runlog.Usages
} = (*Store)(nil)

// readers is how many reads run at the same time; others wait.
const readers = 8

// Store is an open run log.
type Store struct {
	writer *sql.DB // one connection
	reader *sql.DB
	closed atomic.Bool
	bounds bounds

	// turn is held by the writer, which owns the fields below.
	turn               chan struct{}
	chunks, runs, docs *bulk
	names              numbers
	last               int64 // the highest number of a document so far
	strays             bool  // see unclaimed
	stale              bool  // the memory may differ from the file
	version            int64 // of the file when it was read

	pending pending
	wal     *checkpointer
}

// Open opens or creates the file, and migrates its schema. A file with a newer schema is refused with
// common.CodeConflict; one that cannot be opened is common.CodeUnavailable.
func Open(ctx context.Context, path string) (*Store, error) {
	return OpenLogged(ctx, path, slog.New(slog.DiscardHandler))
}

// OpenLogged is Open with a log of the migration of the schema, which takes minutes for many runs.
func OpenLogged(ctx context.Context, path string, log *slog.Logger) (*Store, error) {
	s, err := open(ctx, path, log)
	if err != nil {
		return nil, fmt.Errorf("open the run log %q: %w", path, failure(ctx, err))
	}
	return s, nil
}

func open(ctx context.Context, path string, log *slog.Logger) (_ *Store, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := restrict(path); err != nil {
		return nil, &common.Error{
			Code:    common.CodeUnavailable,
			Message: "the file of the run log cannot be opened",
			Err:     err,
		}
	}
	s := &Store{turn: make(chan struct{}, 1), stale: true, bounds: defaultBounds()}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	// auto_vacuum must be set before the first write; it returns pages that retention frees to the disk
	// without rewriting the file. The cache (KiB) is to hold the pages at which the indexes grow. A writer
	// copies the WAL into the file only if the checkpointer cannot.
	s.writer, err = connect(path, 1, url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(10000)", "auto_vacuum(incremental)",
			"journal_mode(WAL)", "synchronous(FULL)", "journal_size_limit(67108864)", "cache_size(-32768)",
			"wal_autocheckpoint(32000)"},
	})
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	was, err := migrate(ctx, s.writer, func() (room, error) { return roomOf(path) }, log)
	if err != nil {
		return nil, err
	}
	s.reader, err = connect(path, readers, url.Values{"_pragma": {"busy_timeout(10000)", "query_only(1)"}})
	if err != nil {
		return nil, err
	}
	// Statements of several rows must not be ones that SQLite may have to undo separately: it would copy each
	// page before it changes it. A row that cannot be stored ends the transaction.
	for _, p := range []struct {
		to      **bulk
		text    string
		columns int
	}{
		{&s.chunks, "INSERT OR IGNORE INTO chunks (run, off, stream, ends, at, missing, data)", 7},
		{&s.runs, "INSERT OR IGNORE INTO runs (planned, id, n, named, job, grp, status, worker, cause, exit, uid, " +
			"flow)", 12},
		{&s.docs, "INSERT OR ROLLBACK INTO docs (n, doc)", 2},
	} {
		if *p.to, err = prepareBulk(ctx, s.writer, p.text, p.columns); err != nil {
			return nil, err
		}
	}
	wal, err := connect(path, 1, url.Values{"_pragma": {"synchronous(FULL)", "journal_size_limit(67108864)"}})
	if err != nil {
		return nil, err
	}
	s.wal = newCheckpointer(wal, s.turn)
	if err := s.exclusive(ctx, func(*sql.Tx) error { return nil }); err != nil { // which loads the memory
		return nil, err
	}
	if was > 0 && was < len(steps()) {
		log.Info("run_log_migrated", "from", was, "to", len(steps()), "took", time.Since(begun))
	}
	return s, s.reader.PingContext(ctx)
}

// exclusive executes a write transaction, one at a time; after is called when it is committed.
func (s *Store) exclusive(ctx context.Context, do func(tx *sql.Tx) error, after ...func()) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo after the commit
	last := s.last
	if err := do(tx); err != nil {
		s.last = last
		s.names.forget()
		s.pending.keep()
		return err
	}
	if err := tx.Commit(); err != nil {
		s.stale = true
		return err
	}
	s.pending.settled()
	for _, f := range after {
		f()
	}
	s.wal.wake(context.WithoutCancel(ctx), s.writer)
	return nil
}

// begin begins a write transaction, with the memory in agreement with the file, even if another process has
// written to it.
func (s *Store) begin(ctx context.Context) (*sql.Tx, error) {
	for {
		if s.stale {
			if err := s.reload(ctx); err != nil {
				return nil, err
			}
		}
		tx, err := s.writer.BeginTx(ctx, nil)
		if err != nil {
			return nil, err
		}
		version, err := versionOf(ctx, tx)
		if err == nil && version == s.version {
			return tx, nil
		}
		s.stale = true
		if err := errors.Join(err, tx.Rollback()); err != nil {
			return nil, err
		}
	}
}

// versionOf returns a number that a commit of another connection changes.
func versionOf(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}) (n int64, err error) {
	return n, db.QueryRowContext(ctx, "PRAGMA data_version").Scan(&n)
}

// restrict creates the file, or removes the permissions of other users. SQLite gives the files beside it
// (WAL, shared memory) the same mode.
func restrict(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// roomOf reads the state of the disk of a file.
func roomOf(path string) (r room, err error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(path, &disk); err != nil {
		return r, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return r, err
	}
	return room{size: info.Size(), free: int64(disk.Bavail) * disk.Bsize}, nil
}

func connect(path string, connections int, options url.Values) (*sql.DB, error) {
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Ping reports whether the store answers; if not, the error is common.CodeUnavailable.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	if err := s.reader.QueryRowContext(ctx, "SELECT 1 FROM sqlite_schema LIMIT 1").Scan(&one); err != nil {
		return s.failed(ctx, "ping the run log", err)
	}
	return nil
}

// Close closes the store. All writes are on the disk already.
func (s *Store) Close() error {
	s.closed.Store(true)
	var errs []error
	if s.wal != nil {
		errs = append(errs, s.wal.close())
	}
	for _, b := range []*bulk{s.chunks, s.runs, s.docs} {
		if b != nil {
			errs = append(errs, b.close())
		}
	}
	// The writer is closed last, so that it copies the WAL into the file.
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

// failed wraps an error with the operation that failed.
func (s *Store) failed(ctx context.Context, doing string, err error) error {
	if s.closed.Load() {
		return &common.Error{
			Code:    common.CodeUnavailable,
			Reason:  "log_store_away",
			Message: "the run log is closed",
			Err:     err,
		}
	}
	return fmt.Errorf("%s: %w", doing, failure(ctx, err))
}

// failure gives an error of SQLite its code for callers: errors of disk, locks and time are temporary, so
// they are common.CodeUnavailable.
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
		return &common.Error{
			Code:    common.CodeUnavailable,
			Reason:  "log_store_away",
			Message: "the run log does not answer",
			Err:     err,
		}
	}
	return err
}
