// Package etcdtest starts a real etcd inside a test's process.
package etcdtest

import (
	"errors"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/namespace"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"carillon/internal/etcdkit/request"
)

// Server is an etcd that ends with the test.
type Server struct {
	*embed.Etcd
	Endpoint string // host:port on loopback

	namespace string // prefix of all keys; "" in an etcd of the test's own
	t         testing.TB
}

// Start starts an etcd and returns a client of it.
func Start(t testing.TB) *clientv3.Client {
	t.Helper()
	return StartServer(t).Client()
}

// StartServer starts an etcd with an empty keyspace on a free loopback port.
func StartServer(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t}
	s.start(settings(t.TempDir()))
	return s
}

// settings returns the config of an etcd that is quick and quiet.
func settings(dir string) *embed.Config {
	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(dir, "etcd")
	cfg.Logger = "zap"
	cfg.LogLevel = "panic"
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.UnsafeNoFsync = true
	cfg.TickMs, cfg.ElectionMs = 10, 100 // it is ready after it has elected itself
	free := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{free}, []url.URL{free}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{free}, []url.URL{free}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	return cfg
}

func (s *Server) start(cfg *embed.Config) {
	s.t.Helper()
	server, err := launch(cfg)
	if err != nil {
		s.t.Fatalf("start etcd: %v", err)
	}
	s.t.Cleanup(server.Close)
	s.Etcd, s.Endpoint = server, server.Clients[0].Addr().String()
}

// launch starts an etcd and waits until it is ready.
func launch(cfg *embed.Config) (*embed.Etcd, error) {
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, err
	}
	select {
	case <-server.Server.ReadyNotify():
		return server, nil
	case err = <-server.Err():
	case <-time.After(time.Minute):
		err = errors.New("not ready within a minute")
	}
	server.Close()
	return nil, err
}

// Client returns a client that is closed with the test.
func (s *Server) Client() *clientv3.Client {
	s.t.Helper()
	return s.dial(clientv3.Config{Endpoints: []string{s.Endpoint}})
}

// ClientWith returns a client with further options of its connection. It is closed with the test.
func (s *Server) ClientWith(options ...grpc.DialOption) *clientv3.Client {
	s.t.Helper()
	return s.dial(clientv3.Config{Endpoints: []string{s.Endpoint}, DialOptions: options})
}

func (s *Server) dial(cfg clientv3.Config) *clientv3.Client {
	s.t.Helper()
	cfg.Logger = zap.NewNop()
	client, err := clientv3.New(cfg)
	if err != nil {
		s.t.Fatalf("dial etcd: %v", err)
	}
	s.t.Cleanup(func() { _ = client.Close() })
	if s.namespace != "" {
		service := namespaced{request.Of(client), s.namespace}
		client.KV = request.Local{KV: namespace.NewKV(client.KV, s.namespace), Service: service}
		client.Watcher = namespace.NewWatcher(client.Watcher, s.namespace)
		client.Lease = namespace.NewLease(client.Lease, s.namespace)
	}
	return client
}
