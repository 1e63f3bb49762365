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

	"carillon/internal/common"
	"carillon/internal/executor/proctree"
	"carillon/internal/platform/bootclock"
)

// Child is the worker's end of the socket to its guardian. A nil Child is valid: the process has no guardian.
// It is safe for concurrent use, and its methods other than Follow never block.
type Child struct {
	line     *os.File // registered with Go's poller
	fd       int      // the descriptor of line
	guardian int      // process id
	gone     chan struct{}

	mu        sync.Mutex
	beats     uint64        // number of the last heartbeat; guarded by mu, as are all fields below
	since     time.Duration // the guardian has been silent since then although an echo is due; 0: no echo is due
	silent    time.Time     // start of the reported silence; zero: none
	abandoned bool          // the worker ends because of the silence
}

// Errors of [Child.Follow].
var (
	ErrGone   = errors.New("the guardian has ended")
	ErrSilent = errors.New("the guardian does not answer")
)

// endAfterGuardian is how long a worker may live after its guardian.
const endAfterGuardian = 5 * time.Second

// adopted returns the connection to the guardian if this process was started by one, nil otherwise. It removes the
// guardian's variable from the environment.
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

// takeName sets the process name to the guardian's; it would be "exe" otherwise, from /proc/self/exe. A process that
// is not dumpable cannot write /proc/self/comm, but it can write the file of its thread.
func takeName(name string) {
	path := "/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/comm"
	_ = os.WriteFile(path, []byte(name), 0) // the name is only informative
}

// listen receives echoes until the guardian's end of the socket is closed.
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

// work calls run and returns its exit code, or exitFailed if the guardian has ended and run does not return within
// endAfterGuardian. If run returns because of a silent guardian that is still silent, work kills the guardian, so that
// the service manager starts a new one.
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
	case <-time.After(endAfterGuardian):
		return exitFailed
	}
}

// signal sends a signal to the guardian if it is still the parent: then its process id cannot have been reused.
func (c *Child) signal(s syscall.Signal) {
	if os.Getppid() == c.guardian {
		_ = syscall.Kill(c.guardian, s)
	}
}

// Follow monitors the guardian until the context ends, and then returns nil. It returns [ErrGone] as soon as the
// guardian has ended. It sends SIGCONT four times a second to a guardian that is stopped or has not answered a
// heartbeat for 1 s, and returns [ErrSilent] if the guardian stays silent for 10 s while /proc shows it as stopped, or
// for 30 s otherwise. Without a guardian it waits for the end of the context.
func (c *Child) Follow(ctx context.Context, log *slog.Logger) error {
	return c.follow(ctx, log, newWatch(bootclock.Awake()))
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
		v := w.check(bootclock.Awake(), since, p.Stopped)
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

// report stores a verdict for [Child.Conditions] and [Child.work].
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

// Conditions reports a guardian that has not answered for at least 3 s.
func (c *Child) Conditions() []common.Condition {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silent.IsZero() {
		return nil
	}
	return []common.Condition{{
		Code:        common.ConditionGuardianSilent,
		From:        c.silent.UTC(),
		StopsClaims: true,
		Text: "the guardian of this worker does not respond: " +
			"if the worker were killed now, its commands could survive",
	}}
}

// Beat sends a heartbeat with a deadline, a time of the boot clock: the guardian kills the worker and its process tree
// if it receives no other heartbeat until then. killBy 0 sets no deadline.
func (c *Child) Beat(killBy time.Duration) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock() // held while sending, so that heartbeats are sent in the order of their numbers
	if c.send(beat{killBy, c.beats + 1}.encode()) != nil {
		return // the buffer is full; the next heartbeat follows soon
	}
	c.beats++
	if c.since == 0 {
		c.since = bootclock.Awake()
	}
}

// Notify sends a state to the service manager, sd_notify(3), through the guardian. It returns an error if it cannot
// send it to the guardian, and nil if there is no service manager or no guardian.
func (c *Child) Notify(state string) error {
	if c == nil {
		return nil
	}
	if err := c.send(note(state).encode()); err != nil && !errors.Is(err, syscall.EPIPE) { // EPIPE: it has ended
		return fmt.Errorf("notify the guardian: %w", err)
	}
	return nil
}

func (c *Child) send(message []byte) error { return transmit(c.fd, message) }

// transmit sends a message, or returns EAGAIN where it would block.
func transmit(fd int, message []byte) error {
	for {
		err := unix.Send(fd, message, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
