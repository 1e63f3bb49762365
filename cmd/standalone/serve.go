package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"carillon"
	"carillon/cmd/internal/daemon"
	"carillon/internal/executor/guardian"
	"carillon/internal/master"
	"carillon/internal/master/datadir"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/config"
	"carillon/internal/platform/embedded"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/memory"
	"carillon/internal/platform/metrics"
	"carillon/internal/platform/wallclock"
	"carillon/internal/worker"
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
	box, err := worker.SecretBox(cfg.Notify.SecretsKey)
	if err != nil {
		return daemon.Failed(err)
	}
	data, err := datadir.Open(ctx, cfg.DataDir, log)
	if err != nil {
		return daemon.Failed(unwritable(err))
	}
	defer data.Close()

	client, store := data.Etcd.Client(), data.Store
	process := daemon.Process{
		Etcd:     client,
		Store:    store,
		Version:  version,
		Log:      log,
		Registry: metrics.NewRegistry(version),
	}
	spans, err := daemon.Traces(ctx, "carillon-standalone", version, node, log)
	if err != nil {
		return err
	}
	w, err := daemon.NewWorker(daemon.WorkerConfig{
		Process: process,
		Node:    node,
		Box:     box,
		// A suspended laptop loses nothing: no other worker could have run anything in the meantime.
		Boot:     bootclock.Awake,
		Guardian: child,
		Traces:   spans,
	})
	if err != nil {
		return daemon.Failed(err)
	}
	var welcomed atomic.Bool
	m, err := master.New(master.Config{
		API:          cfg.API,
		Etcd:         client,
		Store:        store,
		Version:      version,
		Log:          log,
		Registry:     process.Registry,
		Certificates: certs.NewSet(wallclock.Now, log, process.Registry.CertificateEnds),
		ID:           node.Home.Life.Worker,
		Clock:        node.Clock,
		Origin:       node.Origin,
		DiskFull:     func() error { return node.Spool.State().Refused },
		Console:      web.Dist(),
		Started:      welcomed.Load,
		Guide:        carillon.Documents(),
	})
	if err != nil {
		return daemon.Failed(err)
	}
	parts := append(w.Parts(), m.Parts()...)
	parts = append(parts,
		lifecycle.Part{Name: "etcd", Serve: func(ctx context.Context) error { return unwritable(data.Watch(ctx)) }},
		lifecycle.Part{
			Name:  "secrets key",
			Start: func(ctx context.Context) error { reseal(ctx, log, client, cfg.Notify.SecretsKey); return nil },
		},
		lifecycle.Part{
			Name: "welcome",
			Start: func(ctx context.Context) error {
				err := welcome(ctx, cfg, master.NewAccess(client, &cfg.OIDC), m.Address(), stdout)
				welcomed.Store(err == nil)
				return err
			},
		},
	)
	return daemon.Serve(ctx, log, memory.Worker, child, w.Status, parts...)
}

// errEtcd marks the failure of an etcd that cannot write: without it, outcomes are known only after the next start.
var errEtcd = fmt.Errorf("%w: %w", daemon.ErrEtcd, lifecycle.ErrHopeless)

// unwritable gives the failure of an etcd that cannot write an exit code of its own.
func unwritable(err error) error {
	if errors.Is(err, embedded.ErrUnwritable) {
		return fmt.Errorf("%w: %w", errEtcd, err)
	}
	return err
}
