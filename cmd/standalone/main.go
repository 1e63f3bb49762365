// Command carillon-standalone is a whole Carillon in one process with one data
// folder: master, worker, etcd and the log store.
package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"carillon/cmd/internal/daemon"
	"carillon/internal/config"
	"carillon/internal/guardian"
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
		Short: "Run a whole Carillon in one process",
		Long: `carillon-standalone is master and worker in one process, with an etcd and a log
store of its own in --data-dir. It is for a laptop or one server; the same jobs
move to a cluster unchanged.

On its first start it makes an admin token, keeps it in <data-dir>/admin.token,
which only its owner can read, and prints a link that signs a browser in once.
It listens on loopback unless told otherwise, and beyond it only with TLS.

Settings come from flags, CARILLON_* variables, the file of --config, and
defaults, in this order. Exit codes: 0 stopped as asked, 1 failed, 4 another
process uses the data folder, 78 the settings cannot work.`,
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
	cmd.AddCommand(backupCommand(environ, stdout), resetCommand(environ, stdout))
	cmd.SetContext(ctx)
	return daemon.Execute(cmd, args, stdout, stderr)
}
