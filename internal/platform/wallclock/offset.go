//go:build clockoffset

package wallclock

import (
	"os"
	"time"
)

// Now reads a wall clock that is wrong by CARILLON_CLOCK_OFFSET. It is built only into programs for
// benchmarks and tests of wrong clocks.
func Now() time.Time { return time.Now().Round(0).Add(offset) }

// offset is read before main reads the environment, and removed from it: it is not a setting, and unknown
// settings are refused.
var offset = takeOffset()

func takeOffset() time.Duration {
	const name = "CARILLON_CLOCK_OFFSET"
	d, err := time.ParseDuration(os.Getenv(name))
	if err != nil {
		return 0
	}
	// The guardian, which has no settings, passes it on to the worker.
	if os.Getenv("CARILLON_GUARDIAN") != "" && os.Unsetenv(name) != nil {
		return 0
	}
	return d
}

// Synchronized reports whether the kernel considers the wall clock synchronised by NTP. A clock with an offset
// is not.
func Synchronized() bool { return offset == 0 && kernelSynchronized() }
