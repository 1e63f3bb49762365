//go:build clockoffset

package daemon

import (
	"os"
	"time"
)

// WallClock reads a wall clock that is wrong by CARILLON_CLOCK_OFFSET. It is built
// only into the programs with which benchmarks and tests show what wrong clocks do.
func WallClock() time.Time { return time.Now().Round(0).Add(offset) }

// offset is read before main looks at the environment, and taken out of it: it is
// no setting, and settings that are not known are refused.
var offset = takeOffset()

func takeOffset() time.Duration {
	const name = "CARILLON_CLOCK_OFFSET"
	d, err := time.ParseDuration(os.Getenv(name))
	if err != nil {
		return 0
	}
	// The guardian, which has no settings, hands it on to the worker.
	if os.Getenv("CARILLON_GUARDIAN") != "" && os.Unsetenv(name) != nil {
		return 0
	}
	return d
}

// synchronized reports whether the kernel knows the wall clock to be set by NTP. One that is wrong is not.
func synchronized() bool { return offset == 0 && kernelSynchronized() }
