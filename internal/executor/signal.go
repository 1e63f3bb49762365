package executor

import (
	"errors"
	"syscall"

	"carillon/internal/executor/inside"
)

// signalOf returns the first signal to send. An unknown signal, from a newer master, is replaced by TERM.
func signalOf(cause error) syscall.Signal {
	k, _ := errors.AsType[inside.Killed](cause)
	switch k.FirstSignal() {
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
