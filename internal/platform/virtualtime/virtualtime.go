// Package virtualtime runs tests in virtual time, under the race detector too.
package virtualtime

import (
	"runtime"
	"testing"
	"testing/synctest"
)

// Test calls [synctest.Test] in a way that works under the race detector. In a bubble, all channel timers that are run
// by goroutines reading them share one race context (https://go.dev/issue/78156): if two goroutines do so at once on
// two processors, the detector's state is corrupted and the process crashes. Test therefore uses one processor. This
// does not hide races: the detector compares the order of events, not their times.
//
// Like t.Setenv, it must not be used in parallel tests: the number of processors is a global setting.
func Test(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if raceDetector {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	synctest.Test(t, f)
}

// Wait is [synctest.Wait].
func Wait() { synctest.Wait() }
