package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/continuity"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/executor"
	"carillon/internal/executor/redact"
	"carillon/internal/executor/runas"
	hooksetcd "carillon/internal/hooks/etcd"
	"carillon/internal/master"
	notifyetcd "carillon/internal/notify/etcd"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/config"
	"carillon/internal/platform/metrics"
	"carillon/internal/platform/wallclock"
	"carillon/internal/runlog/spool"
	secretsetcd "carillon/internal/secrets/etcd"
	"carillon/internal/worker"
)

// Process is what the master and the worker of one process share.
type Process struct {
	Etcd         *clientv3.Client
	Store        master.LogStore
	Version      string
	Log          *slog.Logger
	Registry     *metrics.Registry
	Certificates *certs.Set // those that it presents; nil in a worker whose master holds them

	loopLimit time.Duration // how long a loop may be stuck before that is a condition; for tests
}

// Connect creates the clients of etcd and MongoDB.
func Connect(ctx context.Context, version string, log *slog.Logger, etcd config.Etcd, mongo config.MongoDB,
	lineage *etcdkit.Lineage) (p Process, err error) {
	p = Process{Version: version, Log: log, Registry: metrics.NewRegistry(version)}
	p.Certificates = certs.NewSet(wallclock.Now, log, p.Registry.CertificateEnds)
	if p.Etcd, err = worker.DialEtcd(etcd, p.Certificates, lineage); err != nil {
		return p, err
	}
	if p.Store, err = worker.OpenMongoDB(ctx, mongo, p.Certificates); err != nil {
		return p, errors.Join(err, p.Etcd.Close())
	}
	return p, nil
}

// Close closes the clients.
func (p *Process) Close() error { return errors.Join(p.Store.Close(), p.Etcd.Close()) }

// Node is what a worker holds on its machine.
type Node struct {
	config.Node
	Home   *executor.Home
	Spool  *spool.Spool
	Masks  *redact.Files // secrets that are masked in the output of commands
	RunAs  *runas.File   // selects the user that jobs run as; nil: the user of this process
	Clock  *continuity.Clock
	Origin *continuity.Origin
}

// OpenNode opens the files of a worker, and ends what an earlier life of it left.
func OpenNode(ctx context.Context, cfg config.Node, log *slog.Logger) (n *Node, err error) {
	if err := executor.Prepare(); err != nil {
		return nil, Failed(err)
	}
	n = &Node{Node: cfg}
	if n.Masks, err = redact.Open(cfg.Secrets, cfg.SecretGroups, log); err != nil {
		return nil, err
	}
	if n.RunAs, err = openRunAs(cfg.Execution.RunAs, log); err != nil {
		return nil, err
	}
	if n.Home, err = executor.BeginLife(ctx, cfg.DataDir, cfg.Name, log); err != nil {
		return nil, Failed(err)
	}
	if n.Spool, err = spool.Open(spool.Config{Dir: cfg.DataDir, Max: cfg.SpoolMax, Log: log}); err != nil {
		return nil, Failed(errors.Join(err, n.Home.Close()))
	}
	n.Clock, n.Origin = continuity.OpenClock(cfg.DataDir, log), continuity.OpenOrigin(cfg.DataDir, log)
	return n, nil
}

// Close closes the files and releases the worker's id.
func (n *Node) Close() error { return errors.Join(n.Spool.Close(), n.Home.Close()) }

// openRunAs reads the runAs file; nil if there is none.
func openRunAs(path string, log *slog.Logger) (*runas.File, error) {
	if path != "" {
		return runas.Open(runas.Config{Path: path, Capable: executor.Capable, Log: log})
	}
	if os.Geteuid() == 0 {
		log.Warn("commands_run_as_root", "hint", "run the worker as its own user, or configure users in a runAs file")
	}
	return nil, nil
}

// Resealed is how many secrets of each kind were encrypted with another key than the first.
type Resealed struct{ Secrets, Channels, Hooks int }

// Reseal encrypts all secrets with the first key.
func Reseal(ctx context.Context, etcd *clientv3.Client, key config.Secret) (n Resealed, err error) {
	box, err := worker.SecretBox(key)
	if err != nil {
		return n, fmt.Errorf("secretsKey: %w", err)
	}
	actor := common.Actor{Name: "reseal", Remote: "console"}
	ignored := func() {} // no visible change
	if n.Secrets, err = secretsetcd.New(etcd, box, wallclock.Now, ignored).Reseal(ctx, actor); err != nil {
		return n, err
	}
	if n.Channels, err = notifyetcd.New(etcd, box, wallclock.Now, ignored).Reseal(ctx, actor); err != nil {
		return n, err
	}
	n.Hooks, err = hooksetcd.New(etcd, box, wallclock.Now, ignored).Reseal(ctx, actor)
	return n, err
}
