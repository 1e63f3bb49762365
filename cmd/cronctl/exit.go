package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"carillon/internal/apiclient"
	"carillon/internal/common"

	"github.com/spf13/cobra"
)

// The exit codes; scripts rely on them.
const (
	exitOK          = 0
	exitJobFailed   = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitDenied      = 5
	exitAway        = 6
	exitInterrupted = 130
)

// exitError sets the exit code without a message: the error is reported already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exitCode returns the exit code of the program after err.
func exitCode(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	if code, ok := errors.AsType[exitError](err); ok {
		return int(code)
	}
	if ctx.Err() != nil {
		return exitInterrupted
	}
	e, ok := errors.AsType[*common.Error](err)
	if !ok {
		return exitUsage // flags and arguments that cobra refuses
	}
	codes := map[common.Code]int{
		common.CodeInvalid:         exitUsage,
		common.CodeTooLarge:        exitUsage,
		common.CodeUnsupportedType: exitUsage,
		common.CodeNotAllowed:      exitUsage,
		common.CodeNotFound:        exitNotFound,
		common.CodeExists:          exitConflict,
		common.CodeStale:           exitConflict,
		common.CodeConflict:        exitConflict,
		common.CodeUnauthenticated: exitDenied,
		common.CodeForbidden:       exitDenied,
	}
	return cmp.Or(codes[e.Code], exitAway)
}

// online runs a command with a client of the server.
func (c *cli) online(run func(ctx context.Context, api *apiclient.API, args []string) error) runFunc {
	return func(cmd *cobra.Command, args []string) error {
		api, err := c.api()
		if err != nil {
			return err
		}
		return run(cmd.Context(), api, args)
	}
}

// hinted, invalid and cannot create errors with a hint, of wrong usage, and of wrong usage with a cause.
func hinted(code common.Code, message, hint string) error {
	return &common.Error{Code: code, Message: message, Hint: hint}
}

func invalid(message, hint string) error { return hinted(common.CodeInvalid, message, hint) }

func cannot(message string, err error) error {
	return &common.Error{Code: common.CodeInvalid, Message: message, Err: err}
}

// within adds to an error's message what it is about.
func within(from string, err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	e.Message = from + ": " + e.Message
	return &e
}

// asError returns a copy of an error that has a code.
func asError(err error) (common.Error, bool) {
	e, ok := errors.AsType[*common.Error](err)
	return value(e), ok
}

// report prints an error: its message, each field error on a line, and a hint.
func report(w io.Writer, err error) {
	if _, silent := errors.AsType[exitError](err); silent || err == nil {
		return
	}
	e, ok := errors.AsType[*common.Error](err)
	if !ok {
		fmt.Fprintf(w, "cronctl: %v\n", err)
		return
	}
	fmt.Fprintf(w, "cronctl: %s", e.Message)
	if e.Err != nil {
		fmt.Fprintf(w, ": %v", e.Err)
	}
	fmt.Fprintln(w)
	for _, f := range e.Faults {
		fmt.Fprintf(w, "  %s: %s\n", f.Location, f.Message)
		if f.Hint != "" {
			fmt.Fprintf(w, "    %s\n", f.Hint)
		}
	}
	if hint := hintOf(e); hint != "" {
		fmt.Fprintf(w, "  hint: %s\n", hint)
	}
}

// hintOf returns the hint in terms of cronctl, instead of the server's in terms of HTTP.
func hintOf(e *common.Error) string {
	switch e.Code {
	case common.CodeUnauthenticated:
		return "run cronctl login, or name a token file with --token-file or CARILLON_TOKEN_FILE (a standalone " +
			"writes admin.token to its data folder)"
	case common.CodeExists:
		return "choose another name, or replace it with --replace"
	}
	return e.Hint
}

// tag returns the entity tag of a version.
func tag(version int64) *string { return new(fmt.Sprintf(`"%d"`, version)) }
