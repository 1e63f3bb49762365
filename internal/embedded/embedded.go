// Package embedded runs etcd inside the standalone's process.
//
// It promises that nobody else can reach it: it listens on no network address, only on sockets in
// a folder that its owner alone may enter, and its client speaks to it in process.
// Its history is compacted by itself. etcd's own goroutines end with Close.
package embedded

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.uber.org/zap"
)

// quota is the most that the keyspace may hold on disk.
const quota = 4 << 30

// Etcd is a running server.
type Etcd struct {
	server *embed.Etcd
	client *clientv3.Client
}

// Start opens or makes the keyspace in a folder and waits until it can be used.
func Start(ctx context.Context, dir string) (*Etcd, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder for etcd: %w", err)
	}
	// A socket's path may have 107 bytes, and data folders can be deep: the sockets
	// stand in a short folder of their own.
	sockets, err := os.MkdirTemp("", "carillon-")
	if err != nil {
		return nil, fmt.Errorf("make folder for etcd's sockets: %w", err)
	}
	defer os.RemoveAll(sockets) // an open socket needs no name, and nobody is to find it
	server, err := embed.StartEtcd(config(dir, sockets))
	if err != nil {
		return nil, fmt.Errorf("start etcd in %s: %w", dir, err)
	}
	select {
	case <-server.Server.ReadyNotify():
		return &Etcd{server: server, client: v3client.New(server.Server)}, nil
	case err := <-server.Err():
		server.Close()
		return nil, fmt.Errorf("start etcd in %s: %w", dir, err)
	case <-ctx.Done():
		server.Close()
		return nil, fmt.Errorf("start etcd in %s: %w", dir, context.Cause(ctx))
	}
}

func config(dir, sockets string) *embed.Config {
	cfg := embed.NewConfig()
	cfg.Name = "carillon"
	cfg.Dir = filepath.Join(dir, "data")
	socket := func(name string) []url.URL {
		return []url.URL{{Scheme: "unix", Path: filepath.Join(sockets, name)}}
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = socket("client"), socket("client")
	cfg.ListenPeerUrls = socket("peer")
	// What it is called is fixed when the keyspace is made; one member dials nobody.
	cfg.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "localhost:2380"}}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.TickMs, cfg.ElectionMs = 50, 500 // it has nobody to hear from
	cfg.AutoCompactionMode = embed.CompactorModePeriodic
	// Each run leaves eight revisions behind, in the memory and in the quota, until its
	// keys are compacted: ten minutes of them would be more than the quota at a few
	// thousand runs a second, and claims walk over the keys of runs that are long gone.
	// Nobody in this process is ever half a minute behind.
	cfg.AutoCompactionRetention = "30s"
	cfg.QuotaBackendBytes = quota
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	return cfg
}

// Client speaks to the server in process.
func (e *Etcd) Client() *clientv3.Client { return e.client }

// Err tells when the server has failed.
func (e *Etcd) Err() <-chan error { return e.server.Err() }

// Close stops the server. What was written is on disk.
func (e *Etcd) Close() error {
	_ = e.client.Close() // in process it only ends its context, and says so as an error
	closed := make(chan struct{})
	go func() {
		e.server.Close()
		close(closed)
	}()
	select {
	case <-closed:
		return nil
	case <-time.After(10 * time.Second):
		return fmt.Errorf("etcd did not stop within 10 s")
	}
}
