//go:build linux && (amd64 || arm64)

package spawn

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// most is the maximum number of system calls of a child.
const most = 16 + signals

// signals is the number of signals of the kernel.
const signals = 64

// call is a system call of the child. The assembly knows its layout.
type call struct {
	number uintptr
	args   [5]uintptr
	want   uintptr // the value that it must return; 0: any but an error
	got    uintptr // the value that it returned instead, written by the child
}

// cloneArgs is struct clone_args of linux/sched.h.
type cloneArgs struct {
	flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls, setTID, setTIDSize, cgroup uint64
}

// run starts a child by the system call number with its arguments. The child executes the calls until one fails; the
// last of them must be execve. It returns when the child executes its program or has ended: the child's process id, or
// minus an error number if there was no child.
func run(number, a, b, c uintptr, calls *call) (pid int)

// suspended is run, announced to the scheduler of Go as a system call. Its thread is suspended for as long as the file
// system of the program takes to answer; unannounced, the next garbage collection, and with it all goroutines, would
// wait for that. The collector moves neither the heap nor the stack of a goroutine in a system call.
//
//go:nosplit
//go:norace
func suspended(number, a, b, c uintptr, calls *call) (pid int) {
	entersyscall()
	pid = run(number, a, b, c, calls)
	exitsyscall()
	return pid
}

//go:linkname entersyscall runtime.entersyscall
func entersyscall()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// Starter starts commands, one at a time. A child reads its memory, so it must not be copied.
type Starter struct {
	limit   *unix.Rlimit
	time    unix.Rlimit // RLIMIT_RTTIME of the command
	old     bool        // clone is used, since clone3 is not allowed
	parent  int         // id of this process
	null    int         // the first of 1 + kept adjacent descriptors, which are all /dev/null between starts
	clone   cloneArgs
	pidfd   int32
	blocked unix.Sigset_t // all signals
	before  unix.Sigset_t // the signal mask of the calling thread
	action  [4]uint64     // struct sigaction of the kernel: the default disposition
	calls   [most]call
	count   int       // number of calls
	text    []byte    // the strings of the command
	lists   []uintptr // addresses of its arguments, zero, addresses of its environment, zero
	path    uintptr   // addresses in text
	dir     uintptr
}

// New reserves descriptors and tries a start. It returns an error if this kernel or sandbox does not allow it. limit is
// the limit of the number of descriptors that commands get; nil: that of this process.
func New(limit *unix.Rlimit) (*Starter, error) {
	s := &Starter{limit: limit, parent: os.Getpid()}
	for i := range s.blocked.Val {
		s.blocked.Val[i] = math.MaxUint64
	}
	if err := s.reserve(); err != nil {
		return nil, fmt.Errorf("reserve descriptors: %w", err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if s.trial() == nil {
		return s, nil
	}
	// A sandbox that restricts namespaces forbids clone3, since it cannot see its flags.
	s.old = true
	if err := s.trial(); err != nil {
		return nil, errors.Join(fmt.Errorf("start a command that shares the descriptors: %w", err), s.Close())
	}
	return s, nil
}

// trial starts a program that does not exist.
func (s *Starter) trial() error {
	none := Command{Path: os.DevNull + "/none", Dir: "/", Files: [streams]int{s.null, s.null, s.null}}
	if _, _, err := s.Start(&none); !errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("trial: %w", err)
	}
	return nil
}

// stride is how many numbers reserve skips at most when another thread has taken the next one.
const stride = 64

// reserve opens adjacent descriptors above those of standard input and output. It asks for each number and takes what
// it gets, since other threads open and close descriptors meanwhile; if one of the numbers is theirs, it begins again
// behind it, so that it ends. Threads that reserve at the same time skip different numbers, and do not meet again.
func (s *Starter) reserve() error {
	first, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var opened []int
	for next := streams; len(opened) < 1+kept; next++ {
		fd, err := unix.FcntlInt(uintptr(first), unix.F_DUPFD_CLOEXEC, next)
		if err != nil {
			return errors.Join(err, closeAll(append(opened, first)...))
		}
		if opened = append(opened, fd); fd == next {
			continue
		}
		if len(opened) == 1 { // the lowest free number
			next = fd
			continue
		}
		if err := closeAll(opened...); err != nil {
			return errors.Join(err, unix.Close(first))
		}
		next, opened = fd+rand.IntN(stride), nil
	}
	s.null = opened[0]
	return unix.Close(first)
}

func closeAll(fds ...int) (err error) {
	for _, fd := range fds {
		err = errors.Join(err, unix.Close(fd))
	}
	return err
}

// Close releases the reserved descriptors.
func (s *Starter) Close() error {
	return closeAll(s.null, s.null+1, s.null+2, s.null+3, s.null+4)
}

// Start starts a command, and returns its process id and a descriptor of the process (a pidfd). The caller must be
// locked to its thread. The error of a command that cannot be executed is a [syscall.Errno], as that of
// [syscall.ForkExec]; any other failure is an [Unusable].
func (s *Starter) Start(c *Command) (pid, pidfd int, err error) {
	defer func() { clear(s.text) }() // it may contain secrets
	if err := s.write(c); err != nil {
		return 0, -1, err
	}
	for i, fd := range append(c.Files[:], c.Procs) {
		if i == streams && c.Procs == 0 {
			break
		}
		if err := unix.Dup3(fd, s.null+1+i, unix.O_CLOEXEC); err != nil {
			return 0, -1, Unusable{fmt.Errorf("duplicate a descriptor: %w", err)}
		}
		defer unix.Dup3(s.null, s.null+1+i, unix.O_CLOEXEC) // else the end of an output would not be noticed
	}
	// Signals to this process must be handled by another thread, since this one is suspended.
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &s.blocked, &s.before); err != nil {
		return 0, -1, Unusable{fmt.Errorf("block signals: %w", err)}
	}
	pid = s.run(c)
	unmasked := unix.PthreadSigmask(unix.SIG_SETMASK, &s.before, nil)
	runtime.KeepAlive(s)
	if pid < 0 {
		return 0, -1, syscall.Errno(-pid)
	}
	for i := range s.count {
		if err := s.calls[i].failure(); err != nil {
			return 0, -1, errors.Join(err, s.reap(pid))
		}
	}
	return pid, int(s.pidfd), unmasked
}

// run starts the child.
func (s *Starter) run(c *Command) (pid int) {
	const flags = unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_FILES | unix.CLONE_PIDFD
	if s.old {
		return suspended(unix.SYS_CLONE, flags|uintptr(unix.SIGCHLD), 0, address(&s.pidfd), &s.calls[0])
	}
	s.clone = cloneArgs{
		flags:      flags | unix.CLONE_CLEAR_SIGHAND,
		pidfd:      uint64(address(&s.pidfd)),
		exitSignal: uint64(unix.SIGCHLD),
	}
	if c.Cgroup != 0 {
		s.clone.flags |= unix.CLONE_INTO_CGROUP
		s.clone.cgroup = uint64(c.Cgroup)
	}
	return suspended(unix.SYS_CLONE3, address(&s.clone), unsafe.Sizeof(s.clone), 0, &s.calls[0])
}

// reap waits for a child that has not executed its program.
func (s *Starter) reap(pid int) error {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); !errors.Is(err, syscall.EINTR) {
			return errors.Join(err, unix.Close(int(s.pidfd)))
		}
	}
}

// failure returns the error of a call that failed, or nil.
func (c *call) failure() error {
	switch {
	case c.got == 0:
		return nil
	case c.number == unix.SYS_CHDIR, c.number == unix.SYS_EXECVE:
		return syscall.Errno(-c.got)
	case c.want != 0:
		return Unusable{fmt.Errorf("system call %d returned %d instead of %d", c.number, c.got, c.want)}
	default:
		return Unusable{fmt.Errorf("system call %d: %w", c.number, syscall.Errno(-c.got))}
	}
}

// write writes the calls of the child that is to execute a command.
func (s *Starter) write(c *Command) error {
	if err := s.writeText(c); err != nil {
		return err
	}
	s.count = 0
	s.add(unix.SYS_CLOSE_RANGE, uintptr(s.null+1+kept), math.MaxUint32, unix.CLOSE_RANGE_UNSHARE)
	for i := range streams { // the table is the child's own from here on
		s.add(unix.SYS_DUP3, uintptr(s.null+1+i), uintptr(i), 0)
	}
	if c.Procs != 0 {
		s.add(unix.SYS_WRITE, uintptr(s.null+1+streams), address(&self[0]), uintptr(len(self)))
	}
	s.add(unix.SYS_CLOSE_RANGE, streams, uintptr(s.null+kept), 0)
	s.add(unix.SYS_SETPGID, 0, 0)
	if s.old { // else clone3 has done it, for the signals that are not ignored
		for signal := unix.Signal(1); signal <= signals; signal++ {
			if signal != unix.SIGKILL && signal != unix.SIGSTOP {
				s.add(unix.SYS_RT_SIGACTION, uintptr(signal), address(&s.action[0]), 0, unsafe.Sizeof(s.before.Val[0]))
			}
		}
	}
	s.add(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, address(&s.before), 0, unsafe.Sizeof(s.before.Val[0]))
	if c.Dir != "" {
		s.add(unix.SYS_CHDIR, s.dir)
	}
	if s.limit != nil {
		s.add(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, address(s.limit), 0)
	}
	if c.RealTime != nil {
		s.time = *c.RealTime
		s.add(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_RTTIME, address(&s.time), 0)
	}
	s.add(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL))
	s.add(unix.SYS_GETPPID)
	s.calls[s.count-1].want = uintptr(s.parent) // else this process has ended before the call above
	s.add(unix.SYS_EXECVE, s.path, address(&s.lists[0]), address(&s.lists[len(c.Args)+1]))
	return nil
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
