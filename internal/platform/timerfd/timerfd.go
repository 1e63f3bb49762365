// Package timerfd has a timer that wakes a goroutine within a fraction of a millisecond, and when the wall clock is
// set.
//
// While a Go program is idle, it waits for its timers in whole milliseconds. A timer of the kernel is an event of its
// own, as the data of a connection is.
package timerfd

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Timer is a timer on the wall clock. Close it after use.
type Timer struct {
	c      chan time.Time
	file   *os.File
	reader sync.WaitGroup

	mu    sync.Mutex
	armed time.Time // when it fires next; zero: not armed
}

// New returns a timer that is not armed. It returns an error if the kernel or a sandbox does not allow one.
func New() (*Timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("create a timer: %w", err)
	}
	t := &Timer{c: make(chan time.Time, 1), file: os.NewFile(uintptr(fd), "timer")}
	t.reader.Go(t.read)
	return t, nil
}

// C returns the channel that receives the time when the timer fires or the wall clock was set. A value that is not
// received in time is dropped.
func (t *Timer) C() <-chan time.Time { return t.c }

// Reset makes the timer fire after a time, or earlier if it is armed already.
func (t *Timer) Reset(d time.Duration) {
	at := time.Now().Add(d)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.armed.IsZero() && !t.armed.After(at) {
		return
	}
	raw, err := t.file.SyscallConn()
	if err != nil {
		return // closed
	}
	_ = raw.Control(func(fd uintptr) {
		spec := unix.ItimerSpec{Value: unix.NsecToTimespec(at.UnixNano())}
		err = unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &spec, nil)
	})
	if err == nil {
		t.armed = at
	}
}

// read passes on the events of the kernel until the timer is closed.
func (t *Timer) read() {
	var count [8]byte
	for {
		// ECANCELED: the clock was set
		if _, err := t.file.Read(count[:]); err != nil && !errors.Is(err, unix.ECANCELED) {
			return
		}
		t.mu.Lock()
		t.armed = time.Time{}
		t.mu.Unlock()
		select {
		case t.c <- time.Now():
		default:
		}
	}
}

// Close releases the timer. It does not fire any more.
func (t *Timer) Close() error {
	err := t.file.Close()
	t.reader.Wait()
	return err
}
