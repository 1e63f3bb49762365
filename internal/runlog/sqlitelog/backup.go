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

// Backup writes a copy of the run log as it is at one moment to a file that does not
// exist yet, with mode 0600. Others go on reading and writing meanwhile. A file that exists
// is common.CodeConflict. When it fails there is no file.
func (s *Store) Backup(ctx context.Context, path string) error {
	var from string
	if err := s.reader.QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&from); err != nil {
		return s.failed(ctx, "find the file of the run log", err)
	}
	return BackupFile(ctx, from, path)
}

// BackupFile does the same for a run log that may be open in another process, of whatever
// version: nothing in it is brought up to date.
func BackupFile(ctx context.Context, from, to string) error {
	if err := backup(ctx, from, to); err != nil {
		return fmt.Errorf("back up the run log %q: %w", from, failure(ctx, err))
	}
	return nil
}

func backup(ctx context.Context, from, to string) (err error) {
	if from, err = filepath.Abs(from); err != nil {
		return err
	}
	if to, err = filepath.Abs(to); err != nil {
		return err
	}
	// Not opened here: that would let go of the locks that this process may have on it.
	if _, err := os.Stat(from); err != nil {
		return &common.Error{Code: common.CodeNotFound, Message: "there is no run log to back up", Err: err}
	}
	copied, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		code := common.CodeUnavailable
		if errors.Is(err, fs.ErrExist) {
			code = common.CodeConflict
		}
		return &common.Error{Code: code, Message: "the backup cannot be written: " + err.Error(), Hint: "name a file that does not exist, in a folder that does", Err: err}
	}
	defer func() {
		if err = errors.Join(err, copied.Close()); err != nil {
			err = errors.Join(err, os.Remove(to))
		}
	}()
	db, err := connect(from, 1, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(10000)"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return err
	}
	if err := copied.Sync(); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
