package executor

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Prepare sets what commands inherit from this process as a whole: umask 027, no
// core dumps, and no descriptor but 0 to 2. And it closes this process's own environment, memory
// and files to the commands, which mostly run as the same user: passwords may be in them. The main of every program that runs
// commands calls it first, before it opens anything.
//
// It is apart from New because a umask cannot be given to a child alone without a
// race: it belongs to all threads. (no_new_privs belongs to one thread; every start
// sets it for itself.)
func Prepare() error {
	unix.Umask(0o027)
	var none unix.Rlimit
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &none); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close the process to others of its user: %w", err)
	}
	return closeOnExec()
}

// closeOnExec marks all descriptors above 2: those that Go opened are so marked,
// those that this process was started with are not.
func closeOnExec() error {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list descriptors: %w", err)
	}
	names, err := dir.Readdirnames(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return fmt.Errorf("list descriptors: %w", err)
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
