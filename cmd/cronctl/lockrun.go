package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// lockTick is how often the fence is checked.
const lockTick = 250 * time.Millisecond

// runLocked acquires the lock, runs the command, and releases the lock.
func (c *cli) runLocked(ctx context.Context, name string, f *lockFlags, limited bool, command []string) error {
	terms, err := f.check()
	if err != nil {
		return err
	}
	l, err := c.lockClient(name)
	if err != nil {
		return err
	}
	s, got, err := l.acquire(ctx, f, terms, limited)
	if !got {
		if releaseErr := l.release(ctx); err == nil {
			fmt.Fprintf(c.stderr, "cronctl: lock %s is held by another client\n", name)
			return errors.Join(exitError(exitNotAcquired), releaseErr)
		}
		return err
	}
	r := &lockedRun{cli: c, messages: &sharedWriter{to: c.screenErr}, lock: l, terms: terms, stopGrace: f.stopGrace}
	code, err := r.run(ctx, s, command)
	if releaseErr := l.release(ctx); releaseErr != nil && !r.lost {
		fmt.Fprintf(c.stderr, "cronctl: the lock was not released, others wait for its grace period: %v\n", releaseErr)
	}
	switch {
	case err != nil:
		return err
	case code != exitOK:
		return exitError(code)
	}
	return nil
}

// lockedRun runs one command under a lock. It is owned by run.
type lockedRun struct {
	*cli
	messages  *sharedWriter // also gets what the command writes to stderr, unless that is a file
	lock      *lockClient
	terms     common.LockTerms
	stopGrace time.Duration
	alive     time.Duration // A: when the last answered keep-alive was sent
	lost      bool
	stopping  bool
	killAt    time.Duration
	group     int // process group of the command
}

// sharedWriter is a writer for several goroutines.
type sharedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *sharedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// beat is the result of a keep-alive.
type beat struct {
	session apiclient.LockSession
	sent    time.Duration
	err     error
}

// run runs the command until it has ended, and returns the exit code.
func (r *lockedRun) run(ctx context.Context, s apiclient.LockSession, command []string) (code int, err error) {
	// The request that acquired the lock may have been sent long ago: a keep-alive shows that the lock is still held.
	first, sent, err := r.lock.keepAlive(ctx, r.terms.LeaseTTL())
	if err != nil || first.State != apiclient.LockSessionStateHeld {
		fmt.Fprintf(r.messages, "cronctl: lock %s was lost before the command was started\n", r.lock.name)
		return exitLockLost, nil
	}
	r.alive = sent
	// The kernel signals the command when the thread that started it ends, not only when the process does.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := r.command(s, command)
	if err := cmd.Start(); err != nil {
		return 0, cannot("cannot start the command", err)
	}
	r.group = cmd.Process.Pid
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	beats, kept := make(chan beat), make(chan struct{})
	go func() {
		defer close(kept)
		r.lock.beat(keeping, r.terms.LeaseTTL(), beats)
	}()
	err = r.watch(ctx, beats, ended)
	stop()
	<-kept
	r.signal(unix.SIGKILL) // the rest of the group
	return r.code(cmd, err)
}

// beat sends a keep-alive every third of the TTL, and sooner after one that was not answered.
func (l *lockClient) beat(ctx context.Context, ttl time.Duration, beats chan<- beat) {
	for wait := ttl / 3; pause(ctx, wait, nil) == nil; {
		s, sent, err := l.keepAlive(ctx, ttl/3)
		if wait = ttl / 3; err != nil {
			wait = ttl / 30
		}
		select {
		case beats <- beat{s, sent, err}:
		case <-ctx.Done():
		}
	}
}

// watch returns the result of the command.
func (r *lockedRun) watch(ctx context.Context, beats <-chan beat, ended <-chan error) error {
	tick := time.NewTicker(lockTick)
	defer tick.Stop()
	interrupted := ctx.Done()
	for {
		select {
		case err := <-ended:
			return err
		case <-interrupted:
			interrupted = nil
			r.stop("interrupted", r.lock.boot()+r.stopGrace)
		case b := <-beats:
			r.judge(b)
		case <-tick.C:
		}
		now := r.lock.boot()
		if end := r.alive + r.terms.Fence(); now >= end-r.stopGrace && !r.lost {
			r.lose(end)
		}
		if r.stopping && now >= r.killAt {
			r.signal(unix.SIGKILL)
		}
	}
}

// judge uses the result of a keep-alive.
func (r *lockedRun) judge(b beat) {
	switch {
	case b.err == nil && b.session.State == apiclient.LockSessionStateHeld:
		r.alive = b.sent
	case b.err == nil && !r.lost:
		r.lose(r.lock.boot() + r.stopGrace)
	}
}

func (r *lockedRun) lose(killAt time.Duration) {
	r.lost = true
	r.stop("lock "+r.lock.name+" was lost", killAt)
}

// stop sends TERM, and sets when KILL follows.
func (r *lockedRun) stop(reason string, killAt time.Duration) {
	if !r.stopping || killAt < r.killAt {
		r.killAt = killAt
	}
	if !r.stopping {
		r.stopping = true
		fmt.Fprintf(r.messages, "cronctl: %s: ending the command\n", reason)
		r.signal(unix.SIGTERM)
	}
}

// signal sends a signal to the process group of the command.
func (r *lockedRun) signal(s syscall.Signal) { _ = unix.Kill(-r.group, s) } // it may have ended

// command prepares the command: a process group of its own, which ends with this process.
func (r *lockedRun) command(s apiclient.LockSession, command []string) *exec.Cmd {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.stdin, r.screen, r.messages
	if file, ok := r.screenErr.(*os.File); ok {
		cmd.Stderr = file
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if in, ok := r.stdin.(*os.File); ok && foreground(in) {
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, int(in.Fd())
	}
	cmd.WaitDelay = time.Second
	env := r.env.with(map[string]string{
		"CARILLON_LOCK":         r.lock.name,
		"CARILLON_LOCK_SESSION": r.lock.session,
		"CARILLON_FENCE":        strconv.FormatInt(value(s.Fence), 10),
	})
	delete(env, "CARILLON_LOCK_NOTE")
	if was := s.TookOver; was != nil {
		env["CARILLON_LOCK_NOTE"] = value(was.Note)
	}
	cmd.Env = env.list()
	return cmd
}

// foreground reports whether a file is the terminal that this process is in the foreground of.
func foreground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// code returns the exit code for the result of the command.
func (r *lockedRun) code(cmd *exec.Cmd, err error) (int, error) {
	if r.lost {
		return exitLockLost, nil
	}
	if err != nil && cmd.ProcessState == nil {
		return 0, cannot("cannot wait for the command", err)
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}
