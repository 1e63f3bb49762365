//go:build linux && (amd64 || arm64)

package spawn

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

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

// mode is how children are started.
type mode struct {
	copies bool // each child gets a copy of the descriptor table
	old    bool // clone is used, since clone3 is not allowed
	noFD   bool // the kernel gives no descriptor of the child
}

// modes are all modes, the best ones first. A sandbox that restricts namespaces forbids clone3, since it cannot see its
// flags.
var modes = []mode{{}, {old: true}, {copies: true}, {copies: true, old: true}, {copies: true, old: true, noFD: true}}

// Starter starts commands, one at a time. A child reads its memory, so it must not be copied.
type Starter struct {
	limit   *unix.Rlimit
	copied  func(error) // called when the descriptors must be copied from now on
	opened  unix.Rlimit // RLIMIT_NOFILE of the command
	time    unix.Rlimit // RLIMIT_RTTIME of the command
	mode    mode
	closes  bool // close_range can close descriptors
	parent  int  // id of this process
	null    int  // the first of 1 + kept adjacent descriptors, all /dev/null between starts; unused if mode.copies
	clone   cloneArgs
	blocked unix.Sigset_t // all signals
	before  unix.Sigset_t // the signal mask of the calling thread
	action  [4]uint64     // struct sigaction of the kernel: the default disposition
	calls   [most]call
	count   int       // number of calls
	text    []byte    // the strings of the command
	lists   []uintptr // addresses of its arguments, zero, addresses of its environment, zero
	groups  []uint32  // supplementary groups of its user
	path    uintptr   // addresses in text
	dir     uintptr

	mu    sync.Mutex
	going *Command // the one that is being started
	child int32    // descriptor of its child, written by the kernel first; its process id if mode.noFD; -1: none yet
}

// New reserves descriptors and tries a start. It returns an error for a shortage, or if this kernel or sandbox allows
// no start at all; if only the descriptors have to be copied, it calls copied with the reason, as any later start may
// do. limit is the limit of the number of descriptors that commands get; nil: that of this process.
func New(limit *unix.Rlimit, copied func(error)) (*Starter, error) {
	s := &Starter{limit: limit, copied: copied, parent: os.Getpid()}
	for i := range s.blocked.Val {
		s.blocked.Val[i] = math.MaxUint64
	}
	s.closes = unix.CloseRange(math.MaxInt32, math.MaxInt32, 0) == nil // there is no such descriptor
	if err := s.reserve(); err != nil {
		return nil, fmt.Errorf("reserve descriptors: %w", err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var failed []error
	for _, m := range modes {
		if m.copies && !s.mode.copies {
			failed = append(failed, s.release())
		}
		s.mode = m
		err := s.trial()
		if err == nil {
			if m.copies {
				copied(errors.Join(failed...))
			}
			return s, nil
		}
		err = fmt.Errorf("start a command, %v: %w", m, err)
		if passes(err) { // the way is not the reason
			return nil, errors.Join(err, s.Close())
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}

// errNoDescriptor is the error of a trial for which the kernel gave no descriptor of the child.
var errNoDescriptor = errors.New("the kernel gives no descriptor of the process")

// trial starts a program that does not exist.
func (s *Starter) trial() error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }() // only read
	fd := int(null.Fd())
	none := Command{Path: os.DevNull + "/none", Dir: "/", Files: [streams]int{fd, fd, fd}}
	pid, _, err := s.start(&none)
	switch {
	case err == nil: // it was killed
		return errors.Join(errors.New("the child ended before it could execute a program"), s.reap(pid))
	case !errors.Is(err, syscall.ENOTDIR):
		return err
	case s.child < 0:
		return errNoDescriptor
	default:
		return nil
	}
}

// String describes a mode.
func (m mode) String() string {
	how, by := "sharing the descriptors", "clone3"
	if m.copies {
		how = "copying the descriptors"
	}
	if m.old {
		by = "clone"
	}
	if m.noFD {
		by += " without a descriptor of the child"
	}
	return how + " by " + by
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
		if errors.Is(err, unix.EINVAL) { // the number is above the limit
			err = unix.EMFILE
		}
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

// release closes the reserved descriptors.
func (s *Starter) release() error {
	return closeAll(s.null, s.null+1, s.null+2, s.null+3, s.null+4)
}

// Close releases the reserved descriptors.
func (s *Starter) Close() error {
	if s.mode.copies {
		return nil
	}
	return s.release()
}

// Start starts a command, and returns its process id and a descriptor of the process (a pidfd); -1 if the kernel has
// none. The caller must be locked to its thread. The error of a command that cannot be executed is a [syscall.Errno];
// that of one whose folder cannot be entered is [Unentered], that of one that cannot be moved into its cgroup is
// [Unmoved]; any other failure is [Unusable].
func (s *Starter) Start(c *Command) (pid, pidfd int, err error) {
	pid, pidfd, err = s.start(c)
	bad, unusable := errors.AsType[Unusable](err)
	if !unusable || s.mode.copies || passes(bad) {
		return pid, pidfd, err
	}
	s.copied(errors.Join(bad, s.release()))
	s.mode.copies = true
	return s.start(c)
}

// Kill kills the child of a command that is being started, and reports whether it did. The child may have executed its
// program just before. Any other command is left alone. Kill may be called by any thread.
func (s *Starter) Kill(c *Command) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	child := int(atomic.LoadInt32(&s.child))
	switch {
	case s.going != c || child < 0:
		return false
	case s.mode.noFD: // it is not reaped as long as it is going
		return unix.Kill(child, unix.SIGKILL) == nil
	default:
		return unix.PidfdSendSignal(child, unix.SIGKILL, nil, 0) == nil
	}
}

// begin makes c the command that is being started, or none if it is nil.
func (s *Starter) begin(c *Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.going = c; c != nil {
		atomic.StoreInt32(&s.child, -1)
	}
}

func (s *Starter) start(c *Command) (pid, pidfd int, err error) {
	defer func() { clear(s.text) }() // it may contain secrets
	var procs int
	if c.Cgroup != 0 && s.mode.old { // else clone3 starts the child in it
		if procs, err = unix.Openat(c.Cgroup, "cgroup.procs", unix.O_WRONLY|unix.O_CLOEXEC, 0); err != nil {
			return 0, -1, Unmoved{err}
		}
		defer func() { _ = unix.Close(procs) }() // the child has written
	}
	if err := s.write(c, procs); err != nil {
		return 0, -1, err
	}
	if !s.mode.copies {
		for i, fd := range append(c.Files[:], procs) {
			if i == streams && procs == 0 {
				break
			}
			if err := unix.Dup3(fd, s.null+1+i, unix.O_CLOEXEC); err != nil {
				return 0, -1, Unusable{fmt.Errorf("duplicate a descriptor: %w", err)}
			}
			defer unix.Dup3(s.null, s.null+1+i, unix.O_CLOEXEC) // else the end of an output would not be noticed
		}
	}
	s.begin(c)
	defer s.begin(nil)
	// Signals to this process must be handled by another thread, since this one is suspended.
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &s.blocked, &s.before); err != nil {
		return 0, -1, Unusable{fmt.Errorf("block signals: %w", err)}
	}
	pid = s.run(c)
	unmasked := unix.PthreadSigmask(unix.SIG_SETMASK, &s.before, nil)
	runtime.KeepAlive(s)
	s.begin(nil)
	if c.User != nil { // the child may have ended before it did so
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // it cannot fail
	}
	switch {
	case pid < 0 && c.Cgroup != 0 && !s.mode.old:
		return 0, -1, Unmoved{syscall.Errno(-pid)}
	case pid < 0:
		return 0, -1, Unusable{syscall.Errno(-pid)}
	}
	for i := range s.count {
		if err := s.calls[i].failure(); err != nil {
			return 0, -1, errors.Join(err, s.reap(pid))
		}
	}
	return pid, s.descriptor(), unmasked
}

// descriptor returns the descriptor of the last child; -1 if there is none.
func (s *Starter) descriptor() int {
	if s.mode.noFD {
		return -1
	}
	return int(s.child)
}

// run starts the child.
func (s *Starter) run(c *Command) (pid int) {
	flags := uintptr(unix.CLONE_VM | unix.CLONE_VFORK)
	if !s.mode.copies {
		flags |= unix.CLONE_FILES
	}
	if s.mode.noFD {
		flags |= unix.CLONE_PARENT_SETTID
	} else {
		flags |= unix.CLONE_PIDFD
	}
	if s.mode.old {
		return suspended(unix.SYS_CLONE, flags|uintptr(unix.SIGCHLD), 0, address(&s.child), &s.calls[0])
	}
	s.clone = cloneArgs{
		flags:      uint64(flags) | unix.CLONE_CLEAR_SIGHAND,
		pidfd:      uint64(address(&s.child)),
		exitSignal: uint64(unix.SIGCHLD),
	}
	if c.Cgroup != 0 {
		s.clone.flags |= unix.CLONE_INTO_CGROUP
		s.clone.cgroup = uint64(c.Cgroup)
	}
	return suspended(unix.SYS_CLONE3, address(&s.clone), unsafe.Sizeof(s.clone), 0, &s.calls[0])
}

// reap waits for a child that has not executed its program.
func (s *Starter) reap(pid int) (err error) {
	for {
		if _, err = syscall.Wait4(pid, nil, 0, nil); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if fd := s.descriptor(); fd >= 0 {
		err = errors.Join(err, unix.Close(fd))
	}
	return err
}
