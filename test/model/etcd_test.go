package model

import (
	"context"
	"errors"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
)

// server is a real etcd that is called from outside of the bubbles: while one of its
// calls goes on, the time of the bubble that waits for it stands still.
type server struct {
	etcd   *etcdtest.Server
	kv     pb.KVServer
	stream mvcc.WatchStream

	mu     sync.Mutex
	closed bool // a test panicked, and the others go on while it is cleaned up
	work   chan func()
	done   chan struct{}
}

func startServer(t testing.TB) *server {
	etcd := etcdtest.StartServer(t)
	s := &server{etcd: etcd, kv: v3rpc.NewQuotaKVServer(etcd.Server), stream: etcd.Server.Watchable().NewWatchStream(),
		work: make(chan func()), done: make(chan struct{})}
	if _, err := s.stream.Watch(context.Background(), 0, []byte(common.Root), []byte("/cron0"), 0); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for f := range s.work {
			f()
			s.done <- struct{}{}
		}
	}()
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closed = true
		close(s.work)
		<-ended
		s.stream.Close()
	})
	return s
}

// do has f done outside of any bubble, one at a time, and gives what it changed: etcd
// tells its watchers of a change before it answers.
func (s *server) do(f func()) (events []*mvccpb.Event) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		select {} // without an answer: a nil one would panic as well, and hide the first panic
	}
	defer s.mu.Unlock()
	s.work <- func() {
		f()
		for {
			select {
			case resp := <-s.stream.Chan():
				events = append(events, resp.Events...)
				continue
			default:
			}
			return
		}
	}
	<-s.done
	return events
}

// wipe makes the keyspace empty, and forgets what was in it.
func (s *server) wipe(t testing.TB) {
	s.do(func() {
		ctx := context.Background()
		gone, err := s.kv.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte(common.Root), RangeEnd: []byte("/cron0")})
		if err != nil {
			t.Error(err)
			return
		}
		if rev := gone.Header.Revision; rev > 1 {
			if _, err := s.kv.Compact(ctx, &pb.CompactionRequest{Revision: rev, Physical: true}); err != nil &&
				!errors.Is(err, rpctypes.ErrGRPCCompacted) {
				t.Error(err)
			}
		}
		leases, err := s.etcd.Server.LeaseLeases(ctx, &pb.LeaseLeasesRequest{})
		if err != nil {
			t.Error(err)
			return
		}
		for _, l := range leases.Leases {
			if _, err := s.etcd.Server.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: l.ID}); err != nil {
				t.Error(err)
			}
		}
	})
}

// pool hands servers to seeds that are tried side by side.
type pool struct{ free chan *server }

func newPool(t testing.TB, n int) *pool {
	p := &pool{free: make(chan *server, n)}
	var starting sync.WaitGroup
	for range n {
		starting.Go(func() { p.free <- startServer(t) })
	}
	starting.Wait()
	return p
}

// use lends a server with an empty keyspace.
func (p *pool) use(t testing.TB, f func(*server)) {
	s := <-p.free
	defer func() { p.free <- s }()
	s.wipe(t)
	f(s)
}
