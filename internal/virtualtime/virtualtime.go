// Package virtualtime runs tests in virtual time, under the race detector too.
package virtualtime

import (
	"runtime"
	"testing"
	"testing/synctest"
)

// Test is [synctest.Test] that survives the race detector. In a bubble all channel timers that
// are run by the goroutines which look at them share one race context
// (https://go.dev/issue/78156): when two goroutines look at once on two processors, the
// detector's own state breaks and the process dies. With one processor no two can. What
// the detector finds does not depend on it: it compares the order of events, not their times.
//
// Like t.Setenv it is not for parallel tests: the number of processors is everybody's.
func Test(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if raceDetector {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	synctest.Test(t, f)
}

// Wait is [synctest.Wait].
func Wait() { synctest.Wait() }
