package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"carillon/internal/executor/runas"
)

// Capable returns an error if this process cannot run commands as other users: it must be able to become them, and to
// see and kill their processes.
func Capable() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return fmt.Errorf("read its capabilities: %w", err)
	}
	var missing []string
	for _, c := range [...]struct {
		bit  uint
		name string
	}{{unix.CAP_SETUID, "CAP_SETUID"}, {unix.CAP_SETGID, "CAP_SETGID"}, {unix.CAP_KILL, "CAP_KILL"}} {
		if sets[0].Effective&(1<<c.bit) == 0 {
			missing = append(missing, c.name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("it lacks %s", strings.Join(missing, ", "))
	}
	if os.Getuid() != 0 {
		if _, err := os.Stat("/proc/1"); errors.Is(err, os.ErrNotExist) {
			return errors.New("/proc hides the processes of other users from it (hidepid, or ProtectProc= of its unit)")
		}
	}
	return nil
}

// keepCapabilities prevents commands started by this thread from inheriting capabilities: ambient capabilities, which
// systemd may have set, survive execve(2), and those of a user other than root survive setuid(2).
func keepCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return err
	}
	if sets[0].Inheritable == 0 && sets[1].Inheritable == 0 { // then none is ambient
		return nil
	}
	sets[0].Inheritable, sets[1].Inheritable = 0, 0
	return unix.Capset(&header, &sets[0])
}

// borrowed is the name prefix of the private folders of runs as other users. They are in the folder for temporary
// files, since the worker's data folder is closed to other users.
const borrowed = "carillon-run-"

// borrow creates an empty folder that belongs to another user.
func (x *Executor) borrow(a *runas.Account) (path string, err error) {
	err = filesAs(a.UID, a.GID, func() error {
		path, err = os.MkdirTemp("", borrowed+x.cfg.Worker+"-")
		return err
	})
	return path, err
}

// returnFolder removes such a folder as its owner, so that it cannot remove files of others if the owner has replaced
// it.
func returnFolder(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() {
		return fmt.Errorf("%s is not a folder", path)
	}
	return filesAs(stat.Uid, stat.Gid, func() error { return os.RemoveAll(path) })
}

// RemoveBorrowed removes the folders that earlier incarnations of a worker left in the folder for temporary files. It
// must be called before New, while no run is in progress.
func RemoveBorrowed(worker string) (removed int, err error) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), borrowed+worker+"-*"))
	if err != nil {
		return 0, err
	}
	for _, path := range left {
		if failure := returnFolder(path); failure != nil {
			err = errors.Join(err, fmt.Errorf("remove folder of a run: %w", failure))
			continue
		}
		removed++
	}
	return removed, err
}

// filesAs calls do with another user's file-system identity: files that it creates belong to that user, and it has only
// that user's permissions. It requires only the capability to change users.
func filesAs(uid, gid uint32, do func() error) error {
	if int(uid) == os.Geteuid() {
		return do()
	}
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := become(uid, gid)
		if err == nil {
			err = do()
		}
		if back := become(uint32(os.Geteuid()), uint32(os.Getegid())); back != nil {
			err = errors.Join(err, back) // still locked: the thread ends with the goroutine
		} else {
			runtime.UnlockOSThread()
		}
		failed <- err
	}()
	return <-failed
}

// become changes the file-system identity of this thread.
func become(uid, gid uint32) error {
	const same = -1 // reads without a change
	_, _ = unix.SetfsgidRetGid(int(gid))
	_, _ = unix.SetfsuidRetUid(int(uid))
	isGroup, err1 := unix.SetfsgidRetGid(same)
	isUser, err2 := unix.SetfsuidRetUid(same)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if isUser != int(uid) || isGroup != int(gid) {
		return fmt.Errorf("access files as the user %d: not permitted", uid)
	}
	return nil
}
