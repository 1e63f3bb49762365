// Command carillon-master serves the API and the web console. Masters are stateless:
// any number of them may run, and without any the workers go on.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"carillon/cmd/internal/daemon"
	"carillon/internal/auth"
	"carillon/internal/authstore"
	"carillon/internal/common"
	"carillon/internal/config"
	"carillon/internal/metrics"
	"carillon/web"
)

// version is set by the linker.
var version = "dev"

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	cmd := &cobra.Command{
		Use:   "carillon-master",
		Short: "Serve Carillon's API and web console",
		Long: `carillon-master keeps jobs in etcd and serves the REST API under /api/v1, the
console under /, and /docs, /healthz, /readyz and /metrics.

It listens on loopback unless told otherwise, and beyond it only with TLS, or with
--insecure-http behind a proxy that it is told of. There is no default password:
run "carillon-master bootstrap" once to make the first admin token. Where no admin can get
in any more, run "carillon-master reset-admin".

Settings come from flags, CARILLON_* variables, the file of --config, and
defaults, in this order. Exit codes: 0 stopped as asked, 1 failed, 78 the settings cannot work.`,
		Example: `  carillon-master bootstrap --config /etc/carillon/master.yaml
  carillon-master --config /etc/carillon/master.yaml`,
		Version: version,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.LoadMaster(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), cfg, stderr)
		},
	}
	config.MasterFlags(cmd.PersistentFlags())
	cmd.AddCommand(&cobra.Command{
		Use:   "bootstrap",
		Short: "Make the first admin token of a cluster, and print it once",
		Long: `bootstrap makes the first admin token and prints it. It works once for a cluster:
afterwards tokens are made by whoever has an admin's.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.LoadBootstrap(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			return token(cmd.Context(), cfg, stdout, func(ctx context.Context, s *authstore.Store) (string, error) {
				return s.Bootstrap(ctx, common.Actor{Name: "bootstrap", Remote: "console"}, auth.TokenLife)
			})
		},
	})
	cmd.AddCommand(&cobra.Command{
		Use:   "reset-admin",
		Short: "Make an admin token for a cluster whose admins cannot get in, and print it once",
		Long: `reset-admin makes an admin token that lives for a day, and prints it. Whoever may run it
on a master's host has that master's way to etcd. With the token log in, give an admin a
new password or make another admin, and take the token away. The audit tells of it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.LoadBootstrap(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			return token(cmd.Context(), cfg, stdout, func(ctx context.Context, s *authstore.Store) (string, error) {
				return s.ResetAdmin(ctx, common.Actor{Name: "reset-admin", Remote: "console"}, resetLife)
			})
		},
	})
	cmd.AddCommand(&cobra.Command{
		Use:   "reseal",
		Short: "Seal all secrets with the first key of secretsKey",
		Long: `reseal seals anew what was sealed with an older key: secrets of jobs and of channels. To replace a
key, let all masters and workers know the new one (secretsKey: the old one, then the new one), then
put the new one first, call reseal, and take the old one away.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, key, err := config.LoadReseal(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			etcd, err := daemon.DialEtcd(cfg, nil, nil)
			if err != nil {
				return err
			}
			defer etcd.Close()
			secrets, channels, err := daemon.Reseal(cmd.Context(), etcd, key)
			if err != nil {
				return daemon.Failed(err)
			}
			fmt.Fprintf(stdout, "sealed anew: %d secrets, %d channels\n", secrets, channels)
			return nil
		},
	})
	cmd.SetContext(ctx)
	return daemon.Execute(cmd, args, stdout, stderr)
}

// resetLife is how long the token lives that reset-admin makes.
const resetLife = 24 * time.Hour

// token prints the token that is made.
func token(ctx context.Context, cfg config.Etcd, stdout io.Writer, make func(context.Context, *authstore.Store) (string, error)) error {
	etcd, err := daemon.DialEtcd(cfg, nil, nil)
	if err != nil {
		return err
	}
	defer etcd.Close()
	made, err := make(ctx, authstore.New(etcd, daemon.WallClock, nil))
	if err != nil {
		return daemon.Failed(err)
	}
	fmt.Fprintln(stdout, made)
	return nil
}

func serve(ctx context.Context, cfg config.Master, stderr io.Writer) error {
	log := cfg.Log.Logger(stderr)
	registry := metrics.NewRegistry(version)
	certificates := daemon.NewCertificates(log, registry.CertificateEnds)
	origin := daemon.NewOrigin(log)
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
	master, err := daemon.NewMaster(daemon.MasterConfig{ID: common.NewID(), Clock: daemon.NewClock(log), Origin: origin, HTTP: cfg.HTTP, OIDC: cfg.OIDC, Etcd: etcd, Store: store,
		Auth: daemon.NewAccess(etcd, &cfg.OIDC), Timezone: cfg.Timezone, AuditRetention: cfg.AuditRetention, MetricsMaxJobs: cfg.MetricsMaxJobs, Limits: cfg.Limits, Notify: cfg.Notify, Console: web.Dist(), Version: version, Log: log,
		Metrics: metrics.NewMaster(registry), Exposed: registry.Handler(), Certificates: certificates})
	if err != nil {
		return daemon.Failed(err)
	}
	log.Info("master_starting", "listen", cfg.HTTP.Listen, "version", version)
	return daemon.Serve(ctx, log, daemon.MasterHeadroom, daemon.Notified(log, nil, master.Status, append(master.Parts(), daemon.EtcdVersions(etcd, log))...)...)
}
