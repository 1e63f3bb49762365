// Package bootclock reads the clock that counts from the boot of the machine, including suspended time, and cannot be
// set. Only differences within one boot of one machine are meaningful.
package bootclock

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time since the boot of the machine.
func Now() time.Duration { return read(unix.CLOCK_BOOTTIME) }

// Awake returns the time since the boot without the time that the machine was suspended.
func Awake() time.Duration { return read(unix.CLOCK_MONOTONIC) }

func read(clock int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		panic("bootclock: the kernel has no clock " + err.Error()) // both exist since Linux 2.6.39
	}
	return time.Duration(ts.Nano())
}

// BootID identifies the current boot of the machine; it returns "" if the kernel does not provide it.
func BootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
