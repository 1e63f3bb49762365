package namedlock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"carillon/internal/executor/proctree"
	"carillon/internal/platform/bootclock"
)

// Self identifies the calling process.
func Self() Process {
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return Process{}
	}
	self, found := proctree.Look(os.Getpid())
	if !found {
		return Process{}
	}
	return Process{BootID: bootclock.BootID(), PIDNamespace: namespace, PID: self.PID, Started: self.Start}
}

// Dead reports whether a process is proven to have ended: it ran in this boot and PID namespace, and its id is unused
// or belongs to a process with another start time.
func Dead(p Process) bool {
	self := Self()
	if p.BootID == "" || p.PID <= 0 || p.BootID != self.BootID || p.PIDNamespace != self.PIDNamespace {
		return false
	}
	if errors.Is(unix.Kill(p.PID, 0), unix.ESRCH) { // /proc may hide the processes of others
		return true
	}
	now, found := proctree.Look(p.PID)
	return found && now.Start != p.Started
}
