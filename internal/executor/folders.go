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

// folders provides the private folders of runs, each empty and with mode 0700. Creating and removing one on disk costs
// about as much as running a short command, so a folder that a run left unchanged is kept for a later run.
type folders struct {
	path string
	root *os.Root

	mu   sync.Mutex
	idle []folder // unchanged, at most maxIdle; guarded by mu
	made uint64   // guarded by mu
}

// maxIdle is the maximum number of folders that are kept between runs.
const maxIdle = 1024

// settling is longer than the tick of the kernel's clock.
const settling = 100 * time.Millisecond

type folder struct {
	name, path string
	inode      uint64
	mode       uint32
	changed    syscall.Timespec // its ctime at its creation
	since      time.Time        // when it was created
	settled    bool             // the kernel's clock had advanced between its creation and its use
}

func openFolders(path string) (*folders, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("create folder for runs: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open folder for runs: %w", err)
	}
	return &folders{path: path, root: root}, nil
}

// take returns a folder that no other run uses.
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
	if errors.Is(err, os.ErrExist) { // from an earlier incarnation
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

// giveBack releases the folder of a run that is over. It removes the folder and its contents, unless clean reports that
// no process of the run was left and the folder is unchanged.
func (f *folders) giveBack(d folder, clean bool) error {
	if clean && d.untouched() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.idle) < maxIdle {
			f.idle = append(f.idle, d)
			return nil
		}
	}
	if f.root.Remove(d.name) == nil { // half the cost, and most folders are empty
		return nil
	}
	return f.root.RemoveAll(d.name)
}

// untouched reports whether the folder and its contents are unchanged. It compares the ctime, which no program can set;
// since some kernels count it in ticks of a few milliseconds, a folder that was created shortly before its use is also
// checked for entries.
func (d *folder) untouched() bool {
	var stat syscall.Stat_t
	err := syscall.Lstat(d.path, &stat)
	if err != nil || stat.Ino != d.inode || stat.Ctim != d.changed || stat.Mode != d.mode {
		return false
	}
	return d.settled || d.empty()
}

func (d *folder) empty() bool {
	fd, err := unix.Open(d.path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }() // only read
	var buf [512]byte                     // has room for the entries "." and ".." and a third
	n, err := unix.ReadDirent(fd, buf[:])
	if err != nil {
		return false
	}
	_, entries, _ := unix.ParseDirent(buf[:n], 1, nil)
	return entries == 0
}

// close removes the idle folders.
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
