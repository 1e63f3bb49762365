package lock

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
)

// server is a real etcd that is called from outside of the bubble: while one of its calls goes on, the time of the
// bubble stands still.
type server struct {
	etcd   *etcdtest.Server
	kv     pb.KVServer
	stream mvcc.WatchStream
	work   chan func()
	done   chan struct{}
}

func startServer(t *testing.T) *server {
	etcd := etcdtest.StartServer(t)
	s := &server{
		etcd:   etcd,
		kv:     v3rpc.NewQuotaKVServer(etcd.Server),
		stream: etcd.Server.Watchable().NewWatchStream(),
		work:   make(chan func()),
		done:   make(chan struct{}),
	}
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
		close(s.work)
		<-ended
		s.stream.Close()
	})
	return s
}

// do calls f outside of the bubble, and returns what it changed: etcd notifies its watchers before it answers.
func (s *server) do(f func()) (events []*mvccpb.Event) {
	s.work <- func() {
		f()
		for {
			select {
			case resp := <-s.stream.Chan():
				events = append(events, resp.Events...)
			default:
				return
			}
		}
	}
	<-s.done
	return events
}

// event is a change in etcd at a true time.
type event struct {
	*mvccpb.Event
	at time.Time
}

// world is one seed: an etcd, and leases that expire in virtual time.
type world struct {
	seed   uint64
	ttl    time.Duration // of all leases
	server *server
	etcd   sync.Mutex // held while etcd is called, and until the history has the result

	mu      sync.Mutex
	calm    bool
	history []event
	changed chan struct{}
	leases  map[clientv3.LeaseID]*time.Timer
	granted int64
}

func newWorld(s *server, seed uint64, ttl time.Duration) *world {
	w := &world{seed: seed, ttl: ttl, server: s, changed: make(chan struct{}),
		leases: map[clientv3.LeaseID]*time.Timer{}}
	s.do(func() {
		ctx := context.Background()
		all := &pb.DeleteRangeRequest{Key: []byte(common.Root), RangeEnd: []byte("/cron0")}
		gone, err := s.kv.DeleteRange(ctx, all)
		if err != nil {
			panic(err)
		}
		_, err = s.kv.Compact(ctx, &pb.CompactionRequest{Revision: gone.Header.Revision})
		if err != nil && !errors.Is(err, rpctypes.ErrGRPCCompacted) {
			panic(err)
		}
	})
	return w
}

// randomOf returns a source for a part, so that parts do not disturb each other.
func (w *world) randomOf(part string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(part))
	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

// atEtcd calls etcd, and records what that changed.
func (w *world) atEtcd(do func(*server)) {
	w.etcd.Lock()
	defer w.etcd.Unlock()
	changes := w.server.do(func() { do(w.server) })
	if len(changes) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range changes {
		w.history = append(w.history, event{c, time.Now()})
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// since returns the history from a revision on, and a channel that is closed when there is more.
func (w *world) since(revision int64) ([]event, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := len(w.history)
	for at > 0 && w.history[at-1].Kv.ModRevision >= revision {
		at--
	}
	return w.history[at:len(w.history):len(w.history)], w.changed
}

// grant creates a lease that expires without a keep-alive for the TTL.
func (w *world) grant() clientv3.LeaseID {
	w.mu.Lock()
	w.granted++
	id := clientv3.LeaseID(int64(w.seed)<<20 + w.granted)
	w.leases[id] = time.AfterFunc(w.ttl, func() { w.expire(id) })
	w.mu.Unlock()
	w.atEtcd(func(s *server) {
		_, err := s.etcd.Server.LeaseGrant(context.Background(), &pb.LeaseGrantRequest{ID: int64(id), TTL: 3600})
		if err != nil {
			panic(err)
		}
	})
	return id
}

func (w *world) keepAlive(id clientv3.LeaseID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if timer, lives := w.leases[id]; !lives || !timer.Stop() {
		return rpctypes.ErrLeaseNotFound
	}
	w.leases[id].Reset(w.ttl)
	return nil
}

func (w *world) expire(id clientv3.LeaseID) {
	w.mu.Lock()
	timer, lives := w.leases[id]
	delete(w.leases, id)
	w.mu.Unlock()
	if !lives {
		return
	}
	timer.Stop()
	w.atEtcd(func(s *server) {
		_, err := s.etcd.Server.LeaseRevoke(context.Background(), &pb.LeaseRevokeRequest{ID: int64(id)})
		if err != nil {
			panic(err)
		}
	})
}

// revokeHolder revokes the lease of the present holder.
func (w *world) revokeHolder() {
	events, _ := w.since(0)
	for i := len(events) - 1; i >= 0; i-- {
		if string(events[i].Kv.Key) == common.LockHolderKey(modelLock) {
			if events[i].Type == mvccpb.Event_PUT {
				w.expire(clientv3.LeaseID(events[i].Kv.Lease))
			}
			return
		}
	}
}

func (w *world) beCalm() { w.mu.Lock(); w.calm = true; w.mu.Unlock() }

func (w *world) isCalm() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.calm }

func under(key []byte, prefix string) bool { return strings.HasPrefix(string(key), prefix) }
