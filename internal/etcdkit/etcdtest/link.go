package etcdtest

import (
	"errors"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// Link is a connection to etcd that tests can interrupt.
type Link struct {
	t        testing.TB
	server   *Server
	path     string
	listener net.Listener
	pumps    sync.WaitGroup
	flow     sync.RWMutex // held for writing while the link hangs

	mu    sync.Mutex
	up    bool       // guarded by mu
	conns []net.Conn // guarded by mu
}

// NewLink returns a link and a client that uses it. Both are closed with the test.
func NewLink(t testing.TB, server *Server) (*Link, *clientv3.Client) {
	t.Helper()
	l := &Link{t: t, server: server, path: filepath.Join(t.TempDir(), "s")}
	l.Join()
	t.Cleanup(l.Cut)
	fast := backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1, MaxDelay: 50 * time.Millisecond}
	return l, server.dial(clientv3.Config{
		Endpoints: []string{"unix://" + l.path},
		DialOptions: []grpc.DialOption{
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: fast, MinConnectTimeout: time.Second}),
		},
	})
}

// Join restores an interrupted link.
func (l *Link) Join() {
	l.t.Helper()
	listener, err := net.Listen("unix", l.path)
	if err != nil {
		l.t.Fatal(err)
	}
	l.listener = listener
	l.mu.Lock()
	l.up = true
	l.mu.Unlock()
	l.pumps.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", l.server.Endpoint)
			if err != nil {
				_ = near.Close()
				continue
			}
			l.mu.Lock()
			l.conns = append(l.conns, near, far)
			up := l.up
			l.mu.Unlock()
			if !up {
				_ = errors.Join(near.Close(), far.Close()) // it was cut meanwhile
				continue
			}
			l.pumps.Go(func() { l.pump(near, far) })
			l.pumps.Go(func() { l.pump(far, near) })
		}
	})
}

// pump passes data on, in one direction, until one of the connections is closed.
func (l *Link) pump(from, to net.Conn) {
	defer to.Close()
	for buffer := make([]byte, 32<<10); ; {
		n, err := from.Read(buffer)
		l.flow.RLock()
		l.flow.RUnlock() //nolint:staticcheck // waits until the link no longer hangs
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// Cut closes all connections.
func (l *Link) Cut() {
	_ = l.listener.Close() // it may be closed
	l.mu.Lock()
	l.up = false
	for _, c := range l.conns {
		_ = c.Close() // it may be closed already
	}
	l.conns = nil
	l.mu.Unlock()
	l.pumps.Wait()
}

// Hang stops all data and closes no connection, until Unhang.
func (l *Link) Hang() { l.flow.Lock() }

// Unhang ends what Hang began.
func (l *Link) Unhang() { l.flow.Unlock() }
