// Command carillon-standalone runs master, worker, etcd and the log store in one process with one data folder.
package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"carillon/cmd/internal/daemon"
	"carillon/internal/executor/guardian"
	"carillon/internal/platform/config"
)

// version is set by the linker.
var version = "dev"

func main() {
	os.Exit(guardian.Main(func(child *guardian.Child) int {
		return run(context.Background(), child, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	}))
}

func run(ctx context.Context, child *guardian.Child, args, environ []string, stdout, stderr io.Writer) int {
	cmd := &cobra.Command{
		Use:   "carillon-standalone",
		Short: "Run a complete Carillon in one process",
		Long: `carillon-standalone runs master and worker in one process, with its own etcd and log store in
--data-dir. It is meant for a laptop or a single server; the same jobs run on a cluster
unchanged.

The first start creates an admin token, stores it in <data-dir>/admin.token, readable by its
owner only, and prints a one-time sign-in link. By default it listens on loopback; other
addresses need TLS.

Settings come from flags, CARILLON_* variables, the file of --config, and defaults, in this
order. Exit codes: 0 stopped on request, 1 failed, 4 another process uses the data folder,
5 its etcd cannot write, 78 invalid settings.`,
		Example: `  carillon-standalone --data-dir ./data
  carillon-standalone --data-dir /var/lib/carillon --listen 127.0.0.1:7070 --timezone Europe/Berlin
  carillon-standalone backup /backup/runs.sqlite --data-dir /var/lib/carillon`,
		Version: version,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.LoadStandalone(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), child, cfg, stdout, stderr)
		},
	}
	config.StandaloneFlags(cmd.PersistentFlags())
	cmd.AddCommand(backupCommand(environ, stdout), resetCommand(environ, stdout, stderr))
	cmd.SetContext(ctx)
	return daemon.Execute(cmd, args, stdout, stderr)
}
