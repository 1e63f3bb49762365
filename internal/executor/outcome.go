package executor

import (
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
)

// outcomeOf returns the outcome of a command that was started. cause is why it was stopped, or nil.
func outcomeOf(t *Task, e *end, err, cause error) *inside.Outcome {
	if cause != nil {
		return inside.OfCause(cause)
	}
	if err != nil {
		return inside.Failed("wait_failed", "the exit status of the command is unknown: %v", err)
	}
	if status := e.status; status.Signaled() {
		name := signalName(status.Signal())
		return inside.Failed("signal", "ended by signal %s", name).With("signal", name)
	}
	code := e.status.ExitStatus()
	if t.Job.Succeeded(code) {
		return &inside.Outcome{Status: common.StatusSucceeded}
	}
	text := "exit code " + strconv.Itoa(code)
	if len(t.Job.Args) == 0 {
		switch code { // as a POSIX shell uses them
		case 126:
			text += " (the shell could not execute the command)"
		case 127:
			text += " (the shell found no such command)"
		}
	}
	return inside.Failed("exit_code", "%s", text).With("exitCode", strconv.Itoa(code))
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(s))
}

// account sets the resource usage that the kernel measured for the command and the descendants that it waited for.
func (x *Executor) account(run *common.Run, e *end) {
	if e.status.Signaled() {
		run.Signal = signalName(e.status.Signal())
	} else {
		run.ExitCode = new(e.status.ExitStatus())
	}
	run.CPUSeconds = time.Duration(e.used.Utime.Nano() + e.used.Stime.Nano()).Seconds()
	// A process starts with the peak memory of its parent, so only a value above our own peak is the command's.
	if e.used.Maxrss <= x.peak.Load() {
		return
	}
	var own unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &own) != nil {
		return
	}
	x.peak.Store(own.Maxrss)
	if e.used.Maxrss > own.Maxrss {
		run.MaxRSSBytes = e.used.Maxrss << 10
	}
}
