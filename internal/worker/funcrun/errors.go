package funcrun

import (
	"errors"
	"fmt"
	"strconv"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
)

// ExitError is an error with an exit code.
type ExitError struct {
	Code int
	Err  error // may be nil
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return "exit code " + strconv.Itoa(e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// SkipError ends a run as skipped.
type SkipError struct{ Reason string }

func (e *SkipError) Error() string { return "skipped: " + e.Reason }

// exitError is the exit code of a function that returns an error without one.
const exitError = 1

// Bounds of what an outcome quotes of an error, and of a panic.
const maxText = 4 << 10

// end is how the goroutine of a function has ended.
type end struct {
	err      error
	panicked any    // nil: it did not panic
	stack    []byte // of the panic
	exited   bool   // by runtime.Goexit
	cause    error  // why the context had ended by then; nil if it had not
}

// outcome returns the outcome of a call, and its exit code.
func (e *end) outcome(job *common.Job) (how *inside.Outcome, code *int) {
	exit, hasCode := errors.AsType[*ExitError](e.err)
	skip, skipped := errors.AsType[*SkipError](e.err)
	switch {
	case e.cause != nil:
		return inside.OfCause(e.cause), nil
	case e.panicked != nil:
		text := shortened(fmt.Sprint(e.panicked))
		return inside.Failed(common.ReasonPanic, "the function panicked: %s", text).With("error", text), nil
	case e.exited:
		return inside.Failed(common.ReasonGoexit, "the function ended its goroutine with runtime.Goexit"), nil
	case skipped && !hasCode:
		text := shortened(skip.Reason)
		how = &inside.Outcome{Status: common.StatusSkipped,
			Reason: &common.Reason{Code: common.ReasonFunctionSkipped, Text: text}}
		return how.With("note", text), nil
	case hasCode:
		code = &exit.Code
	case e.err != nil:
		code = new(exitError)
	default:
		code = new(0)
	}
	if (e.err == nil || hasCode) && job.Succeeded(*code) {
		return &inside.Outcome{Status: common.StatusSucceeded}, code
	}
	text := "exit code " + strconv.Itoa(*code)
	if e.err != nil {
		text = shortened(e.err.Error())
	}
	return inside.Failed(common.ReasonFunctionError, "%s", text).With("error", text).
		With("exitCode", strconv.Itoa(*code)), code
}

func shortened(text string) string {
	if len(text) > maxText {
		return text[:maxText] + "…"
	}
	return text
}
