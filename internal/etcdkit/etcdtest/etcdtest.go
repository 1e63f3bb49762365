// Package etcdtest starts a real etcd inside a test's process.
package etcdtest

import (
	"net/url"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// Server is an etcd that ends with the test.
type Server struct {
	*embed.Etcd
	Endpoint string // host:port on loopback
	t        testing.TB
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
	s.start(settings(t))
	return s
}

// settings returns the config of an etcd that is quick and quiet.
func settings(t testing.TB) *embed.Config {
	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(t.TempDir(), "etcd")
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
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		s.t.Fatalf("start etcd: %v", err)
	}
	s.t.Cleanup(server.Close)
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		s.t.Fatalf("start etcd: %v", err)
	case <-time.After(time.Minute):
		s.t.Fatal("etcd was not ready within a minute")
	}
	s.Etcd, s.Endpoint = server, server.Clients[0].Addr().String()
}

// Client returns a client that is closed with the test.
func (s *Server) Client() *clientv3.Client {
	s.t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Endpoint}, Logger: zap.NewNop()})
	if err != nil {
		s.t.Fatalf("dial etcd: %v", err)
	}
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}
