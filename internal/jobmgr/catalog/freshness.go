package catalog

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// freshness is the time at which a watch last confirmed that it is complete.
type freshness struct{ at atomic.Int64 }

func (f *freshness) mark() { f.at.Store(time.Now().UnixNano()) }

// Lag returns the time since the jobs were last confirmed to be complete.
func (f *freshness) Lag() time.Duration {
	at := f.at.Load()
	if at == 0 {
		return time.Hour // not confirmed yet
	}
	return time.Since(time.Unix(0, at))
}

// stale is how long a watch may be silent before a daemon is not ready: longer than the watch's own limit,
// after which it lists again.
const stale = 45 * time.Second

// Fault returns why the jobs are not known as of now.
func (f *freshness) Fault() error {
	switch lag := f.Lag(); {
	case f.at.Load() == 0:
		return errors.New("jobs not read yet")
	case lag > stale:
		return fmt.Errorf("no confirmation from etcd for %v", lag.Round(time.Second))
	}
	return nil
}
