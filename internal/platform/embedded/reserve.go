package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/storage/wal"
	"golang.org/x/sys/unix"
)

// etcd ends the process if it cannot write. So what it will write next is allocated on the disk beforehand, where no
// other process can take it: the next files of its log, and the growth of its database. Claims, output and saves stop
// long before, while 64 MiB are free; what is written then is little, and the reserve lasts for hours.
const (
	// segmentSize is the size of a file of the log. With the 64 MB of etcd's default three of them would take most of a
	// small disk.
	segmentSize = 16 << 20
	// growth is how much more than its size the database has on the disk. It grows by 16 MiB.
	growth = 20 << 20
	// etcd notes in a small file with a new name what it has applied, every snapshotEvery entries. For these files
	// there is a ballast, of which a slice is given up each time that less than a slice is free.
	ballast = 1 << 20
	slice   = 64 << 10

	reserveEvery = 100 * time.Millisecond
)

// tempFiles are the names under which etcd allocates the next file of its log, in turn. It takes over an existing one.
var tempFiles = [...]string{"0.tmp", "1.tmp"}

// etcd reads the size without synchronization, so it is set once, before any server of this process runs.
var segment = func(size int64) int64 { wal.SegmentSizeBytes = size; return size }(segmentSize)

// reserve keeps room for etcd.
type reserve struct {
	dir string // of the member
	log *slog.Logger

	short bool // at the last call of keep, a part could not be allocated
}

func newReserve(dir string, log *slog.Logger) *reserve {
	return &reserve{dir: filepath.Join(dir, "data", "member"), log: log}
}

// begin prepares the files of an earlier process, before etcd starts: it takes the first temporary file first. A file
// that a crash left with contents is removed, since etcd would write over only a part of them.
func (r *reserve) begin() error {
	first, second := r.temp(0), r.temp(1)
	for _, path := range []string{first, second} {
		used, err := hasContents(path)
		if err != nil {
			return err
		}
		if used {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	err := unix.Renameat2(unix.AT_FDCWD, second, unix.AT_FDCWD, first, unix.RENAME_NOREPLACE)
	if err != nil && !errors.Is(err, unix.EEXIST) && !errors.Is(err, fs.ErrNotExist) && !unsupported(err) {
		return &os.PathError{Op: "rename", Path: second, Err: err}
	}
	return nil
}

func (r *reserve) temp(i int) string { return filepath.Join(r.dir, "wal", tempFiles[i]) }

// hasContents reports whether a file begins with something else than zeros.
func hasContents(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	for _, b := range head[:n] {
		if b != 0 {
			return true, nil
		}
	}
	return false, nil
}

// run keeps the reserve until the context ends.
func (r *reserve) run(ctx context.Context) {
	tick := time.NewTicker(reserveEvery)
	defer tick.Stop()
	for {
		err := r.keep()
		switch {
		case unsupported(err):
			r.log.Warn("etcd_reserve_impossible", "folder", r.dir, "error", err)
			return
		case err != nil && !r.short:
			r.log.Warn("etcd_uses_its_reserve", "folder", r.dir, "error", err)
		case err == nil && r.short:
			r.log.Info("etcd_has_its_reserve_again", "folder", r.dir)
		}
		r.short = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// unsupported reports whether an error means that the file system cannot allocate, whatever is free.
func unsupported(err error) bool {
	return errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL)
}

// keep allocates what is missing of the reserve, and keeps some room for files that cannot be allocated beforehand.
func (r *reserve) keep() error {
	all := r.keepRoom()
	for i := range tempFiles {
		all = errors.Join(all, allocate(r.temp(i), segment, unix.FALLOC_FL_KEEP_SIZE))
	}
	return errors.Join(all, r.keepDatabase())
}

// keepRoom gives up a slice of the ballast if nearly nothing is free, and restores it when there is room.
func (r *reserve) keepRoom() error {
	var disk unix.Statfs_t
	if err := unix.Statfs(r.dir, &disk); err != nil {
		return err
	}
	path, free := filepath.Join(r.dir, "reserve"), disk.Bavail*uint64(disk.Bsize)
	info, err := os.Stat(path)
	switch {
	case free >= 2*ballast:
		return allocate(path, ballast, 0)
	case err != nil || info.Size() == 0 || free >= slice:
		return err
	}
	return os.Truncate(path, max(0, info.Size()-slice))
}

// allocate creates a file of zeros with a size, or allocates what an existing one lacks of it. A new one has its name
// once all of it is on the disk. With FALLOC_FL_KEEP_SIZE the size of an existing one stays, since it may be in use
// by now.
func allocate(path string, size int64, mode uint32) error {
	err := extend(path, size, mode)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	part := filepath.Join(filepath.Dir(path), "reserve.new")
	file, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(unix.Fallocate(int(file.Fd()), 0, 0, size), file.Close())
	if err == nil {
		err = unix.Renameat2(unix.AT_FDCWD, part, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EEXIST): // etcd was faster
		return os.Remove(part)
	}
	return errors.Join(fmt.Errorf("allocate %s: %w", path, err), os.Remove(part))
}

// extend allocates what an existing file lacks of a size.
func extend(path string, size int64, mode uint32) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Blocks*512 >= size {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Fallocate(int(file.Fd()), mode, 0, size), file.Close()); err != nil {
		return fmt.Errorf("allocate %s: %w", path, err)
	}
	return nil
}

// keepDatabase fills the holes of the database, and allocates its growth.
func (r *reserve) keepDatabase() error {
	path := filepath.Join(r.dir, "snap", "db")
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return extend(path, info.Size()+growth, unix.FALLOC_FL_KEEP_SIZE)
}
