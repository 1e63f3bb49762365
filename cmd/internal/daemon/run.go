package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"syscall"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/certs"
	"carillon/internal/common"
	"carillon/internal/config"
	"carillon/internal/etcdkit"
	"carillon/internal/guardian"
	"carillon/internal/lifecycle"
	"carillon/internal/registry"
)

// Exit codes of the daemons, beside those of config.ExitCode.
const (
	exitFailed = 1
	exitTwin   = 4 // another process lives under this worker's id
)

// Execute runs a command line and gives the exit code.
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
	case errors.Is(err, registry.ErrTwin), errors.Is(err, ErrHomeInUse):
		return exitTwin
	case errors.Is(err, errFailed):
		return exitFailed
	default: // a flag or a setting that cannot work
		return config.ExitCode
	}
}

// errFailed marks what went wrong at work, rather than with the settings.
var errFailed = errors.New("failed")

// Failed marks an error as one that may pass, for the exit code.
func Failed(err error) error {
	if err == nil || errors.Is(err, registry.ErrTwin) || errors.Is(err, ErrHomeInUse) {
		return err
	}
	return failure{err}
}

type failure struct{ error }

func (f failure) Is(target error) bool { return target == errFailed }
func (f failure) Unwrap() error        { return f.error }

// Serve runs the parts until a signal. A second signal hurries the stop.
func Serve(ctx context.Context, log *slog.Logger, parts ...lifecycle.Part) error {
	stop, hurry, release := lifecycle.Signals(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer release()
	return Failed(lifecycle.New(log, append([]lifecycle.Part{tuneGC()}, parts...)...).Run(stop, hurry))
}

// Notify tells systemd, where it asks to be told, that all is ready, that the
// daemon stops, and between the two that it is alive. Where there is a guardian, systemd
// speaks with that one alone, and hears from it who is alive. It is the last part.
func Notify(log *slog.Logger, child *guardian.Child) lifecycle.Part {
	tell := func(state string) {
		var err error
		if child != nil {
			err = child.Notify(state)
		} else {
			_, err = sd.SdNotify(false, state)
		}
		if err != nil {
			log.Warn("systemd_not_notified", "error", err)
		}
	}
	return lifecycle.Part{
		Name:  "systemd",
		Start: func(context.Context) error { tell(sd.SdNotifyReady); return nil },
		Serve: func(ctx context.Context) error {
			every, err := sd.SdWatchdogEnabled(false)
			if err != nil || every == 0 {
				<-ctx.Done()
				return nil
			}
			tick := time.NewTicker(every / 2)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-tick.C:
					tell(sd.SdNotifyWatchdog)
				}
			}
		},
		Stop: func(context.Context) error { tell(sd.SdNotifyStopping); return nil },
	}
}

// DialEtcd makes the client that the settings ask for. Where certificates are kept, the
// connections that are made after its own was replaced show the new one.
func DialEtcd(c config.Etcd, kept *Certificates) (*clientv3.Client, error) {
	secure, err := c.TLS.Config()
	if err != nil {
		return nil, err
	}
	if kept != nil && c.TLS.Cert != "" {
		keeper, err := kept.keep("etcd", certs.Files{Cert: c.TLS.Cert, Key: c.TLS.Key})
		if err != nil {
			return nil, err
		}
		keeper.Client(secure)
	}
	return etcdkit.Dial(etcdkit.Config{Endpoints: c.Endpoints, Username: c.Username, Password: c.Password.Reveal(), TLS: secure})
}
