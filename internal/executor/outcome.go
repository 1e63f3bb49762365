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
	"carillon/internal/mask"
)

// Killed is the cause with which a run's context ends when somebody wished so.
type Killed struct {
	By, Note string
	Code     string        // which wish it was, where it was not a user's
	Signal   common.Signal // with which the end begins; TERM where there is none
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

// timedOut is the cause that Run itself ends a command with.
type timedOut struct {
	after  time.Duration
	worker bool // it is the worker's bound
}

func (t timedOut) Error() string {
	if t.worker {
		return fmt.Sprintf("ran longer than the %v that this worker lets a command run", t.after)
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

// outcome is how a run ended.
type outcome struct {
	status common.Status
	reason *common.Reason
}

func failed(code, format string, args ...any) *outcome {
	return &outcome{common.StatusFailed, &common.Reason{Code: code, Text: fmt.Sprintf(format, args...)}}
}

// with adds a piece of data for translated texts.
func (o *outcome) with(key, value string) *outcome {
	if o.reason.Data == nil {
		o.reason.Data = make(map[string]string)
	}
	o.reason.Data[key] = value
	return o
}

// maskReason takes secrets out of what the outcome says: paths and programs are the job's words.
func maskReason(masks *mask.Masker, r *common.Reason) {
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

// outcomeOf judges a command that was started; cause says why it was stopped, if
// it was.
func outcomeOf(t *Task, e *end, err, cause error) *outcome {
	if cause != nil {
		return outcomeOfCause(cause)
	}
	if err != nil {
		return failed("wait_failed", "how the command ended could not be learned: %v", err)
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

// account fills in what the kernel counted for the command and the descendants
// that it waited for.
func (x *Executor) account(run *common.Run, e *end) {
	if e.status.Signaled() {
		run.Signal = signalName(e.status.Signal())
	} else {
		run.ExitCode = new(e.status.ExitStatus())
	}
	run.CPUSeconds = time.Duration(e.used.Utime.Nano() + e.used.Stime.Nano()).Seconds()
	// The kernel lets a process begin with the peak of the one that started it, so
	// only a figure above our own peak is the command's.
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
