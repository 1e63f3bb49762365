// Package bootclock reads the clock that counts since the machine was started, time
// asleep included, which nobody can set. Only differences of it mean something, and
// only on one machine.
package bootclock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the time since the machine was started.
func Now() time.Duration { return read(unix.CLOCK_BOOTTIME) }

// Awake is the time since then that the machine was not asleep.
func Awake() time.Duration { return read(unix.CLOCK_MONOTONIC) }

func read(clock int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		panic("bootclock: the kernel has no clock " + err.Error()) // it has had both since 2.6.39
	}
	return time.Duration(ts.Nano())
}
