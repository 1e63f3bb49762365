// Package wallclock reads the wall clock of the machine. Other packages get it as an argument.
package wallclock

import "golang.org/x/sys/unix"

// kernelSynchronized reports whether the kernel considers the wall clock synchronised by NTP: setting it
// manually ends that.
func kernelSynchronized() bool {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	return err == nil && state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0
}
