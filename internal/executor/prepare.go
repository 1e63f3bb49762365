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

	"carillon/internal/executor/proctree"
)

// Prepare sets the attributes that commands inherit from this process as a whole: umask 027, no core dumps, default
// signal dispositions, and no descriptors other than 0 to 2. It also denies commands access to this process's
// environment, memory and files, since they usually run as the same user and passwords may be in them. The main
// function of every program that runs commands must call it first, before it opens files.
//
// It is separate from New because a umask belongs to all threads, and cannot be set for one child without a race.
// (no_new_privs and the signal mask belong to a thread; every forker sets them for itself.)
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

// catchIgnored catches and drops the signals that this process was started with as ignored, as by nohup(1). Commands
// would inherit ignored signals, and a shell cannot trap signals that were ignored at its start. Each start resets
// caught signals to their defaults anyway, so this costs nothing per start.
func catchIgnored() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("read the ignored signals: %w", err)
	}
	_, after, _ := strings.Cut(string(status), "\nSigIgn:\t")
	line, _, _ := strings.Cut(after, "\n")
	ignored, err := strconv.ParseUint(line, 16, 64)
	if err != nil {
		return fmt.Errorf("read the ignored signals: %w", err)
	}
	dropped := make(chan os.Signal, 1)
	for n := range 64 {
		if ignored&(1<<n) != 0 {
			signal.Notify(dropped, syscall.Signal(n+1))
		}
	}
	return nil
}

// closeOnExec sets close-on-exec for all descriptors above 2. Those that Go opened have it already; those that this
// process inherited do not.
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
