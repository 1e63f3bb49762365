//go:build !clockoffset

package daemon

import "time"

// WallClock reads the wall clock alone: a time that also carries the monotonic
// clock would hide its jumps.
func WallClock() time.Time { return time.Now().Round(0) }

// synchronized reports whether the kernel knows the wall clock to be set by NTP.
func synchronized() bool { return kernelSynchronized() }
