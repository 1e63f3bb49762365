package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/guardian"
	"carillon/internal/health"
	"carillon/internal/platform/config"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/memory"
)

// Exit codes of the daemons, in addition to those of config.ExitCode.
const (
	exitFailed = 1
	exitTwin   = 4 // another process runs with this worker's id
	exitEtcd   = 5 // the standalone's etcd cannot write
)

// Execute runs a command line and returns the exit code.
func Execute(cmd *cobra.Command, args []string, stdout, stderr io.Writer) int {
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.Execute()
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "%s: %v\n", cmd.Name(), err)
	if told, ok := errors.AsType[*common.Error](err); ok && told.Hint != "" {
		fmt.Fprintf(stderr, "  %s\n", told.Hint)
	}
	switch {
	case errors.Is(err, members.ErrTwin), errors.Is(err, executor.ErrHomeInUse):
		return exitTwin
	case errors.Is(err, ErrEtcd):
		return exitEtcd
	case errors.Is(err, errFailed):
		return exitFailed
	default: // an invalid flag or setting
		return config.ExitCode
	}
}

// ErrEtcd marks the failure of an etcd in this process that cannot write to its files.
var ErrEtcd = errors.New("etcd in this process has failed")

// errFailed marks runtime failures, as opposed to invalid settings.
var errFailed = errors.New("failed")

// Failed marks an error as one that may be temporary, for the exit code.
func Failed(err error) error {
	if err == nil || errors.Is(err, members.ErrTwin) || errors.Is(err, executor.ErrHomeInUse) {
		return err
	}
	return failure{err}
}

type failure struct{ error }

func (f failure) Is(target error) bool { return target == errFailed }
func (f failure) Unwrap() error        { return f.error }

// Serve runs the parts until a signal. A second signal shortens the stop. The hangup of a terminal (SIGHUP)
// counts as a signal, unless the program was started with it ignored, as by nohup(1). If there is a guardian, it
// notifies systemd, and reports the main process.
func Serve(ctx context.Context, log *slog.Logger, room memory.Headroom, child *guardian.Child, status func() string,
	parts ...lifecycle.Part) error {
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGINT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	stop, hurry, release := lifecycle.Signals(ctx, signals...)
	defer release()
	var send func(state string) error
	if child != nil {
		send = child.Notify
	}
	tune := lifecycle.Part{Name: "memory", Serve: func(ctx context.Context) error { return memory.Tune(ctx, room) }}
	parts = append([]lifecycle.Part{tune}, lifecycle.Notified(log, send, status, parts...)...)
	return Failed(lifecycle.New(log, parts...).Run(stop, hurry))
}

// Status returns the worker's status in one line.
func (w *Worker) Status() string {
	return health.StatusLine(w.Conditions(), "running "+common.Count(w.Running(), "command", "commands"))
}
