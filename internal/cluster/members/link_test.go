package members_test

import (
	"net/url"
	"path/filepath"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/pkg/v3/proxy"
	"go.uber.org/zap"

	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/etcdtest"
)

// link is a connection to etcd that tests can interrupt.
type link struct {
	testing.TB
	server *etcdtest.Server
	path   string
	proxy  proxy.Server
}

func newLink(t testing.TB, server *etcdtest.Server) (*link, *clientv3.Client) {
	l := &link{TB: t, server: server, path: filepath.Join(t.TempDir(), "s")}
	l.join()
	t.Cleanup(func() { _ = l.proxy.Close() })
	client, err := etcdkit.Dial(etcdkit.Config{Endpoints: []string{"unix://" + l.path}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return l, client
}

func (l *link) join() {
	l.Helper()
	l.proxy = proxy.NewServer(proxy.ServerConfig{Logger: zap.NewNop(), From: url.URL{Scheme: "unix", Host: l.path},
		To: url.URL{Scheme: "tcp", Host: l.server.Endpoint}})
	select {
	case <-l.proxy.Ready():
	case err := <-l.proxy.Error():
		l.Fatal(err)
	}
}

// cut closes all connections.
func (l *link) cut() {
	l.Helper()
	if err := l.proxy.Close(); err != nil {
		l.Fatal(err)
	}
}
