//go:build !clockoffset

package daemon

import "time"

// WallClock reads the wall clock only: a time with a monotonic reading would hide its jumps.
func WallClock() time.Time { return time.Now().Round(0) }

// synchronized reports whether the kernel considers the wall clock synchronised by NTP.
func synchronized() bool { return kernelSynchronized() }
