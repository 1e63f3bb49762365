package etcdtest

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

// Shared is one etcd for all tests of a package that neither stop nor compact it: each has a namespace of its own.
// The package declares one, and its TestMain calls Run.
type Shared struct {
	start  sync.Once
	dir    string
	server *embed.Etcd
	err    error
	count  atomic.Int64 // of namespaces
}

// Run runs the tests of a package, stops the etcd that the first of them has started, and returns the exit code.
func (s *Shared) Run(m interface{ Run() int }) int {
	code := m.Run()
	if s.server != nil {
		s.server.Close()
	}
	if err := os.RemoveAll(s.dir); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Server returns an empty namespace.
func (s *Shared) Server(t testing.TB) *Server {
	t.Helper()
	s.start.Do(func() {
		if s.dir, s.err = os.MkdirTemp("", "carillon-etcd-"); s.err == nil {
			s.server, s.err = launch(settings(s.dir))
		}
	})
	if s.err != nil {
		t.Fatalf("start etcd: %v", s.err)
	}
	return &Server{
		Etcd:     s.server,
		Endpoint: s.server.Clients[0].Addr().String(),
		// None is a prefix of another: a test that deletes its whole namespace would delete of the other's, too.
		namespace: fmt.Sprintf("/test%04d", s.count.Add(1)),
		t:         t,
	}
}

// Start returns a client of an empty namespace.
func (s *Shared) Start(t testing.TB) *clientv3.Client {
	t.Helper()
	return s.Server(t).Client()
}
