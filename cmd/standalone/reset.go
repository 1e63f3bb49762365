package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"carillon/cmd/internal/daemon"
	accessetcd "carillon/internal/access/etcd"
	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/master/datadir"
	"carillon/internal/platform/config"
	"carillon/internal/platform/embedded"
	"carillon/internal/platform/wallclock"
)

// resetLife is the lifetime of the token that reset-admin creates.
const resetLife = 24 * time.Hour

func resetCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "reset-admin",
		Short: "Create an admin token if no admin can sign in",
		Long: `reset-admin creates an admin token that is valid for a day, and prints it. The standalone must
not be running. It needs read access to the data folder, which already gives access to all its
data. With the token set a new password for an admin or create another admin, and delete the
token. The audit records it.`,
		Example: `  carillon-standalone reset-admin --data-dir /var/lib/carillon`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.LoadStandalone(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			return daemon.Failed(reset(cmd.Context(), cfg, stdout, stderr))
		},
	}
}

func reset(ctx context.Context, cfg config.Standalone, stdout, stderr io.Writer) error {
	data := filepath.Join(cfg.DataDir, datadir.Etcd)
	if _, err := os.Stat(data); err != nil {
		return fmt.Errorf("no standalone has been started in %s: %w", cfg.DataDir, err)
	}
	home, err := executor.OpenHome(cfg.DataDir, cfg.Name)
	if err != nil {
		return err
	}
	defer home.Close()
	etcd, err := embedded.Start(ctx, data, cfg.Log.Logger(stderr))
	if err != nil {
		return err
	}
	defer etcd.Close()
	token, err := accessetcd.New(etcd.Client(), wallclock.Now, nil).ResetAdmin(ctx, common.Actor{
		Name:   "reset-admin",
		Remote: "console",
	}, resetLife)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, token)
	return nil
}
