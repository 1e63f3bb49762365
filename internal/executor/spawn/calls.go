//go:build linux && (amd64 || arm64)

package spawn

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// most is the maximum number of system calls of a child.
const most = 20 + signals

// signals is the number of signals of the kernel.
const signals = 64

// call is a system call of the child. The assembly knows its layout.
type call struct {
	number uintptr
	args   [5]uintptr
	want   uintptr // the value that it must return; 0: any but an error
	got    uintptr // the value that it returned instead, written by the child
}

// failure returns the error of a call that failed, or nil.
func (c *call) failure() error {
	switch {
	case c.got == 0:
		return nil
	case c.number == unix.SYS_WRITE:
		return Unmoved{syscall.Errno(-c.got)}
	case c.number == unix.SYS_CHDIR:
		return Unentered{syscall.Errno(-c.got)}
	case slices.Contains(ofCommand, c.number):
		return syscall.Errno(-c.got)
	case c.want != 0:
		return Unusable{fmt.Errorf("system call %d returned %d instead of %d", c.number, c.got, c.want)}
	default:
		return Unusable{fmt.Errorf("system call %d: %w", c.number, syscall.Errno(-c.got))}
	}
}

// ofCommand are the system calls that fail because of the command.
var ofCommand = []uintptr{unix.SYS_SETGROUPS, unix.SYS_SETGID, unix.SYS_SETUID, unix.SYS_EXECVE}

// write writes the calls of the child that is to execute a command. procs is the descriptor of the file by which it
// moves into its cgroup; 0: none.
func (s *Starter) write(c *Command, procs int) error {
	if err := s.writeText(c); err != nil {
		return err
	}
	s.count = 0
	s.writeFiles(c, procs)
	if c.Session {
		s.add(unix.SYS_SETSID)
	} else {
		s.add(unix.SYS_SETPGID, 0, 0)
	}
	if s.mode.old { // else clone3 has done it, for the signals that are not ignored
		for signal := unix.Signal(1); signal <= signals; signal++ {
			if signal != unix.SIGKILL && signal != unix.SIGSTOP {
				s.add(unix.SYS_RT_SIGACTION, uintptr(signal), address(&s.action[0]), 0, unsafe.Sizeof(s.before.Val[0]))
			}
		}
	}
	if s.limit != nil && unix.Getrlimit(unix.RLIMIT_NOFILE, &s.opened) == nil {
		s.opened.Cur = min(s.limit.Cur, s.opened.Max)
		s.add(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, address(&s.opened), 0)
	}
	if c.RealTime != nil {
		s.time = *c.RealTime
		s.add(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_RTTIME, address(&s.time), 0)
	}
	if c.User != nil {
		s.writeUser(c.User)
	}
	// Not before: the new user may send signals, and one that dumps core ends all processes that share the memory.
	s.add(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, address(&s.before), 0, unsafe.Sizeof(s.before.Val[0]))
	if c.Dir != "" {
		s.add(unix.SYS_CHDIR, s.dir)
	}
	s.add(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL)) // a change of the user resets it
	s.add(unix.SYS_GETPPID)
	s.calls[s.count-1].want = uintptr(s.parent) // else this process has ended before the call above
	s.add(unix.SYS_EXECVE, s.path, address(&s.lists[0]), address(&s.lists[len(c.Args)+1]))
	return nil
}

// writeFiles writes the calls that give the child its descriptors and move it into its cgroup.
func (s *Starter) writeFiles(c *Command, procs int) {
	from := c.Files
	if !s.mode.copies {
		s.add(unix.SYS_CLOSE_RANGE, uintptr(s.null+1+kept), math.MaxUint32, unix.CLOSE_RANGE_UNSHARE)
		for i := range from {
			from[i] = s.null + 1 + i
		}
	}
	for i, fd := range from { // the table is the child's own from here on
		s.add(unix.SYS_DUP3, uintptr(fd), uintptr(i), 0)
	}
	if procs != 0 {
		if !s.mode.copies {
			procs = s.null + kept
		}
		s.add(unix.SYS_WRITE, uintptr(procs), address(&self[0]), uintptr(len(self)))
	}
	switch { // those that are not closed here are closed when the program is executed
	case !s.mode.copies:
		s.add(unix.SYS_CLOSE_RANGE, streams, uintptr(s.null+kept), 0)
	case s.closes:
		s.add(unix.SYS_CLOSE_RANGE, streams, math.MaxUint32, 0)
	}
}

// writeUser writes the calls that change the user. The kernel may then open the memory, which is still that of this
// process, to processes of the same user; the last call closes it.
func (s *Starter) writeUser(u *User) {
	s.groups = append(append(s.groups[:0], u.Groups...), 0) // never empty, so that it has an address
	s.add(unix.SYS_SETGROUPS, uintptr(len(u.Groups)), address(&s.groups[0]))
	s.add(unix.SYS_SETGID, uintptr(u.GID))
	s.add(unix.SYS_SETUID, uintptr(u.UID))
	s.add(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0)
}

// self is what a process writes to cgroup.procs to move itself.
var self = []byte("0")

func (s *Starter) add(number uintptr, args ...uintptr) {
	s.calls[s.count] = call{number: number}
	copy(s.calls[s.count].args[:], args)
	s.count++
}

// address returns the address of a value on the heap, for the kernel.
func address[T any](value *T) uintptr { return uintptr(unsafe.Pointer(value)) }

// writeText writes the strings of a command, each ended by a zero byte, and their addresses.
func (s *Starter) writeText(c *Command) error {
	size := len(c.Path) + len(c.Dir) + 2
	for _, list := range [...][]string{c.Args, c.Env} {
		for _, text := range list {
			size += len(text) + 1
		}
	}
	s.text = slices.Grow(s.text[:0], size) // it must not move while addresses are taken
	s.lists = s.lists[:0]
	for _, list := range [...][]string{c.Args, c.Env} {
		for _, text := range list {
			s.lists = append(s.lists, s.place(text))
		}
		s.lists = append(s.lists, 0)
	}
	s.path, s.dir = s.place(c.Path), s.place(c.Dir)
	if bytes.Count(s.text, []byte{0}) != len(s.lists) {
		return syscall.EINVAL
	}
	return nil
}

// place appends a string and returns its address.
func (s *Starter) place(text string) uintptr {
	start := len(s.text)
	s.text = append(append(s.text, text...), 0)
	return address(&s.text[start])
}
