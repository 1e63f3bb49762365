// Command carillon-master serves the API and the web console. Masters are stateless: any number of them may
// run, and workers continue without any.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"carillon"
	"carillon/cmd/internal/daemon"
	"carillon/internal/access"
	accessetcd "carillon/internal/access/etcd"
	"carillon/internal/cluster/continuity"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/master"
	"carillon/internal/platform/config"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/memory"
	"carillon/internal/platform/wallclock"
	"carillon/internal/worker"
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
		Long: `carillon-master stores jobs in etcd and serves the REST API under /api/v1, the
console under /, and /docs, /healthz, /readyz and /metrics.

By default it listens on loopback. Other addresses need TLS, or --insecure-http behind a
proxy listed in --trusted-proxies. There is no default password: run
"carillon-master bootstrap" once to create the first admin token. If no admin can sign in any
more, run "carillon-master reset-admin".

Settings come from flags, CARILLON_* variables, the file of --config, and defaults, in this
order. Exit codes: 0 stopped on request, 1 failed, 78 invalid settings.`,
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
		Short: "Create and print the first admin token of a cluster",
		Long: `bootstrap creates the first admin token and prints it. It works once per cluster;
afterwards an admin creates tokens.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.LoadBootstrap(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			return token(cmd.Context(), cfg, stdout, func(ctx context.Context, s *accessetcd.Store) (string, error) {
				return s.Bootstrap(ctx, common.Actor{Name: "bootstrap", Remote: "console"}, access.TokenLife)
			})
		},
	})
	cmd.AddCommand(&cobra.Command{
		Use:   "reset-admin",
		Short: "Create an admin token if no admin can sign in",
		Long: `reset-admin creates an admin token that is valid for a day, and prints it. It needs the
settings with which this master accesses etcd. Sign in with the token, set a new password for an
admin or create another admin, and delete the token. The audit records it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.LoadBootstrap(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			return token(cmd.Context(), cfg, stdout, func(ctx context.Context, s *accessetcd.Store) (string, error) {
				return s.ResetAdmin(ctx, common.Actor{Name: "reset-admin", Remote: "console"}, resetLife)
			})
		},
	})
	cmd.AddCommand(&cobra.Command{
		Use:   "reseal",
		Short: "Encrypt all secrets with the first key of secretsKey",
		Long: `reseal encrypts the secrets of jobs, channels and hooks again if they are encrypted with an older
key. To replace a key: configure both keys on all masters and workers (secretsKey: old, then
new), then put the new one first, run reseal, and remove the old one.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, key, err := config.LoadReseal(cmd.Flags(), environ)
			if err != nil {
				return err
			}
			etcd, err := worker.DialEtcd(cfg, nil, nil)
			if err != nil {
				return err
			}
			defer etcd.Close()
			n, err := daemon.Reseal(cmd.Context(), etcd, key)
			if err != nil {
				return daemon.Failed(err)
			}
			fmt.Fprintf(stdout, "encrypted again: %s, %s, %s\n", common.Count(n.Secrets, "secret", "secrets"),
				common.Count(n.Channels, "channel", "channels"), common.Count(n.Hooks, "hook", "hooks"))
			return nil
		},
	})
	cmd.SetContext(ctx)
	return daemon.Execute(cmd, args, stdout, stderr)
}

// resetLife is the lifetime of the token that reset-admin creates.
const resetLife = 24 * time.Hour

// token prints a new token.
func token(ctx context.Context, cfg config.Etcd, stdout io.Writer,
	make func(context.Context, *accessetcd.Store) (string, error)) error {
	etcd, err := worker.DialEtcd(cfg, nil, nil)
	if err != nil {
		return err
	}
	defer etcd.Close()
	made, err := make(ctx, accessetcd.New(etcd, wallclock.Now, nil))
	if err != nil {
		return daemon.Failed(err)
	}
	fmt.Fprintln(stdout, made)
	return nil
}

func serve(ctx context.Context, cfg config.Master, stderr io.Writer) error {
	log := cfg.Log.Logger(stderr)
	origin := continuity.NewOrigin(log)
	process, err := daemon.Connect(ctx, version, log, cfg.Etcd, cfg.MongoDB, origin.Lineage)
	if err != nil {
		return err
	}
	defer process.Close()
	m, err := master.New(master.Config{
		API:          cfg.API,
		Etcd:         process.Etcd,
		Store:        process.Store,
		Version:      version,
		Log:          log,
		Registry:     process.Registry,
		Certificates: process.Certificates,
		ID:           common.NewID(),
		Clock:        continuity.NewClock(log),
		Origin:       origin,
		Console:      web.Dist(),
		Guide:        carillon.Documents(),
	})
	if err != nil {
		return daemon.Failed(err)
	}
	log.Info("master_starting", "listen", cfg.HTTP.Listen, "version", version)
	return daemon.Serve(ctx, log, memory.Master, nil, m.Status, append(m.Parts(),
		lifecycle.Part{Name: "etcd version", Serve: etcdkit.LogOutdated(process.Etcd, log)})...)
}
