package guardian

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/bootclock"
	"carillon/internal/proctree"
)

// Child is the worker's end of the line to its guardian. A nil Child is that of a
// process without a guardian. It is safe for concurrent use, and never blocks.
type Child struct {
	line     *os.File // a descriptor that Go polls
	fd       int      // the same
	guardian int      // process id
	gone     chan struct{}

	mu        sync.Mutex
	beats     uint64        // number of the last one; guarded by mu, as is all below
	since     time.Duration // a beat waits for its echo, and nothing was heard since then; 0: none waits
	silent    time.Time     // begin of a silence that is reported; zero: there is none
	abandoned bool          // the worker ends because of it
}

// Errors of [Child.Follow].
var (
	ErrGone   = errors.New("the guardian has ended")
	ErrSilent = errors.New("the guardian does not answer")
)

// lastWords is how long a worker may live after its guardian.
const lastWords = 5 * time.Second

// adopted returns the line to the guardian if this process was started by one, and takes
// the sign of it out of the environment.
func adopted() *Child {
	value := os.Getenv(variable)
	if value == "" {
		return nil
	}
	_ = os.Unsetenv(variable)
	number, name, _ := strings.Cut(value, " ")
	fd, err := strconv.Atoi(number)
	if err != nil {
		return nil
	}
	// The variable may have been passed on by mistake.
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || int(peer.Pid) != os.Getppid() || unix.SetNonblock(fd, true) != nil {
		return nil
	}
	unix.CloseOnExec(fd)
	takeName(name)
	c := &Child{line: os.NewFile(uintptr(fd), "guardian"), fd: fd, guardian: int(peer.Pid), gone: make(chan struct{})}
	go c.listen()
	return c
}

// takeName gives this process the guardian's name, in place of that of /proc/self/exe. Of the files that
// hold it, a process that is closed to others may write this one.
func takeName(name string) {
	path := "/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/comm"
	_ = os.WriteFile(path, []byte(name), 0) // only for those who look
}

// listen takes echoes until the other end of the line is closed.
func (c *Child) listen() {
	defer close(c.gone)
	buf := make([]byte, maxMessage)
	for {
		n, err := c.line.Read(buf)
		if err != nil {
			return
		}
		if e, ok := decode(buf[:n]).(echo); ok {
			c.answered(e)
		}
	}
}

func (c *Child) answered(e echo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = 0
	if e.number != c.beats {
		c.since = bootclock.Awake()
	}
}

// work returns the exit code of run, or that of a failure when run takes too long to end after the guardian. A
// guardian that was given up and is silent still is killed at last, so that the service manager starts a new one.
func (c *Child) work(run func(*Child) int) int {
	done := make(chan int, 1)
	go func() { done <- run(c) }()
	select {
	case code := <-done:
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.abandoned && c.since != 0 {
			c.signal(syscall.SIGKILL)
		}
		return code
	case <-c.gone:
	}
	select {
	case code := <-done:
		return code
	case <-time.After(lastWords):
		return exitFailed
	}
}

// signal reaches the guardian only as long as it is the parent, whose id cannot be another's.
func (c *Child) signal(s syscall.Signal) {
	if os.Getppid() == c.guardian {
		_ = syscall.Kill(c.guardian, s)
	}
}

// Follow watches over the guardian until the context ends, and then returns nil. It returns [ErrGone] as soon as the
// guardian has ended. One that is stopped, or leaves beats unanswered for a second, is sent SIGCONT four
// times a second; [ErrSilent] is returned when that has not helped for ten seconds, or, where /proc does not show it as
// stopped, for thirty. Without a guardian it waits for the context.
func (c *Child) Follow(ctx context.Context, log *slog.Logger) error {
	return c.follow(ctx, log, newWatch())
}

func (c *Child) follow(ctx context.Context, log *slog.Logger, w watch) error {
	if c == nil {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	revived := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.gone:
			return ErrGone
		case <-ticker.C:
		}
		p, _ := proctree.Look(c.guardian)
		c.mu.Lock()
		since := c.since
		c.mu.Unlock()
		v := w.look(bootclock.Awake(), since, p.Stopped)
		if v.revive {
			if !revived {
				log.Warn("guardian_continued", "stopped", p.Stopped, "silent", v.silent)
			}
			c.signal(syscall.SIGCONT)
		}
		revived = v.revive
		c.report(v)
		if v.abandon {
			return fmt.Errorf("%w for %v", ErrSilent, v.silent.Round(time.Second))
		}
	}
}

// report keeps what a look found for [Child.Silent], and for the end of the process.
func (c *Child) report(v verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !v.report:
		c.silent = time.Time{}
	case c.silent.IsZero():
		c.silent = time.Now().Add(-v.silent)
	}
	c.abandoned = v.abandon
}

// Silent returns the time since when the guardian does not answer, once that has lasted for three seconds; zero while
// it answers.
func (c *Child) Silent() time.Time {
	if c == nil {
		return time.Time{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.silent
}

// Beat tells the guardian that the worker is alive, and that it is to end everything
// when it hears nothing more until this time of the boot clock; 0: no run needs that.
func (c *Child) Beat(killBy time.Duration) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock() // so that beats are sent in the order of their numbers
	if c.send(beat{killBy, c.beats + 1}.encode()) != nil {
		return // a guardian that does not listen just now hears the next one
	}
	c.beats++
	if c.since == 0 {
		c.since = bootclock.Awake()
	}
}

// Notify tells the service manager a state, sd_notify(3), through the guardian. It fails when
// the guardian does not take it; whether there is a service manager, only that one knows.
func (c *Child) Notify(state string) error {
	if c == nil {
		return nil
	}
	if err := c.send(note(state).encode()); err != nil && !errors.Is(err, syscall.EPIPE) { // it is gone: nobody is to be told

		return fmt.Errorf("tell the guardian: %w", err)
	}
	return nil
}

func (c *Child) send(message []byte) error { return transmit(c.fd, message) }

// transmit sends a message, or fails where it would have to wait.
func transmit(fd int, message []byte) error {
	for {
		err := unix.Send(fd, message, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
