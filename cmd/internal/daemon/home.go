package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"carillon/internal/common"
	"carillon/internal/executor"
)

// Home is a worker's data folder, locked while this process lives, as is the
// worker's id on this machine.
type Home struct {
	Dir  string
	Life common.Life
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

// Close gives folder and id free.
func (h *Home) Close() error { return errors.Join(h.id.Close(), h.lock.Close()) }

// claimID keeps the worker's id for this process: a copy of a data folder has the
// same id and another lock, and a worker that started on it would end the commands
// of the living one as leftovers. The name of an abstract socket is taken until its
// process has ended, however it ends; nobody is ever spoken to through it.
func claimID(id string) (net.Listener, error) {
	l, err := net.Listen("unix", "@carillon-worker-"+id)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("worker %s lives on this machine already, on a data folder of which this may be a copy: %w", id, ErrHomeInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("keep the worker's id: %w", err)
	}
	return l, nil
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
