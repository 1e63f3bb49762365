package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"carillon/internal/executor/inside"
)

// forkOrder is a request to a forker to start a command.
type forkOrder struct {
	ctx     context.Context
	task    *Task
	process *process
	spec    *spec
	files   [3]int // stdin, stdout and stderr
	program string // owned by the forker

	phase    atomic.Int32             // searching, going or abandoned
	starting atomic.Pointer[starting] // its start, while that is in progress
	done     chan error               // of capacity one
}

// Phases of an order.
const (
	searching int32 = iota // its program is looked for
	going
	abandoned // its run has ended meanwhile
)

// forker starts commands on a thread of its own until the executor is closed: no_new_privs is a property of the forking
// thread, the kernel kills commands when the thread that started them ends, and the first thread's children are the
// adopted processes.
func (x *Executor) forker(l *launcher) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if unix.Gettid() == os.Getpid() {
		// While this goroutine occupies the first thread, a new goroutine must run on another one.
		next := make(chan struct{})
		go func() {
			defer close(next)
			x.forker(l)
		}()
		<-next
		runtime.UnlockOSThread()
		return
	}
	// A child inherits the signal mask of the forking thread, which is the one that this process was started with.
	err := errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), keepCapabilities(),
		unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil))
	siblings, failure := x.tracker.join()
	defer func() {
		if failure == nil {
			x.tracker.part(siblings)
		}
	}()
	defer func() { _ = l.close() }() // only /dev/null
	for {
		select {
		case o := <-x.forks:
			if failure != nil { // possibly for lack of descriptors
				siblings, failure = x.tracker.join()
			}
			if err := errors.Join(err, failure, l.prepare()); err != nil {
				o.done <- unable{fmt.Errorf("prepare to start commands: %w", err)}
				continue
			}
			o.done <- x.serve(o, siblings, l)
		case <-x.quit:
			return
		}
	}
}

// serve looks for the program of an order, and starts it. The search takes as long as the file systems in the PATH need
// to answer; if the run was stopped meanwhile, its descriptors are closed.
func (x *Executor) serve(o *forkOrder, among *siblings, l *launcher) (err error) {
	if o.program, err = x.program(o.task, o.spec); err != nil {
		return err
	}
	if !o.phase.CompareAndSwap(searching, going) {
		return context.Canceled
	}
	return x.fork(o, among, l)
}

func (x *Executor) fork(o *forkOrder, among *siblings, l *launcher) error {
	x.forking.RLock()
	defer x.forking.RUnlock()
	if err := x.mayStart(o); err != nil {
		return err
	}
	p := o.process
	var err error
	limits := limitsOf(&o.task.Job.Job)
	if p.leaf, err = x.cgroups.leaf(limits); err != nil {
		return unable{err}
	}
	if p.leaf == nil && limits.asked {
		return errUnlimited
	}
	p.siblings = among
	among.begin()
	defer among.end() // the command is registered by then
	pid, handle, err := l.inItsCgroup(o, limits.asked)
	if err != nil {
		p.leaf.remove()
		return &os.PathError{Op: "execute", Path: o.program, Err: err}
	}
	p.leaf.close()
	x.tracker.name(p, pid)
	if handle >= 0 && unix.SetNonblock(handle, true) == nil {
		p.life = os.NewFile(uintptr(handle), "process")
	}
	return nil
}

// mayStart returns an error if the command must not start any more.
func (x *Executor) mayStart(o *forkOrder) error {
	if err := o.ctx.Err(); err != nil {
		return err
	}
	if closed(x.killed) {
		return notAllowed{inside.ErrStopping}
	}
	if closed(o.task.KillNow) {
		return notAllowed{causeOfKill(o.ctx)}
	}
	if o.task.MayStart != nil {
		if err := o.task.MayStart(); err != nil {
			return notAllowed{err}
		}
	}
	return nil
}

// closed reports whether a channel without values is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
