package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"carillon/cmd/internal/daemon"
	"carillon/internal/executor/guardian"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/config"
	"carillon/internal/platform/embedded"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/memory"
	"carillon/internal/platform/metrics"
	"carillon/internal/platform/wallclock"
	"carillon/internal/runlog/sqlitelog"
	"carillon/web"
)

// serve opens the data folder and runs all parts. The stores are opened before the parts and closed after them.
func serve(ctx context.Context, child *guardian.Child, cfg config.Standalone, stdout, stderr io.Writer) error {
	log := cfg.Log.Logger(stderr)
	node, err := daemon.OpenNode(ctx, cfg.Node, log)
	if err != nil {
		return err
	}
	defer node.Close()
	if cfg.Notify.SecretsKey, err = secretsKey(cfg); err != nil {
		return daemon.Failed(err)
	}
	box, err := daemon.SecretBox(cfg.Notify.SecretsKey)
	if err != nil {
		return daemon.Failed(err)
	}
	etcd, err := embedded.Start(ctx, filepath.Join(cfg.DataDir, "etcd"))
	if err != nil {
		return daemon.Failed(err)
	}
	defer etcd.Close()
	store, err := sqlitelog.OpenLogged(ctx, filepath.Join(cfg.DataDir, runLog), log)
	if err != nil {
		return daemon.Failed(err)
	}
	defer store.Close()

	client := etcd.Client()
	process := daemon.Process{
		Etcd:     client,
		Store:    store,
		Version:  version,
		Log:      log,
		Registry: metrics.NewRegistry(version),
	}
	worker, err := daemon.NewWorker(daemon.WorkerConfig{
		Process: process,
		Node:    node,
		Box:     box,
		// A suspended laptop loses nothing: no other worker could have run anything in the meantime.
		Boot:     bootclock.Awake,
		Guardian: child,
	})
	if err != nil {
		return daemon.Failed(err)
	}
	process.Certificates = certs.NewSet(wallclock.Now, log, process.Registry.CertificateEnds)
	master, err := daemon.NewMaster(daemon.MasterConfig{
		Process: process,
		API:     cfg.API,
		ID:      node.Home.Life.Worker,
		Clock:   node.Clock,
		Origin:  node.Origin,
		Console: web.Dist(),
	})
	if err != nil {
		return daemon.Failed(err)
	}
	parts := append(worker.Parts(), master.Parts()...)
	parts = append(parts,
		lifecycle.Part{Name: "etcd", Serve: func(ctx context.Context) error {
			select {
			case err := <-etcd.Err():
				return fmt.Errorf("etcd: %w", err)
			case <-ctx.Done():
				return nil
			}
		}},
		lifecycle.Part{
			Name:  "secrets key",
			Start: func(ctx context.Context) error { reseal(ctx, log, client, cfg.Notify.SecretsKey); return nil },
		},
		lifecycle.Part{
			Name: "welcome",
			Start: func(ctx context.Context) error {
				return welcome(ctx, cfg, daemon.NewAccess(client, &cfg.OIDC), master.Address(), stdout)
			},
		},
	)
	return daemon.Serve(ctx, log, memory.Worker, child, worker.Status, parts...)
}
