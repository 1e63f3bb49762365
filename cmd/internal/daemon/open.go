package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	healthetcd "carillon/internal/health/etcd"
	"carillon/internal/notify"
	notifyetcd "carillon/internal/notify/etcd"
	"carillon/internal/notify/smtp"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/config"
	"carillon/internal/platform/metrics"
	"carillon/internal/platform/wallclock"
	"carillon/internal/runlog"
	"carillon/internal/runlog/mongolog"
	"carillon/internal/runlog/spool"
	"carillon/internal/secrets/crypt"
	secretsetcd "carillon/internal/secrets/etcd"
)

// LogStore is the complete interface of a log store.
type LogStore interface {
	runlog.Writer
	runlog.Reader
	runlog.Statistics
	runlog.Upkeep
	runlog.Chained
	healthetcd.Pinger
	io.Closer
}

// Process is what the master and the worker of one process share.
type Process struct {
	Etcd         *clientv3.Client
	Store        LogStore
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
	if p.Etcd, err = DialEtcd(etcd, p.Certificates, lineage); err != nil {
		return p, err
	}
	if p.Store, err = openMongoDB(ctx, mongo, p.Certificates); err != nil {
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

// Reseal encrypts all secrets with the first key, and returns how many were encrypted with another.
func Reseal(ctx context.Context, etcd *clientv3.Client, key config.Secret) (secrets, channels int, err error) {
	box, err := SecretBox(key)
	if err != nil {
		return 0, 0, fmt.Errorf("secretsKey: %w", err)
	}
	actor := common.Actor{Name: "reseal", Remote: "console"}
	ignored := func() {} // no visible change
	if secrets, err = secretsetcd.New(etcd, box, wallclock.Now, ignored).Reseal(ctx, actor); err != nil {
		return secrets, 0, err
	}
	channels, err = notifyetcd.New(etcd, box, wallclock.Now, ignored).Reseal(ctx, actor)
	return secrets, channels, err
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

// openMongoDB opens the log store of the settings. After its client certificate is replaced, new connections
// present the new one.
func openMongoDB(ctx context.Context, m config.MongoDB, kept *certs.Set) (*mongolog.Store, error) {
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

// newSenders creates the senders of notifications by kind.
func newSenders(c *config.Notify, webhooks notify.Sender) (map[notify.Kind]notify.Sender, error) {
	senders := map[notify.Kind]notify.Sender{notify.KindWebhook: webhooks}
	if server := c.SMTP; server.Configured() {
		post, err := smtp.New(smtp.Config{
			Host:     server.Host,
			Port:     server.Port,
			Username: server.Username,
			Password: server.Password.Reveal(),
			From:     server.From,
			TLS:      server.TLS,
			Hello:    hostname(),
		})
		if err != nil {
			return nil, fmt.Errorf("smtpHost: %w", err)
		}
		senders[notify.KindMail] = post
	}
	return senders, nil
}

// hostname returns the name of this machine for display, or "unknown".
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
