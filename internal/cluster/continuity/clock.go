package continuity

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"carillon/internal/cluster/clock"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/wallclock"
)

// Clock compares the wall clock with its own past, which it stores in the data folder. It is safe for
// concurrent use.
type Clock struct {
	path string // path of the file; empty: nothing is remembered
	log  *slog.Logger

	mu        sync.Mutex
	trust     *clock.Trust    // guarded by mu
	selfCheck clock.SelfCheck // guarded by mu; result of the last Judge
}

const (
	clockFile = "clock.json"
	// keepClockEvery is the interval at which the trusted time is stored; after a restart it may be too old by
	// this much.
	keepClockEvery = 10 * time.Second
)

// OpenClock reads the time that an earlier start with this data folder stored. An unreadable file counts as
// missing.
func OpenClock(dir string, log *slog.Logger) *Clock {
	path := filepath.Join(dir, clockFile)
	remembered := readFile[clock.Remembered](path, log, "clock_file_unreadable")
	return &Clock{path: path, log: log, trust: clock.NewTrust(remembered, bootclock.BootID(), bootclock.Now())}
}

// NewClock creates a clock without the time of earlier starts.
func NewClock(log *slog.Logger) *Clock { return &Clock{log: log, trust: &clock.Trust{}} }

// Judge compares the wall clock with its past. proven reports that another clock agrees.
func (c *Clock) Judge(wall time.Time, proven bool) clock.SelfCheck {
	at := bootclock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.selfCheck.Doubt
	c.selfCheck = c.trust.Judge(wall, at, proven || wallclock.Synchronized())
	switch b := c.selfCheck; {
	case b.Doubt && !before:
		c.log.Warn("clock_suspect", "now", wall.UTC(), "trusted", b.Time.UTC(), "for", b.Left)
	case before && !b.Doubt:
		c.log.Warn("clock_ok", "now", wall.UTC())
	}
	return c.selfCheck
}

// Keep stores the trusted time repeatedly until the context ends. While the clock is suspect, the stored time
// is kept.
func (c *Clock) Keep(ctx context.Context) error {
	tick := time.NewTicker(keepClockEvery)
	defer tick.Stop()
	for {
		if err := c.write(); err != nil {
			c.log.Warn("clock_not_remembered", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (c *Clock) write() error {
	wall := wallclock.Now()
	if c.Judge(wall, false).Doubt || c.path == "" {
		return nil
	}
	return replaceFile(c.path, clock.Remembered{Wall: wall.UTC(), At: bootclock.Now(), Boot: bootclock.BootID()})
}
