package executor

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor/redact"
)

// Killed is the cause with which a run's context ends after a kill request.
type Killed struct {
	By, Note string
	Code     string        // reason code of a request that does not come from a user
	Signal   common.Signal // first signal; empty: TERM
	At       time.Time
}

func (k Killed) Error() string {
	text := "killed by " + common.Excerpt(k.By)
	if s := k.signal(); s != common.SignalTerm {
		text += " with " + string(s)
	}
	if k.Note != "" {
		text += ": " + common.Excerpt(k.Note)
	}
	return text
}

// Causes with which the worker ends the context of its runs.
var (
	ErrStopping = errors.New("the worker was stopped before the command had ended")
	ErrCutOff   = errors.New("the worker could not reach etcd for too long")
)

// timedOut is the cause with which Run stops a command after its timeout.
type timedOut struct {
	after  time.Duration
	worker bool // the worker's maxRunTime, not the job's timeout
}

func (t timedOut) Error() string {
	if t.worker {
		return fmt.Sprintf("ran longer than this worker's limit of %v", t.after)
	}
	return fmt.Sprintf("ran longer than its timeout of %v", t.after)
}

func graceOf(r *common.Record, cause error) time.Duration {
	if k, ok := errors.AsType[Killed](cause); ok && k.signal() == common.SignalKill {
		return 0
	}
	if errors.Is(cause, ErrCutOff) {
		return r.Policy.FenceGrace(r.TTL)
	}
	return max(0, r.Policy.KillGrace)
}

// outcome is the status and reason of a run that has ended.
type outcome struct {
	status common.Status
	reason *common.Reason
}

func failed(code, format string, args ...any) *outcome {
	return &outcome{common.StatusFailed, &common.Reason{Code: code, Text: fmt.Sprintf(format, args...)}}
}

// with adds a value for translated texts.
func (o *outcome) with(key, value string) *outcome {
	if o.reason.Data == nil {
		o.reason.Data = make(map[string]string)
	}
	o.reason.Data[key] = value
	return o
}

// maskReason masks secrets in the reason: it may quote paths and programs of the job.
func maskReason(masks *redact.Masker, r *common.Reason) {
	if masks == nil || r == nil {
		return
	}
	r.Text = masks.Text(r.Text)
	for k, v := range r.Data {
		r.Data[k] = masks.Text(v)
	}
}

func outcomeOfCause(cause error) *outcome {
	stopped := &outcome{common.StatusKilled, &common.Reason{Code: "cancelled", Text: cause.Error()}}
	if h, ok := errors.AsType[hurried](cause); ok {
		stopped.with("atOnceBy", h.by)
	}
	if k, ok := errors.AsType[Killed](cause); ok {
		stopped.reason.Code = cmp.Or(k.Code, "killed_by_user")
		stopped.with("by", k.By)
		if k.Code == "" {
			stopped.with("signal", string(k.signal()))
		}
		if k.Note != "" {
			stopped.with("note", k.Note)
		}
		return stopped
	}
	if t, ok := errors.AsType[timedOut](cause); ok {
		stopped.status, stopped.reason.Code = common.StatusTimedOut, "timeout"
		if t.worker {
			stopped.reason.Code = "max_run_time"
		}
		return stopped.with("after", t.after.String())
	}
	switch {
	case errors.Is(cause, ErrStopping):
		stopped.reason.Code = "worker_stopping"
	case errors.Is(cause, ErrCutOff):
		stopped.reason.Code = "worker_cut_off"
	}
	return stopped
}

// outcomeOf returns the outcome of a command that was started. cause is why it was stopped, or nil.
func outcomeOf(t *Task, e *end, err, cause error) *outcome {
	if cause != nil {
		return outcomeOfCause(cause)
	}
	if err != nil {
		return failed("wait_failed", "the exit status of the command is unknown: %v", err)
	}
	if status := e.status; status.Signaled() {
		name := signalName(status.Signal())
		return failed("signal", "ended by signal %s", name).with("signal", name)
	}
	code := e.status.ExitStatus()
	if t.Job.Succeeded(code) {
		return &outcome{status: common.StatusSucceeded}
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
	return failed("exit_code", "%s", text).with("exitCode", strconv.Itoa(code))
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
