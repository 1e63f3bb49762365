package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/continuity"
	"carillon/internal/etcdkit"
	"carillon/internal/executor"
	"carillon/internal/executor/redact"
	"carillon/internal/executor/runas"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/config"
	"carillon/internal/runlog/mongolog"
	"carillon/internal/runlog/spool"
	"carillon/internal/secrets/crypt"
)

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
	if n.Masks, err = redact.Open(cfg.Secrets, log); err != nil {
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

// SecretBox encrypts and decrypts secrets with the keys of the settings; nil if there are none.
func SecretBox(key config.Secret) (*crypt.Box, error) {
	if key.Empty() {
		return nil, nil
	}
	return crypt.Parse(key.Reveal())
}

// DialEtcd creates the client of the settings. If certificates are kept, connections made after a replacement
// present the new one.
func DialEtcd(c config.Etcd, kept *certs.Set, lineage *etcdkit.Lineage) (*clientv3.Client, error) {
	secure, err := c.TLS.Config()
	if err != nil {
		return nil, err
	}
	if kept != nil && c.TLS.Cert != "" {
		keeper, err := kept.Open("etcd", certs.Files{Cert: c.TLS.Cert, Key: c.TLS.Key})
		if err != nil {
			return nil, err
		}
		keeper.Client(secure)
	}
	return etcdkit.Dial(etcdkit.Config{
		Endpoints: c.Endpoints,
		Username:  c.Username,
		Password:  c.Password.Reveal(),
		Reload:    c.Password.Reload,
		TLS:       secure,
		Lineage:   lineage,
	})
}

// OpenMongoDB opens the log store of the settings. After its client certificate is replaced, new connections
// present the new one.
func OpenMongoDB(ctx context.Context, m config.MongoDB, kept *certs.Set) (*mongolog.Store, error) {
	cfg := mongolog.Config{URI: m.URI.Reveal(), Database: m.Database}
	if cert, key := m.ClientCertificate(); cert != "" {
		keeper, err := kept.Open("mongodb", certs.Files{Cert: cert, Key: key})
		if err != nil {
			return nil, err
		}
		cfg.Secure = keeper.Client
	}
	return mongolog.Open(ctx, cfg)
}
