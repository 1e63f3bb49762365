package carillon

import (
	"errors"
	"fmt"

	"carillon/internal/cluster/members"
	"carillon/internal/executor"
	"carillon/internal/executor/inside"
	"carillon/internal/worker/funcrun"
)

// Causes with which the context of a function ends; errors.Is(context.Cause(ctx), …) reports which.
var (
	// ErrKilled: a user or a policy ended the run.
	ErrKilled = inside.ErrKilled
	// ErrTimedOut: the run exceeded its timeout.
	ErrTimedOut = inside.ErrTimedOut
	// ErrStopping: the process is stopping.
	ErrStopping = inside.ErrStopping
	// ErrCutOff: the process cannot reach etcd, and another one may soon run the job.
	ErrCutOff = inside.ErrCutOff
)

// ErrTwin is returned by Run if another live process has the same id, or uses the same Config.Dir.
var ErrTwin = errors.New("another process has the same id")

// ErrEnded is returned for output of a run that has ended.
var ErrEnded = funcrun.ErrEnded

// Exit returns an error that ends a run with an exit code, as a command's: the run has succeeded if the code counts as
// success for its job, and failed otherwise. retry.exitCodes and the edges of flows may name the code.
func Exit(code int, err error) error { return &funcrun.ExitError{Code: code, Err: err} }

// Skip returns an error that ends a run as skipped, since there was nothing to do.
func Skip(reason string) error { return &funcrun.SkipError{Reason: reason} }

// asTwin adds ErrTwin to the errors of processes with the same id.
func asTwin(err error) error {
	if errors.Is(err, members.ErrTwin) || errors.Is(err, executor.ErrHomeInUse) {
		return fmt.Errorf("%w: %w", ErrTwin, err)
	}
	return err
}
