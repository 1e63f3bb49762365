// Command carillon-worker plans the jobs in etcd, claims due fires, runs their commands and records the
// outcomes. Any number of workers share the load.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"carillon/cmd/internal/daemon"
	"carillon/internal/etcdkit"
	"carillon/internal/executor"
	"carillon/internal/executor/guardian"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/config"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/memory"
	"carillon/internal/worker"
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
		Use:   "carillon-worker",
		Short: "Run the commands of Carillon's jobs",
		Long: `carillon-worker plans all jobs in etcd, claims due fires (each fire is claimed by one worker),
runs their commands as its own user, and writes output and outcomes to MongoDB.

It needs an etcd cluster and a MongoDB; both may be unavailable temporarily, also at its start.
It listens on loopback only. SIGTERM lets running commands finish within --drain-timeout and
then ends them; a second SIGTERM ends them sooner.

Settings come from flags, CARILLON_* variables, the file of --config, and defaults, in this
order. Exit codes: 0 stopped on request, 1 failed, 4 another process uses the data folder or
is registered with its id, 78 invalid settings.`,
		Example: `  carillon-worker --config /etc/carillon/worker.yaml
  carillon-worker --etcd-endpoints http://10.0.0.1:2379 --mongodb-uri-file /etc/carillon/mongodb.uri --name east-1`,
		Version: version,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.LoadWorker(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), child, cfg, stderr)
		},
	}
	config.WorkerFlags(cmd.PersistentFlags())
	cmd.AddCommand(&cobra.Command{
		Use:   "id",
		Short: "Print this worker's id, and create it if missing",
		Long: `id prints the id of the worker in etcd: its registration is the key /cron/workers/ID, the only
key of that kind that it must be able to write. The id is stored in the data folder; id creates
it if missing, so that the worker's permissions can be granted before its first start. Run it as
the user of the worker.`,
		Example: `  runuser -u carillon-worker -- carillon-worker id --data-dir /var/lib/carillon-worker`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := config.LoadHome(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			id, err := executor.WorkerID(dir)
			if err != nil {
				return daemon.Failed(err)
			}
			fmt.Fprintln(stdout, id)
			return nil
		},
	})
	cmd.AddCommand(typesCommand(environ, stdout))
	cmd.SetContext(ctx)
	return daemon.Execute(cmd, args, stdout, stderr)
}

func serve(ctx context.Context, child *guardian.Child, cfg config.Worker, stderr io.Writer) error {
	log := cfg.Log.Logger(stderr)
	box, err := worker.SecretBox(cfg.SecretsKey)
	if err != nil {
		return err
	}
	node, err := daemon.OpenNode(ctx, cfg.Node, log)
	if err != nil {
		return err
	}
	defer node.Close()
	process, err := daemon.Connect(ctx, version, log, cfg.Etcd, cfg.MongoDB, node.Origin.Lineage)
	if err != nil {
		return err
	}
	defer process.Close()
	spans, err := daemon.Traces(ctx, "carillon-worker", version, node, log)
	if err != nil {
		return err
	}
	w, err := daemon.NewWorker(daemon.WorkerConfig{
		Process:  process,
		Node:     node,
		Box:      box,
		Boot:     bootclock.Now,
		Guardian: child,
		Traces:   spans,
	})
	if err != nil {
		return daemon.Failed(err)
	}
	log.Info("worker_starting", "worker", node.Home.Life.Worker, "name", node.Home.Life.Name, "version", version)
	var parts []lifecycle.Part
	if cfg.MetricsListen != "" {
		parts = append(parts, w.LocalServer(cfg.MetricsListen))
	}
	return daemon.Serve(ctx, log, memory.Worker, child, w.Status,
		append(append(parts, w.Parts()...), lifecycle.Part{
			Name:  "etcd version",
			Serve: etcdkit.LogOutdated(process.Etcd, log),
		})...)
}
