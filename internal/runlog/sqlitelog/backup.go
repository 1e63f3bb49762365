package sqlitelog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"carillon/internal/common"
)

// Backup writes a copy of the run log at one point in time to a file that does not exist yet, with mode 0600.
// Reads and writes continue meanwhile. The copy is written beside the file, and renamed when it is complete
// and was read back: if the process dies, it leaves a temporary file that blocks nothing. An existing file is
// common.CodeConflict. After an error there is no file.
func (s *Store) Backup(ctx context.Context, path string) error {
	var from string
	if err := s.reader.QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").
		Scan(&from); err != nil {
		return s.failed(ctx, "find the file of the run log", err)
	}
	_, err := BackupFile(ctx, from, path)
	return err
}

// BackupFile does the same for a run log that may be open in another process, of any version: its schema is
// not migrated. It returns what it copied.
func BackupFile(ctx context.Context, from, to string) (Contents, error) {
	c, err := backup(ctx, from, to)
	if err != nil {
		return Contents{}, fmt.Errorf("back up the run log %q: %w", from, failure(ctx, err))
	}
	return c, nil
}

func backup(ctx context.Context, from, to string) (c Contents, err error) {
	if from, err = filepath.Abs(from); err != nil {
		return c, err
	}
	if to, err = filepath.Abs(to); err != nil {
		return c, err
	}
	// Not opened here: closing it would release the locks that this process may have on it.
	if _, err := os.Stat(from); err != nil {
		return c, &common.Error{Code: common.CodeNotFound, Message: "there is no run log to back up", Err: err}
	}
	if err := absent(to); err != nil {
		return c, err
	}
	copied, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*.partial")
	if err != nil {
		return c, unwritten(err)
	}
	defer func() {
		err = errors.Join(err, copied.Close())
		if gone := os.Remove(copied.Name()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	if err := vacuumInto(ctx, from, copied.Name()); err != nil {
		return c, err
	}
	if err := copied.Sync(); err != nil {
		return c, unwritten(err)
	}
	if c, err = examine(ctx, copied.Name()); err != nil {
		return c, err
	}
	return c, name(copied.Name(), to)
}

func vacuumInto(ctx context.Context, from, to string) (err error) {
	db, err := connect(from, 1, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(10000)"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

// name gives a file another name, which must not exist. It links instead of renaming, which would replace a
// file that was created meanwhile, unless the file system has no links.
func name(file, to string) error {
	err := os.Link(file, to)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		if err := absent(to); err != nil {
			return err
		}
		err = os.Rename(file, to)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return taken(to)
	case err != nil:
		return unwritten(err)
	}
	if err := syncFolder(filepath.Dir(to)); err != nil {
		return errors.Join(unwritten(err), os.Remove(to))
	}
	return nil
}

// absent refuses an existing file.
func absent(file string) error {
	_, err := os.Lstat(file)
	switch {
	case err == nil:
		return taken(file)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return unwritten(err)
}

func taken(file string) error {
	return &common.Error{
		Code:    common.CodeConflict,
		Message: file + " exists, and a backup overwrites nothing",
		Hint:    "name a file that does not exist",
	}
}

func unwritten(err error) error {
	return &common.Error{
		Code:    common.CodeUnavailable,
		Message: "the backup cannot be written",
		Hint:    "name a file in a writable directory with free space",
		Err:     err,
	}
}

func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
