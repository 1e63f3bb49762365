package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// folders gives runs their private folders, each empty and with mode 0700. On a
// disk it costs about as much to make and remove one as to run a short command, so
// a folder that a run left untouched is kept for a later one.
type folders struct {
	path string
	root *os.Root

	mu   sync.Mutex
	idle []folder // untouched, at most maxIdle; guarded by mu
	made uint64   // guarded by mu
}

// maxIdle is how many folders are kept between runs.
const maxIdle = 1024

// settling is longer than a kernel's clock stands still between two ticks.
const settling = 100 * time.Millisecond

type folder struct {
	name, path string
	inode      uint64
	mode       uint32
	changed    syscall.Timespec // its ctime when it was made
	since      time.Time        // when that was
	settled    bool             // when it was taken, the kernel's clock had moved on since then
}

func openFolders(path string) (*folders, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make folder for runs: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open folder for runs: %w", err)
	}
	return &folders{path: path, root: root}, nil
}

// take gives a folder that is nobody else's.
func (f *folders) take() (folder, error) {
	f.mu.Lock()
	if last := len(f.idle) - 1; last >= 0 {
		d := f.idle[last]
		f.idle = f.idle[:last]
		f.mu.Unlock()
		d.settled = d.settled || time.Since(d.since) > settling
		return d, nil
	}
	f.made++
	d := folder{name: strconv.FormatUint(f.made, 10)}
	f.mu.Unlock()

	d.path = filepath.Join(f.path, d.name)
	err := f.root.Mkdir(d.name, 0o700)
	if errors.Is(err, os.ErrExist) { // an earlier life left it
		if err = f.root.RemoveAll(d.name); err == nil {
			err = f.root.Mkdir(d.name, 0o700)
		}
	}
	if err != nil {
		return folder{}, err
	}
	info, err := f.root.Lstat(d.name)
	if err != nil {
		return folder{}, errors.Join(err, f.root.Remove(d.name))
	}
	stat := info.Sys().(*syscall.Stat_t)
	d.inode, d.mode, d.changed, d.since = stat.Ino, stat.Mode, stat.Ctim, time.Now()
	return d, nil
}

// giveBack takes a folder back from a run that is over. It is removed, with all
// that is in it, unless clean says that nobody of the run was left and the folder
// is as it was.
func (f *folders) giveBack(d folder, clean bool) error {
	if clean && d.untouched() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.idle) < maxIdle {
			f.idle = append(f.idle, d)
			return nil
		}
	}
	if f.root.Remove(d.name) == nil { // half the price, and most are empty
		return nil
	}
	return f.root.RemoveAll(d.name)
}

// untouched tells whether nothing was made, removed or changed in the folder or on
// it. Its ctime, which no program can set, says so; but some kernels count it in
// ticks of a few milliseconds, so a folder that was just made is looked into as well.
func (d *folder) untouched() bool {
	var stat syscall.Stat_t
	if err := syscall.Lstat(d.path, &stat); err != nil || stat.Ino != d.inode || stat.Ctim != d.changed || stat.Mode != d.mode {
		return false
	}
	return d.settled || d.empty()
}

func (d *folder) empty() bool {
	fd, err := unix.Open(d.path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }() // only read from
	var buf [512]byte                     // has room for the folder's own two entries and a third
	n, err := unix.ReadDirent(fd, buf[:])
	if err != nil {
		return false
	}
	_, entries, _ := unix.ParseDirent(buf[:n], 1, nil)
	return entries == 0
}

// close removes the folders that are kept.
func (f *folders) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, d := range f.idle {
		errs = append(errs, f.root.RemoveAll(d.name))
	}
	f.idle = nil
	return errors.Join(append(errs, f.root.Close())...)
}
