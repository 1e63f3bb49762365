package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/proctree"
	"carillon/internal/platform/bootclock"
)

// Home is a worker's data folder. Folder and worker id are locked while this process lives.
type Home struct {
	Dir   string
	Life  common.Life
	Mark  proctree.Mark // mark of this process and its children; 0: none
	Swept bool          // no marked process of an earlier incarnation is left

	// Squatted reports that a process of another user holds the name by which a copy of this folder would be noticed.
	Squatted bool

	lock *os.File
	id   *claimedID
}

// ErrHomeInUse reports that another process holds the data folder.
var ErrHomeInUse = errors.New("the data folder is in use by another process")

var idPattern = regexp.MustCompile(`^[a-z2-7]{16}$`)

// OpenHome locks the data folder, which it creates if missing, and begins a life of the worker whose id it
// contains.
func OpenHome(dir, name string) (*Home, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create data folder: %w", err)
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
	claimed, err := claimID(id, os.Geteuid())
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Home{Dir: dir, lock: lock, id: claimed, Squatted: claimed.listener == nil,
		Life: common.Life{Worker: id, Name: name, Life: common.NewID(), BootID: bootclock.BootID(),
			PIDNamespace: PIDNamespace()}}, nil
}

const (
	homeWait  = 7 * time.Second // more than guardian.endAfterGuardian
	homeRetry = 50 * time.Millisecond
)

// awaitHome opens the data folder as soon as the process that holds it has ended.
func awaitHome(ctx context.Context, dir, name string, log *slog.Logger) (*Home, error) {
	deadline := time.NewTimer(homeWait)
	defer deadline.Stop()
	for first := true; ; first = false {
		h, err := OpenHome(dir, name)
		if !errors.Is(err, ErrHomeInUse) {
			return h, err
		}
		if first {
			log.Info("data_folder_in_use", "waits", homeWait)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-deadline.C:
			return nil, err
		case <-time.After(homeRetry):
		}
	}
}

// BeginLife opens the data folder, marks this process and all that it will start as belonging to this life, and kills
// and removes what an earlier life left. Without the mark a sweep may miss hidden processes, so that the runs of this
// life are not recovered at once. A data folder that is in use is awaited for as long as a worker may live after its
// guardian.
func BeginLife(ctx context.Context, dir, name string, log *slog.Logger) (*Home, error) {
	h, err := awaitHome(ctx, dir, name, log)
	if err != nil {
		return nil, err
	}
	if h.Squatted {
		log.Warn("worker_id_squatted", "socket", socketOf(h.Life.Worker), "hint",
			"a process of another user holds this name: find it with ss -xlp")
	}
	if h.Mark, err = MarkProcess(h.Life.Worker); err != nil {
		log.Warn("processes_not_marked", "error", err)
	}
	h.Life.Marked = h.Mark != 0
	if err := h.sweep(ctx, log); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// sweep kills processes that an earlier life of this worker left behind, and removes its folders.
func (h *Home) sweep(ctx context.Context, log *slog.Logger) error {
	swept, err := Sweep(ctx, h.Life.Worker, h.Life.Life)
	if err != nil {
		return fmt.Errorf("search for processes of an earlier life: %w", err)
	}
	if swept.Killed > 0 || swept.Left > 0 {
		log.Warn("leftovers_killed", "killed", swept.Killed, "left", swept.Left)
	}
	if swept.Doubtful > 0 {
		log.Warn("leftovers_possible", "processes", swept.Doubtful, "hint",
			"they changed RLIMIT_RTTIME: earlier runs are recovered after lostAfter")
	}
	h.Swept = swept.Complete()
	if _, err := RemoveWorkDirs(h.Dir); err != nil {
		return fmt.Errorf("remove folders of an earlier life: %w", err)
	}
	if _, err := RemoveBorrowed(h.Life.Worker); err != nil {
		log.Warn("folders_not_removed", "error", err) // they belong to other users and do no harm
	}
	return nil
}

// Ended reports whether an earlier life of this worker is known to be over: its process ended on this machine, and
// left none behind.
func (h *Home) Ended(earlier *common.Registration) bool {
	return h.Swept && earlier.BootID == h.Life.BootID && earlier.PIDNamespace == h.Life.PIDNamespace &&
		processEnded(earlier.PID)
}

// processEnded reports whether no process has this id, or only a zombie that is not reaped. A process that reused the
// id only delays the start.
func processEnded(pid int) bool {
	if pid <= 0 || pid == os.Getpid() || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	p, found := proctree.Look(pid)
	return found && p.Dead
}

// Close releases the locks of folder and id.
func (h *Home) Close() error { return errors.Join(h.id.close(), h.lock.Close()) }

func inode(path string) (uint64, error) {
	var stat syscall.Stat_t
	if err := syscall.Stat(path, &stat); err != nil {
		return 0, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return stat.Ino, nil
}

// WorkerID returns the id of the worker with this data folder; it creates folder and id if missing. The worker
// may be running.
func WorkerID(dir string) (string, error) {
	path := filepath.Join(dir, "worker.id")
	if _, err := os.Stat(path); err == nil {
		return workerID(path)
	}
	// A worker could not write to files that root created.
	var folder syscall.Stat_t
	if err := syscall.Stat(dir, &folder); err == nil && int(folder.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s belongs to user %d: create the worker id as that user", dir, folder.Uid)
	}
	home, err := OpenHome(dir, "")
	if err != nil {
		return "", err
	}
	return home.Life.Worker, home.Close()
}

// workerID reads the id, or creates it at the first start.
func workerID(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		id := common.NewID()
		if err := os.WriteFile(path, []byte(id+"\n"), 0o600); err != nil {
			return "", fmt.Errorf("reserve worker id: %w", err)
		}
		return id, nil
	}
	if err != nil {
		return "", fmt.Errorf("read worker id: %w", err)
	}
	id := strings.TrimSpace(string(data))
	if !idPattern.MatchString(id) {
		return "", fmt.Errorf("%s does not contain a worker id", path)
	}
	return id, nil
}
