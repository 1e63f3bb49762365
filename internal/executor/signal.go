package executor

import (
	"cmp"
	"errors"
	"syscall"

	"carillon/internal/common"
)

// signal is the one with which the end begins.
func (k Killed) signal() common.Signal { return cmp.Or(k.Signal, common.SignalTerm) }

// hurried is the cause of a run that was ending, and that somebody wished to end at once.
type hurried struct {
	error
	by string
}

func (h hurried) Error() string { return h.error.Error() + "; at once, by " + common.Excerpt(h.by) }
func (h hurried) Unwrap() error { return h.error }

// signalOf is the signal with which the end begins. One that is not known, since a newer master
// wrote it, is TERM.
func signalOf(cause error) syscall.Signal {
	k, _ := errors.AsType[Killed](cause)
	switch k.signal() {
	case "INT":
		return syscall.SIGINT
	case "QUIT":
		return syscall.SIGQUIT
	case "HUP":
		return syscall.SIGHUP
	case "USR1":
		return syscall.SIGUSR1
	case "USR2":
		return syscall.SIGUSR2
	}
	return syscall.SIGTERM
}

// signalGroup sends a signal to all of a group. Those that are stopped would not hear it.
func signalGroup(pgid int, s syscall.Signal) {
	_ = syscall.Kill(-pgid, s)
	_ = syscall.Kill(-pgid, syscall.SIGCONT)
}
