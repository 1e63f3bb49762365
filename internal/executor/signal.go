package executor

import (
	"cmp"
	"errors"
	"syscall"

	"carillon/internal/common"
)

// signal returns the first signal to send.
func (k Killed) signal() common.Signal { return cmp.Or(k.Signal, common.SignalTerm) }

// hurried is the cause of a run whose grace period was ended by another kill request.
type hurried struct {
	error
	by string
}

func (h hurried) Error() string { return h.error.Error() + "; at once, by " + common.Excerpt(h.by) }
func (h hurried) Unwrap() error { return h.error }

// signalOf returns the first signal to send. An unknown signal, from a newer master, is replaced by TERM.
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

// signalGroup sends a signal to a process group, and SIGCONT, so that stopped processes receive it.
func signalGroup(pgid int, s syscall.Signal) {
	_ = syscall.Kill(-pgid, s)
	_ = syscall.Kill(-pgid, syscall.SIGCONT)
}
