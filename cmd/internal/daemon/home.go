package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"carillon/internal/common"
	"carillon/internal/executor"
)

// Home is a worker's data folder, locked while this process lives.
type Home struct {
	Dir  string
	Life common.Life
	lock *os.File
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
	return &Home{Dir: dir, lock: lock, Life: common.Life{Worker: id, Name: name, Life: common.NewID(),
		BootID: executor.BootID(), PIDNamespace: executor.PIDNamespace()}}, nil
}

// Close gives the folder free.
func (h *Home) Close() error { return h.lock.Close() }

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
