package lock

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

var errLink = status.Error(codes.Unavailable, "the link lost it")

// link is a client's connection to etcd, which loses and delays requests and responses.
type link struct {
	pb.KVClient // methods that are not used are nil
	world       *world
	rewrite     func(*pb.TxnRequest) // a mutation's; may be nil
	reread      func([]*pb.RangeResponse)

	mu       sync.Mutex
	random   *rand.Rand
	cutUntil time.Time     // nothing passes
	dead     bool          // nothing ever passes again
	late     time.Duration // of the answer to the next keep-alive, after which nothing passes; 0: as chance has it
	lag      time.Duration // of the last answer to a keep-alive
}

func newLink(w *world, name string) *link { return &link{world: w, random: w.randomOf("link " + name)} }

func (l *link) client(ctx context.Context) *clientv3.Client {
	c := clientv3.NewCtxClient(ctx, clientv3.WithZapLogger(zap.NewNop()))
	c.KV = clientv3.NewKVFromKVClient(l, c)
	c.Lease = &leases{link: l}
	c.Watcher = &watcher{link: l}
	return c
}

// fate is what happens to one request.
type fate struct {
	there, back time.Duration
	request     bool // arrives
	answer      bool // returns
	giveUp      time.Duration
}

func (l *link) between(least, most time.Duration) time.Duration {
	return least + time.Duration(l.random.Int64N(int64(most-least)))
}

func (l *link) fate() fate {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := fate{request: true, answer: true, there: l.between(50*time.Microsecond, 5*time.Millisecond),
		back: l.between(50*time.Microsecond, 5*time.Millisecond)}
	if l.dead || time.Now().Before(l.cutUntil) {
		return fate{giveUp: l.between(time.Millisecond, 2*time.Second)}
	}
	if l.world.isCalm() {
		return f
	}
	switch p := l.random.Float64(); {
	case p < 0.04:
		return fate{giveUp: l.between(time.Millisecond, 2*time.Second)}
	case p < 0.10:
		f.answer, f.giveUp = false, l.between(10*time.Millisecond, 2*time.Second)
	case p < 0.13: // it arrives after the client has given up
		f.answer, f.there, f.giveUp = false, l.between(100*time.Millisecond, 15*time.Second),
			l.between(time.Millisecond, 300*time.Millisecond)
	case p < 0.20:
		f.there, f.back = l.between(0, 2*time.Second), l.between(0, 2*time.Second)
	}
	return f
}

// call sends a request over the link.
func call[T any](ctx context.Context, l *link, do func() (T, error)) (T, error) {
	var none T
	type answer struct {
		v   T
		err error
	}
	f, answers := l.fate(), make(chan answer, 1)
	if f.request {
		go func() {
			time.Sleep(f.there)
			v, err := do()
			time.Sleep(f.back)
			if f.answer {
				answers <- answer{v, err}
			}
		}()
	}
	var giveUp <-chan time.Time
	if f.giveUp > 0 {
		giveUp = time.After(f.giveUp)
	}
	select {
	case a := <-answers:
		return a.v, a.err
	case <-giveUp:
		return none, errLink
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (l *link) Range(ctx context.Context, r *pb.RangeRequest, _ ...grpc.CallOption) (*pb.RangeResponse, error) {
	return call(ctx, l, func() (resp *pb.RangeResponse, err error) {
		l.world.atEtcd(func(s *server) { resp, err = s.kv.Range(context.Background(), r) })
		return resp, err
	})
}

func (l *link) Txn(ctx context.Context, r *pb.TxnRequest, _ ...grpc.CallOption) (*pb.TxnResponse, error) {
	if l.rewrite != nil {
		r = proto.Clone(r).(*pb.TxnRequest)
		l.rewrite(r)
	}
	resp, err := call(ctx, l, func() (resp *pb.TxnResponse, err error) {
		l.world.atEtcd(func(s *server) { resp, err = s.kv.Txn(context.Background(), r) })
		return resp, err
	})
	if err == nil && l.reread != nil {
		var ranges []*pb.RangeResponse
		for _, op := range resp.Responses {
			if got := op.GetResponseRange(); got != nil {
				ranges = append(ranges, got)
			}
		}
		l.reread(ranges)
	}
	return resp, err
}

func (l *link) cut(d time.Duration) {
	l.mu.Lock()
	l.cutUntil = time.Now().Add(d)
	l.mu.Unlock()
}

func (l *link) die() { l.mu.Lock(); l.dead = true; l.mu.Unlock() }

// leases are those of the world.
type leases struct {
	clientv3.Lease
	link *link
}

func (s *leases) Grant(ctx context.Context, _ int64) (*clientv3.LeaseGrantResponse, error) {
	id, err := call(ctx, s.link, func() (clientv3.LeaseID, error) { return s.link.world.grant(), nil })
	if err != nil {
		return nil, err
	}
	return &clientv3.LeaseGrantResponse{ID: id, TTL: int64(s.link.world.ttl / time.Second)}, nil
}

func (s *leases) KeepAliveOnce(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	began := time.Now()
	_, err := call(ctx, s.link, func() (struct{}, error) {
		err := s.link.world.keepAlive(id)
		s.link.sever(id)
		return struct{}{}, err
	})
	if err != nil {
		return nil, err
	}
	s.link.mu.Lock()
	s.link.lag = time.Since(began)
	s.link.mu.Unlock()
	return &clientv3.LeaseKeepAliveResponse{ID: id, TTL: int64(s.link.world.ttl / time.Second)}, nil
}

// sever revokes the lease of a keep-alive that has just had its effect, cuts the link, and delays the answer, if a test
// has asked for that.
func (l *link) sever(id clientv3.LeaseID) {
	l.mu.Lock()
	late := l.late
	l.late = 0
	l.mu.Unlock()
	if late > 0 {
		l.world.expire(id)
		l.cut(time.Hour)
		time.Sleep(late)
	}
}

func (s *leases) Revoke(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	_, err := call(ctx, s.link, func() (struct{}, error) { s.link.world.expire(id); return struct{}{}, nil })
	return &clientv3.LeaseRevokeResponse{}, err
}

// watcher delivers the history, late.
type watcher struct{ link *link }

func (w *watcher) Close() error                          { return nil }
func (w *watcher) RequestProgress(context.Context) error { return nil }

func (w *watcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	op := clientv3.OpGet(key, opts...)
	ch := make(chan clientv3.WatchResponse)
	go func() {
		defer close(ch)
		for from := op.Rev(); ; {
			events, changed := w.link.world.since(from)
			resp := clientv3.WatchResponse{Header: &pb.ResponseHeader{Revision: from - 1}}
			for _, e := range events {
				from = e.Kv.ModRevision + 1
				resp.Header.Revision = e.Kv.ModRevision
				if k := string(e.Kv.Key); k >= key && k < string(op.RangeBytes()) {
					resp.Events = append(resp.Events, (*clientv3.Event)(e.Event))
				}
			}
			if len(resp.Events) == 0 {
				select {
				case <-ctx.Done():
					return
				case <-changed:
					continue
				}
			}
			if !w.link.arrive(ctx) {
				return
			}
			select {
			case ch <- resp:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ch
}

// arrive waits until an event gets through.
func (l *link) arrive(ctx context.Context) bool {
	l.mu.Lock()
	wait := l.between(100*time.Microsecond, 20*time.Millisecond)
	l.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
		l.mu.Lock()
		left, dead := time.Until(l.cutUntil), l.dead
		l.mu.Unlock()
		if left <= 0 && !dead {
			return true
		}
		wait = max(left, time.Second)
	}
}
