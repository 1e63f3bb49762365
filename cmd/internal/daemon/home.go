package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/proctree"
)

// Home is a worker's data folder, locked while this process lives, as is the
// worker's id on this machine.
type Home struct {
	Dir  string
	Life common.Life
	Mark proctree.Mark // of this process and all that it starts; 0: none
	lock *os.File
	id   net.Listener
}

// ErrHomeInUse says that another process holds the data folder.
var ErrHomeInUse = errors.New("the data folder is in use by another process")

var idPattern = regexp.MustCompile(`^[a-z2-7]{16}$`)

// OpenHome locks the data folder, making it if need be, and begins a life of the
// worker whose id is kept in it.
func OpenHome(dir, name string) (*Home, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, ErrHomeInUse), lock.Close())
	}
	id, err := workerID(filepath.Join(dir, "worker.id"))
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	alone, err := claimID(id)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Home{Dir: dir, lock: lock, id: alone, Life: common.Life{Worker: id, Name: name, Life: common.NewID(),
		BootID: executor.BootID(), PIDNamespace: executor.PIDNamespace()}}, nil
}

// MarkProcess marks this process and all that it will start as this life's. Where that cannot be, what hides from a
// sweep may be missed, so that the runs of this life are not recovered at once.
func (h *Home) MarkProcess(log *slog.Logger) {
	mark, err := executor.MarkProcess(h.Life.Worker)
	if err != nil {
		log.Warn("processes_not_marked", "error", err)
	}
	h.Mark, h.Life.Marked = mark, mark != 0
}

// Close gives folder and id free.
func (h *Home) Close() error { return errors.Join(h.id.Close(), h.lock.Close()) }

// claimID keeps the worker's id for this process: a copy of a data folder has the
// same id and another lock, and a worker that started on it would end the commands
// of the living one as leftovers. The name of an abstract socket is taken until its
// process has ended, however it ends; nobody is ever spoken to through it.
//
// The kernel keeps such names apart by network namespace, and processes by another,
// so the socket is looked for wherever a process lives that can be seen from here:
// what cannot be seen cannot be taken for a leftover either. Two that start at the
// same moment may both give up.
func claimID(id string) (net.Listener, error) {
	name := "@carillon-worker-" + id
	l, err := net.Listen("unix", name)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, twin(id, "on this machine")
	}
	if err != nil {
		return nil, fmt.Errorf("keep the worker's id: %w", err)
	}
	elsewhere, err := takenElsewhere(name)
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("look for another life of this worker: %w", err), l.Close())
	case elsewhere:
		return nil, errors.Join(twin(id, "on this machine, in another network namespace,"), l.Close())
	}
	return l, nil
}

func twin(id, where string) error {
	return fmt.Errorf("worker %s lives %s already, on a data folder of which this may be a copy: %w", id, where, ErrHomeInUse)
}

// takenElsewhere tells whether a process in another network namespace holds the name
// of an abstract socket. The list of sockets, unix(7), is readable by all, and it is
// the same file for all processes of a namespace.
func takenElsewhere(name string) (bool, error) {
	lists, err := filepath.Glob("/proc/[0-9]*/net/unix")
	if err != nil {
		return false, err
	}
	own, err := inode("/proc/self/net/unix")
	if err != nil {
		return false, err
	}
	looked := map[uint64]bool{own: true}
	for _, list := range lists {
		namespace, err := inode(list)
		if err != nil || looked[namespace] {
			continue // it has ended, or we know
		}
		data, err := os.ReadFile(list)
		if err != nil {
			continue // likewise; another process may show the same list
		}
		looked[namespace] = true
		for line := range strings.Lines(string(data)) {
			if fields := strings.Fields(line); len(fields) > 0 && fields[len(fields)-1] == name {
				return true, nil
			}
		}
	}
	return false, nil
}

func inode(path string) (uint64, error) {
	var stat syscall.Stat_t
	if err := syscall.Stat(path, &stat); err != nil {
		return 0, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return stat.Ino, nil
}

// WorkerID gives the id of the worker whose data folder this is, making folder and id if
// need be. The worker may live meanwhile.
func WorkerID(dir string) (string, error) {
	path := filepath.Join(dir, "worker.id")
	if _, err := os.Stat(path); err == nil {
		return workerID(path)
	}
	// What root made, the worker could not write.
	var folder syscall.Stat_t
	if err := syscall.Stat(dir, &folder); err == nil && int(folder.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s belongs to the user %d: make the worker's id as that user", dir, folder.Uid)
	}
	home, err := OpenHome(dir, "")
	if err != nil {
		return "", err
	}
	return home.Life.Worker, home.Close()
}

// workerID reads the id, or makes it at the first start.
func workerID(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		id := common.NewID()
		if err := os.WriteFile(path, []byte(id+"\n"), 0o600); err != nil {
			return "", fmt.Errorf("keep the worker's id: %w", err)
		}
		return id, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the worker's id: %w", err)
	}
	id := strings.TrimSpace(string(data))
	if !idPattern.MatchString(id) {
		return "", fmt.Errorf("%s does not hold a worker's id", path)
	}
	return id, nil
}
