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
// Where a kernel before 5.9 or a sandbox does not allow that, each child gets a copy of the table; all else stays the
// same. It works for Linux on amd64 and arm64.
//
// The thread of a start is announced to the scheduler of Go as one in a system call: it may stay there for as long as
// the file system of the program does not answer. [syscall.ForkExec] does not do that, so that the next garbage
// collection would stop the whole process.
package spawn

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Command is a command to start. It gets a process group of its own, and is killed when the thread that started it
// ends.
type Command struct {
	Path, Dir string
	Args, Env []string
	Files     [streams]int // stdin, stdout and stderr, none of them below [streams]; they stay open in this process
	Session   bool         // it gets a session of its own
	User      *User        // the user that it runs as; nil: that of this process
	Cgroup    int          // descriptor of the folder of the cgroup to start in; 0: that of this process
	RealTime  *unix.Rlimit // its RLIMIT_RTTIME; nil: that of this process
}

// User is the identity of a command.
type User struct {
	UID, GID uint32
	Groups   []uint32 // supplementary groups
}

const (
	// streams is the number of descriptors of a command.
	streams = 3
	// kept is the number of descriptors that its child has until the command is executed.
	kept = streams + 1
)

// Unusable is the error of a start that failed for a reason that is not the command's.
type Unusable struct{ error }

// Unwrap returns the cause.
func (u Unusable) Unwrap() error { return u.error }

// passes reports whether an error is that of a shortage, so that the same start may work later.
func passes(err error) bool {
	for _, code := range [...]error{unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.ENOSPC} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// Unentered is the error of a start whose child could not enter the folder of its command.
type Unentered struct{ error }

// Error describes the error.
func (u Unentered) Error() string { return "enter the working directory: " + u.error.Error() }

// Unwrap returns the cause.
func (u Unentered) Unwrap() error { return u.error }

// Unmoved is the error of a start whose child could not be in its cgroup.
type Unmoved struct{ error }

// Error describes the error.
func (u Unmoved) Error() string { return "start in the cgroup: " + u.error.Error() }

// Unwrap returns the cause.
func (u Unmoved) Unwrap() error { return u.error }
