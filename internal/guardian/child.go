package guardian

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Child is the worker's end of the line to its guardian. A nil Child is that of a
// process without a guardian. It is safe for concurrent use, and never blocks.
type Child struct {
	line *os.File // a descriptor that Go polls
	fd   int      // the same
	gone chan struct{}
}

// lastWords is how long a worker may live after its guardian.
const lastWords = 5 * time.Second

// adopted gives the line to the guardian if this process was started by one, and takes
// the sign of it out of the environment.
func adopted() *Child {
	value := os.Getenv(variable)
	if value == "" {
		return nil
	}
	_ = os.Unsetenv(variable)
	fd, err := strconv.Atoi(value)
	if err != nil {
		return nil
	}
	// Somebody may have passed on what was not meant for him.
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || int(peer.Pid) != os.Getppid() || unix.SetNonblock(fd, true) != nil {
		return nil
	}
	unix.CloseOnExec(fd)
	c := &Child{line: os.NewFile(uintptr(fd), "guardian"), fd: fd, gone: make(chan struct{})}
	go c.listen()
	return c
}

// listen returns when the other end of the line is closed: nothing ever comes from there.
func (c *Child) listen() {
	_, _ = c.line.Read(make([]byte, 1))
	close(c.gone)
}

// work gives the exit code of run, or of one that takes too long to end after its guardian.
func (c *Child) work(run func(*Child) int) int {
	done := make(chan int, 1)
	go func() { done <- run(c) }()
	select {
	case code := <-done:
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

// takeName gives this process the guardian's name, in place of that of /proc/self/exe.
func takeName() {
	if name, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/comm"); err == nil {
		_ = os.WriteFile("/proc/self/comm", bytes.TrimSpace(name), 0) // only for those who look
	}
}

// Beat tells the guardian that the worker is alive, and that it is to end everything
// when it hears nothing more until this time of the boot clock; 0: no run needs that.
func (c *Child) Beat(killBy time.Duration) {
	if c != nil {
		_ = c.send(beat{killBy}.encode()) // a guardian that does not listen just now hears the next one
	}
}

// Gone is closed when the guardian is gone. Without a guardian it never is.
func (c *Child) Gone() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.gone
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

func (c *Child) send(message []byte) error {
	for {
		err := unix.Send(c.fd, message, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
