//go:build !clockoffset

package wallclock

import "time"

// Now reads the wall clock only: a time with a monotonic reading would hide its jumps.
func Now() time.Time { return time.Now().Round(0) }

// Synchronized reports whether the kernel considers the wall clock synchronised by NTP.
func Synchronized() bool { return kernelSynchronized() }
