// Command carillon-worker watches the jobs in etcd, plans them, claims what is due,
// executes it and writes down what happened. Any number of them share the work.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"carillon/cmd/internal/daemon"
	"carillon/internal/bootclock"
	"carillon/internal/config"
	"carillon/internal/executor"
	"carillon/internal/guardian"
	"carillon/internal/lifecycle"
	"carillon/internal/mask"
	"carillon/internal/metrics"
	"carillon/internal/runlog/spool"
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
		Long: `carillon-worker plans all jobs that are kept in etcd, claims the fires that are
due (each is claimed by one worker of all), runs their commands as its own user,
and writes output and outcomes to MongoDB.

It needs an etcd cluster and a MongoDB, both of which may be away for a while, also at its start.
It opens no port beyond loopback. SIGTERM lets running commands finish, for as
long as --drain-timeout says, and then ends them; a second SIGTERM hurries.

Settings come from flags, CARILLON_* variables, the file of --config, and
defaults, in this order. Exit codes: 0 stopped as asked, 1 failed, 4 another
process uses the data folder or is registered under its id, 78 the settings cannot work.`,
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
		Short: "Print this worker's id, making it if there is none",
		Long: `id prints the id that the worker has in etcd: its registration is the key
/cron/workers/ID, the only one of its kind that it needs to write. The id is kept in
the data folder; where there is none yet, id makes it, so that the worker's rights can be
given before its first start. Run it as the user that the worker runs as.`,
		Example: `  runuser -u carillon-worker -- carillon-worker id --data-dir /var/lib/carillon-worker`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := config.LoadHome(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			id, err := daemon.WorkerID(dir)
			if err != nil {
				return daemon.Failed(err)
			}
			fmt.Fprintln(stdout, id)
			return nil
		},
	})
	cmd.SetContext(ctx)
	return daemon.Execute(cmd, args, stdout, stderr)
}

func serve(ctx context.Context, child *guardian.Child, cfg config.Worker, stderr io.Writer) error {
	if err := executor.Prepare(); err != nil {
		return daemon.Failed(err)
	}
	log := cfg.Log.Logger(stderr)
	registry := metrics.NewRegistry(version)
	certificates := daemon.NewCertificates(log, registry.CertificateEnds)
	secrets, err := mask.Open(cfg.Secrets, log)
	if err != nil {
		return err
	}
	box, err := daemon.SecretBox(cfg.SecretsKey)
	if err != nil {
		return err
	}
	runAs, err := daemon.OpenRunAs(cfg.Execution.RunAs, log)
	if err != nil {
		return err
	}
	home, err := daemon.OpenHome(cfg.DataDir, cfg.Name)
	if err != nil {
		return daemon.Failed(err)
	}
	defer home.Close()
	home.MarkProcess(log)
	output, err := spool.Open(spool.Config{Dir: cfg.DataDir, Max: cfg.SpoolMax, Log: log})
	if err != nil {
		return daemon.Failed(err)
	}
	defer output.Close()
	origin := daemon.OpenOrigin(home.Dir, log)
	etcd, err := daemon.DialEtcd(cfg.Etcd, certificates, origin.Lineage)
	if err != nil {
		return err
	}
	defer etcd.Close()
	store, err := daemon.OpenMongoDB(ctx, cfg.MongoDB, certificates)
	if err != nil {
		return err
	}
	defer store.Close()
	worker := daemon.NewWorker(daemon.WorkerConfig{Home: home, Etcd: etcd, Store: store, Spool: output, Labels: cfg.Labels, Secrets: secrets, Box: box, RunAs: runAs, MaxRunTime: cfg.Execution.MaxRunTime,
		OutboxMax: cfg.OutboxMax, Slots: cfg.Slots, Drain: cfg.DrainTimeout,
		Version: version, Log: log, Clock: daemon.OpenClock(home.Dir, log), Origin: origin, Boot: bootclock.Now, Metrics: metrics.NewWorker(registry), Certificates: certificates, Guardian: child})
	log.Info("worker_starting", "worker", home.Life.Worker, "name", home.Life.Name, "version", version)
	var parts []lifecycle.Part
	if cfg.MetricsListen != "" {
		parts = append(parts, worker.LocalServer(cfg.MetricsListen, registry.Handler()))
	}
	return daemon.Serve(ctx, log, daemon.WorkerHeadroom, daemon.Notified(log, child, worker.Status, append(append(parts, worker.Parts()...), daemon.EtcdVersions(etcd, log))...)...)
}
