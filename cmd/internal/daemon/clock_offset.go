//go:build clockoffset

package daemon

import (
	"os"
	"sync"
	"time"
)

// WallClock reads a wall clock that is wrong by CARILLON_CLOCK_OFFSET. It is built
// only into the programs with which benchmarks and tests show what wrong clocks do.
func WallClock() time.Time { return time.Now().Round(0).Add(offset()) }

var offset = sync.OnceValue(func() time.Duration {
	d, err := time.ParseDuration(os.Getenv("CARILLON_CLOCK_OFFSET"))
	if err != nil {
		return 0
	}
	return d
})
