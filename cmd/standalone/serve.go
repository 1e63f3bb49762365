package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"carillon/cmd/internal/daemon"
	"carillon/internal/executor"
	"carillon/internal/executor/guardian"
	"carillon/internal/executor/redact"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/config"
	"carillon/internal/platform/embedded"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/memory"
	"carillon/internal/platform/metrics"
	"carillon/internal/runlog/spool"
	"carillon/internal/runlog/sqlitelog"
	"carillon/web"
)

// serve opens the data folder and runs all parts. The stores are opened before the parts and closed after them.
func serve(ctx context.Context, child *guardian.Child, cfg config.Standalone, stdout, stderr io.Writer) error {
	if err := executor.Prepare(); err != nil {
		return daemon.Failed(err)
	}
	log := cfg.Log.Logger(stderr)
	secrets, err := redact.Open(cfg.Secrets, log)
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

	client, registry := etcd.Client(), metrics.NewRegistry(version)
	clock, origin := daemon.OpenClock(home.Dir, log), daemon.OpenOrigin(home.Dir, log)
	worker := daemon.NewWorker(daemon.WorkerConfig{
		Home:       home,
		Etcd:       client,
		Store:      store,
		Spool:      output,
		Labels:     cfg.Labels,
		Secrets:    secrets,
		Box:        box,
		RunAs:      runAs,
		MaxRunTime: cfg.Execution.MaxRunTime,
		OutboxMax:  cfg.OutboxMax,
		Slots:      cfg.Slots,
		Drain:      cfg.DrainTimeout,
		// A suspended laptop loses nothing: no other worker could have run anything in the meantime.
		Clock:    clock,
		Origin:   origin,
		Boot:     bootclock.Awake,
		Version:  version,
		Log:      log,
		Metrics:  metrics.NewWorker(registry),
		Guardian: child,
	})
	auth := daemon.NewAccess(client, &cfg.OIDC)
	master, err := daemon.NewMaster(daemon.MasterConfig{
		ID:             home.Life.Worker,
		Clock:          clock,
		Origin:         origin,
		HTTP:           cfg.HTTP,
		OIDC:           cfg.OIDC,
		Etcd:           client,
		Store:          store,
		Auth:           auth,
		Timezone:       cfg.Timezone,
		AuditRetention: cfg.AuditRetention,
		MetricsMaxJobs: cfg.MetricsMaxJobs,
		Limits:         cfg.Limits,
		Notify:         cfg.Notify,
		Console:        web.Dist(),
		Version:        version,
		Log:            log,
		Metrics:        metrics.NewMaster(registry),
		Exposed:        registry.Handler(),
		Certificates:   daemon.NewCertificates(log, registry.CertificateEnds),
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
			Name:  "welcome",
			Start: func(ctx context.Context) error { return welcome(ctx, cfg, auth, master.Address(), stdout) },
		},
	)
	return daemon.Serve(ctx, log, memory.Worker, daemon.Notified(log, child, worker.Status, parts...)...)
}
