// Package embedded runs etcd inside the standalone's process.
//
// No other process can reach it: it listens nowhere, neither for clients nor for peers, and its client connects in
// process. Its history is compacted automatically. etcd's own goroutines end with Close. What it will write next is
// allocated on the disk beforehand, so that it survives a full disk; where it would end the process without a word, it
// fails instead.
package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"

	"carillon/internal/etcdkit/request"
)

// quota is the maximum size of the keyspace on disk.
const quota = 4 << 30

// Entries of the Raft log hold batches of up to 100 requests, 15 KiB under load. etcd's defaults are made for followers
// that fall behind, of which there are none.
const (
	// raftEntries is how many applied entries stay in memory. etcd's 5,000 take 75 MiB, and as much again in garbage.
	raftEntries = 100
	// snapshotEvery is after how many entries etcd notes on disk what it has applied. A start reads all entries since
	// then into memory, where they stay: with etcd's 10,000 up to 150 MiB.
	snapshotEvery = 1000
)

// Etcd is a running server.
type Etcd struct {
	server *embed.Etcd
	client *clientv3.Client

	failures *failures

	stop  context.CancelFunc // ends the loops
	loops sync.WaitGroup
}

// Start opens or creates the keyspace in a folder and waits until it is usable.
func Start(ctx context.Context, dir string, log *slog.Logger) (*Etcd, error) {
	e, err := start(ctx, dir, log)
	if err != nil {
		return nil, fmt.Errorf("start etcd in %s: %w", dir, err)
	}
	return e, nil
}

func start(ctx context.Context, dir string, log *slog.Logger) (*Etcd, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	reserve := newReserve(dir, log)
	if err := reserve.begin(); err != nil {
		return nil, err
	}
	e := &Etcd{failures: newFailures(log)}
	cfg := config(dir)
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(e.failures.logger())
	started := make(chan error, 1)
	go func() { // it does not return if etcd ends the process
		var err error
		e.server, err = embed.StartEtcd(cfg)
		started <- err
	}()
	select {
	case err := <-started:
		if err != nil {
			return nil, err
		}
	case <-e.failures.failed:
		return nil, e.failures.err
	}
	select {
	case <-e.server.Server.ReadyNotify():
	case <-e.failures.failed:
		return nil, e.failures.err // nothing can be closed
	case err := <-e.server.Err():
		e.server.Close()
		return nil, err
	case <-ctx.Done():
		e.server.Close()
		return nil, context.Cause(ctx)
	}
	ctx, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	e.client = v3client.New(e.server.Server)
	e.client.KV = request.Local{
		KV:      e.client.KV,
		Service: adapter.KvServerToKvClient(v3rpc.NewQuotaKVServer(e.server.Server)),
	}
	e.loops.Go(func() { e.compact(ctx) })
	e.loops.Go(func() { reserve.run(ctx) })
	return e, nil
}

func config(dir string) *embed.Config {
	cfg := embed.NewConfig()
	cfg.Name = "carillon"
	cfg.Dir = filepath.Join(dir, "data")
	// A process that reaches a listener of etcd may write all keys, tokens of administrators among them. A socket with
	// a path is no way out: of the URL of a peer's socket etcd uses the host alone, and listens on an abstract name,
	// which has no permissions.
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls, cfg.ListenPeerUrls = nil, nil, nil
	// The member's name is fixed at the creation of the keyspace; a single member connects to no other.
	cfg.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "localhost:2380"}}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.TickMs, cfg.ElectionMs = 50, 500 // there are no peers
	cfg.CompactionBatchLimit, cfg.CompactionSleepInterval = compactBatch, compactSleep
	cfg.QuotaBackendBytes = quota
	cfg.SnapshotCatchUpEntries, cfg.SnapshotCount = raftEntries, snapshotEvery
	return cfg
}

// Client returns the client, which is connected in process.
func (e *Etcd) Client() *clientv3.Client { return e.client }

// Wait waits for the end of ctx. It returns an error if the server fails before; one that wraps ErrUnwritable if it
// would have ended the process.
func (e *Etcd) Wait(ctx context.Context) error {
	select {
	case <-e.failures.failed:
		return e.failures.err
	case err := <-e.server.Err():
		return err
	case <-ctx.Done():
		return nil
	}
}

// Close stops the server. All writes are on disk.
func (e *Etcd) Close() error {
	e.stop()
	e.loops.Wait()
	_ = e.client.Close() // in process it only ends its context, and returns that as an error
	closed := make(chan struct{})
	go func() {
		e.server.Close()
		close(closed)
	}()
	select {
	case <-closed:
		return nil
	case <-e.failures.failed: // a part of it waits for ever
		return nil
	case <-time.After(10 * time.Second):
		return fmt.Errorf("etcd did not stop within 10 s")
	}
}
