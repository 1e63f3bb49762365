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
	"carillon/internal/authstore"
	"carillon/internal/common"
	"carillon/internal/config"
	"carillon/internal/embedded"
)

// resetLife is how long the token lives that reset-admin makes.
const resetLife = 24 * time.Hour

func resetCommand(environ []string, stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "reset-admin",
		Short: "Make an admin token, and print it once, where no admin can get in any more",
		Long: `reset-admin makes an admin token that lives for a day, and prints it. The standalone must
not run meanwhile. Whoever can read its data folder may do this, and could read all
that is in there anyway. With the token give an admin a new password or make another
admin, and take the token away. The audit tells of it.`,
		Example: `  carillon-standalone reset-admin --data-dir /var/lib/carillon`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.LoadStandalone(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			return daemon.Failed(reset(cmd.Context(), cfg, stdout))
		},
	}
}

func reset(ctx context.Context, cfg config.Standalone, stdout io.Writer) error {
	data := filepath.Join(cfg.DataDir, "etcd")
	if _, err := os.Stat(data); err != nil {
		return fmt.Errorf("no standalone was ever started in %s: %w", cfg.DataDir, err)
	}
	home, err := daemon.OpenHome(cfg.DataDir, cfg.Name)
	if err != nil {
		return err
	}
	defer home.Close()
	etcd, err := embedded.Start(ctx, data)
	if err != nil {
		return err
	}
	defer etcd.Close()
	token, err := authstore.New(etcd.Client(), daemon.WallClock, nil).ResetAdmin(ctx, common.Actor{Name: "reset-admin", Remote: "console"}, resetLife)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, token)
	return nil
}
