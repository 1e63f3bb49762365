// Package spawn starts commands at a cost that does not depend on the number of open descriptors.
//
// fork(2) copies the descriptor table of the process and execve(2) closes the copies again, so a start takes the longer
// the more descriptors a worker has open. The child of a [Starter] shares the table instead, until it unshares the few
// descriptors that it needs with close_range(2).
//
// Between clone3(2) and execve(2) the child also shares the memory of this process, while the thread that started it is
// suspended. So it runs no Go code: [Starter.Start] writes the child's system calls into a list, and a loop in assembly
// executes them without using the stack. The first call unshares the descriptors; none changes the shared table. Signal
// handlers of Go cannot run in the child: clone3 resets them, or, where a sandbox forbids it, the child does so while
// all signals are blocked.
//
// It works for Linux on amd64 and arm64, if a trial shows that the kernel and the sandbox allow all calls.
package spawn

import "golang.org/x/sys/unix"

// Command is a command to start. It gets a process group of its own, and is killed when the thread that started it
// ends.
type Command struct {
	Path, Dir string
	Args, Env []string
	Files     [streams]int // stdin, stdout and stderr; they stay open in this process
	Cgroup    int          // descriptor of the cgroup to start in, if [Starter.IntoCgroup]; 0: that of this process
	Procs     int          // descriptor of the file cgroup.procs of the cgroup to move to; 0: none
	RealTime  *unix.Rlimit // its RLIMIT_RTTIME; nil: that of this process
}

const (
	// streams is the number of descriptors of a command.
	streams = 3
	// kept is the number of descriptors that its child has until the command is executed.
	kept = streams + 1
)

// Unusable is the error of a start that must be repeated in another way.
type Unusable struct{ error }

// Unwrap returns the cause.
func (u Unusable) Unwrap() error { return u.error }
