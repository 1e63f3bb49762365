package executor

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"carillon/internal/proctree"
)

// Prepare sets what commands inherit from this process as a whole: umask 027, no
// core dumps, default signal dispositions, and no descriptor but 0 to 2. And it closes this process's own environment,
// memory and files to the commands, which mostly run as the same user: passwords may be in them. The main of every
// program that runs commands calls it first, before it opens anything.
//
// It is apart from New because a umask cannot be given to a child alone without a
// race: it belongs to all threads. (no_new_privs and the signal mask belong to one thread; every forker
// sets them for itself.)
func Prepare() error {
	unix.Umask(0o027)
	if err := proctree.Conceal(); err != nil {
		return err
	}
	if err := catchIgnored(); err != nil {
		return err
	}
	return closeOnExec()
}

// catchIgnored has this process catch, and drop, the signals that it was started with as ignored, as by nohup(1). A
// command would ignore them too, and a shell cannot trap what it was started with as ignored. After a fork Go sets the
// signals that it catches to their defaults, so that a start costs nothing more.
func catchIgnored() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("read which signals are ignored: %w", err)
	}
	_, after, _ := strings.Cut(string(status), "\nSigIgn:\t")
	line, _, _ := strings.Cut(after, "\n")
	ignored, err := strconv.ParseUint(line, 16, 64)
	if err != nil {
		return fmt.Errorf("read which signals are ignored: %w", err)
	}
	dropped := make(chan os.Signal, 1)
	for n := range 64 {
		if ignored&(1<<n) != 0 {
			signal.Notify(dropped, syscall.Signal(n+1))
		}
	}
	return nil
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
