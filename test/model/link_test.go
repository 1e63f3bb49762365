package model

import (
	"context"
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/request"
	"carillon/internal/joblock"
)

var errLost = status.Error(codes.Unavailable, "the link lost it")

// mostLate is how long a request may be on its way.
const mostLate = 20 * time.Second

// weather is how bad a link is: chances of one request.
type weather struct {
	lostRequest, lostAnswer, late, slow float64
}

// link is one process's way to etcd.
type link struct {
	pb.KVClient // what is not used is nil
	world       *world
	name        string
	rewrite     func(*pb.TxnRequest)                  // a mutation's; may be nil
	reread      func(*pb.TxnRequest, *pb.TxnResponse) // of a mutation; may be nil
	// receives answers that arrive after the caller has stopped waiting; may be nil
	lateAnswer func(*pb.TxnRequest, *pb.TxnResponse)
	lineage    *etcdkit.Lineage // looks at each answer; may be nil
	mu         sync.Mutex
	random     *rand.Rand
	cutUntil   time.Time            // nothing gets through
	deafUntil  time.Time            // requests do, answers do not
	stallUntil time.Time            // of watches
	blindUntil time.Time            // reads do not get through
	dead       bool                 // nothing new is sent, ever
	frozen     bool                 // nor now
	lagUntil   map[string]time.Time // of watches, by their prefix
	gaps       map[string]int       // by prefix: how often its watches were interrupted
	progress   chan struct{}        // closed and replaced when progress is asked for
	// Called once, when the next keep-alive or grant has its effect; it says how much
	// longer the answer takes. May be nil.
	onAlive, onGrant func(clientv3.LeaseID) time.Duration
}

func newLink(w *world, name string) *link {
	return &link{world: w, name: name, random: w.randomOf("link " + name), progress: make(chan struct{}),
		lagUntil: map[string]time.Time{}, gaps: map[string]int{}}
}

// client is a client of etcd whose calls go over the link.
func (l *link) client(ctx context.Context) *clientv3.Client {
	c := clientv3.NewCtxClient(ctx, clientv3.WithZapLogger(zap.NewNop()))
	c.KV = request.Local{KV: clientv3.NewKVFromKVClient(l, c), Service: l}
	c.Lease = &leases{link: l}
	c.Watcher = &watcher{link: l}
	return c
}

// fate is what becomes of one request.
type fate struct {
	there, back time.Duration
	request     bool          // it gets there
	answer      bool          // its answer comes back
	giveUp      time.Duration // when the client gives up; 0: it does not
}

func (l *link) fate() fate {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := fate{
		request: true,
		answer:  true,
		there:   l.between(50*time.Microsecond, 5*time.Millisecond),
		back:    l.between(50*time.Microsecond, 5*time.Millisecond),
	}
	w, now := l.world.weather(), time.Now()
	switch {
	case l.dead || l.frozen || now.Before(l.cutUntil):
		f.request, f.giveUp = false, l.between(time.Millisecond, 4*time.Second)
		return f
	case now.Before(l.deafUntil):
		f.answer, f.giveUp = false, l.between(10*time.Millisecond, 4*time.Second)
		return f
	}
	switch p := l.random.Float64(); {
	case p < w.lostRequest:
		f.request, f.giveUp = false, l.between(time.Millisecond, 2*time.Second)
	case p < w.lostRequest+w.lostAnswer:
		f.answer, f.giveUp = false, l.between(10*time.Millisecond, 2*time.Second)
	case p < w.lostRequest+w.lostAnswer+w.late:
		f.answer, f.there, f.giveUp = false, l.between(100*time.Millisecond, mostLate),
			l.between(time.Millisecond, 300*time.Millisecond)
	case p < w.lostRequest+w.lostAnswer+w.late+w.slow:
		f.there, f.back = l.between(0, 3*time.Second), l.between(0, time.Second)
	}
	return f
}

// between draws a time; the caller holds mu.
func (l *link) between(least, most time.Duration) time.Duration {
	return least + time.Duration(l.random.Int64N(int64(most-least)))
}

// call brings a request to etcd, or does not. late receives an answer that came
// when the client had given up.
func call[T any](ctx context.Context, l *link, do func() (T, error), late func(T)) (T, error) {
	var none T
	type answer struct {
		v   T
		err error
	}
	f, sent := l.fate(), l.world.restored()
	answers := make(chan answer, 1)
	if f.request {
		go func() {
			time.Sleep(f.there)
			var a answer
			if l.world.restored() == sent {
				a.v, a.err = do()
			} else {
				a.err = errLost // with its connection
			}
			time.Sleep(f.back)
			if f.answer {
				answers <- a
			} else if a.err == nil && late != nil {
				time.Sleep(5 * time.Second)
				late(a.v)
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
		return none, errLost
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// known returns what is known of etcd before a request is sent.
func (l *link) known() (asked etcdkit.Asked) {
	if l.lineage != nil {
		asked = l.lineage.Ask()
	}
	return asked
}

// answered shows an answer to who compares it with those before.
func (l *link) answered(h *pb.ResponseHeader, known etcdkit.Asked) {
	if l.lineage != nil {
		l.lineage.Answered(&pb.ResponseHeader{ClusterId: clusterID, Revision: h.GetRevision()}, known)
	}
}

// Range is pb.KVClient's.
func (l *link) Range(ctx context.Context, r *pb.RangeRequest, _ ...grpc.CallOption) (*pb.RangeResponse, error) {
	if l.blind() {
		time.Sleep(100 * time.Millisecond)
		return nil, errLost
	}
	known := l.known()
	resp, err := call(ctx, l, func() (resp *pb.RangeResponse, err error) {
		l.world.atEtcd(l.name, func(s *server) { resp, err = s.kv.Range(context.Background(), r) })
		return resp, err
	}, nil)
	l.answered(resp.GetHeader(), known)
	return resp, err
}

// Txn is pb.KVClient's.
func (l *link) Txn(ctx context.Context, r *pb.TxnRequest, _ ...grpc.CallOption) (*pb.TxnResponse, error) {
	if l.rewrite != nil {
		r = proto.Clone(r).(*pb.TxnRequest) // the caller may send it again
		l.rewrite(r)
	}
	var late func(*pb.TxnResponse)
	if l.lateAnswer != nil {
		late = func(resp *pb.TxnResponse) { l.lateAnswer(r, resp) }
	}
	known := l.known()
	resp, err := call(ctx, l, func() (resp *pb.TxnResponse, err error) {
		l.world.atEtcd(l.name, func(s *server) { resp, err = s.kv.Txn(context.Background(), r) })
		return resp, err
	}, late)
	l.answered(resp.GetHeader(), known)
	if err == nil && l.reread != nil {
		l.reread(r, resp)
	}
	return resp, err
}

// cut lets nothing through for a time; deaf lets no answer back; stall holds watches up.
func (l *link) cut(d time.Duration)   { l.until(&l.cutUntil, d, "is cut off") }
func (l *link) deaf(d time.Duration)  { l.until(&l.deafUntil, d, "hears nothing") }
func (l *link) stall(d time.Duration) { l.until(&l.stallUntil, d, "has its watches held up") }

// lag holds up the watches of one prefix.
func (l *link) lag(prefix string, d time.Duration) {
	l.mu.Lock()
	l.lagUntil[prefix] = time.Now().Add(d)
	l.mu.Unlock()
	l.world.ill(d)
	l.world.remark(path.Base(l.name), "has its watches of %s held up for %v", prefix, d)
}

// interrupt ends the watches of one prefix: what happens until they begin again is missed.
func (l *link) interrupt(prefix string) { l.mu.Lock(); l.gaps[prefix]++; l.mu.Unlock() }

func (l *link) gapsOf(prefix string) int { l.mu.Lock(); defer l.mu.Unlock(); return l.gaps[prefix] }

func (l *link) until(end *time.Time, d time.Duration, what string) {
	l.mu.Lock()
	*end = time.Now().Add(d)
	l.mu.Unlock()
	l.world.ill(d)
	l.world.remark(path.Base(l.name), "%s for %v", what, d)
}

// onlyWrites lets no read through for a time.
func (l *link) onlyWrites(d time.Duration) { l.until(&l.blindUntil, d, "reads nothing") }

func (l *link) blind() bool { l.mu.Lock(); defer l.mu.Unlock(); return time.Now().Before(l.blindUntil) }

func (l *link) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cutUntil, l.deafUntil, l.stallUntil, l.blindUntil = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	clear(l.lagUntil)
}

func (l *link) die() { l.mu.Lock(); l.dead = true; l.mu.Unlock() }

// works reports whether requests get through.
func (l *link) works() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.dead && !l.frozen && time.Now().After(l.cutUntil)
}

func (l *link) freeze(on bool) { l.mu.Lock(); l.frozen = on; l.mu.Unlock() }

// sever waits for the next keep-alive, or grant, to have its effect. At that moment it takes the
// lease away, if asked to, and lets nothing more through for a time but the answer,
// which is late.
func (l *link) sever(grant, revoke bool, d, late time.Duration) {
	hook := func(id clientv3.LeaseID) time.Duration {
		l.cut(d)
		if revoke {
			l.world.expire(id)
		}
		return late
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if grant {
		l.onGrant = hook
	} else {
		l.onAlive = hook
	}
}

// hooked does what was to be done at this moment, and tells how late the answer is.
func (l *link) hooked(hook *func(clientv3.LeaseID) time.Duration, id clientv3.LeaseID) time.Duration {
	l.mu.Lock()
	do := *hook
	*hook = nil
	l.mu.Unlock()
	if do == nil {
		return 0
	}
	return do(id)
}

// leases are those of the world.
type leases struct {
	clientv3.Lease
	link *link
}

// aliveAt is what etcd says of a lease, and how late the answer is.
type aliveAt struct {
	id   clientv3.LeaseID
	late time.Duration
}

// await waits for an answer that is late.
func (a aliveAt) await(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(a.late):
		return nil
	}
}

// Grant is clientv3.Lease's.
func (s *leases) Grant(ctx context.Context, _ int64) (*clientv3.LeaseGrantResponse, error) {
	a, err := call(ctx, s.link, func() (aliveAt, error) {
		id := s.link.world.grant()
		return aliveAt{id, s.link.hooked(&s.link.onGrant, id)}, nil
	}, nil)
	if err == nil {
		err = a.await(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &clientv3.LeaseGrantResponse{ID: a.id, TTL: int64(joblock.DefaultTTL / time.Second)}, nil
}

// KeepAliveOnce is clientv3.Lease's.
func (s *leases) KeepAliveOnce(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	a, err := call(ctx, s.link, func() (aliveAt, error) {
		if err := s.link.world.keepAlive(id); err != nil {
			return aliveAt{}, err
		}
		return aliveAt{id, s.link.hooked(&s.link.onAlive, id)}, nil
	}, nil)
	if err == nil {
		err = a.await(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &clientv3.LeaseKeepAliveResponse{ID: id, TTL: int64(joblock.DefaultTTL / time.Second)}, nil
}

// TimeToLive is clientv3.Lease's: the keys of a lease.
func (s *leases) TimeToLive(ctx context.Context, id clientv3.LeaseID,
	_ ...clientv3.LeaseOption) (*clientv3.LeaseTimeToLiveResponse, error) {
	return call(ctx, s.link, func() (*clientv3.LeaseTimeToLiveResponse, error) {
		keys, lives := s.link.world.keysOf(s.link.name, id)
		if !lives {
			return &clientv3.LeaseTimeToLiveResponse{ID: id, TTL: -1}, nil
		}
		return &clientv3.LeaseTimeToLiveResponse{ID: id, TTL: int64(joblock.DefaultTTL / time.Second), Keys: keys}, nil
	}, nil)
}

// Revoke is clientv3.Lease's.
func (s *leases) Revoke(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	_, err := call(ctx, s.link, func() (struct{}, error) { s.link.world.expire(id); return struct{}{}, nil }, nil)
	return &clientv3.LeaseRevokeResponse{}, err
}

// watcher tells what happened, after a while.
type watcher struct{ link *link }

// Close is clientv3.Watcher's.
func (w *watcher) Close() error { return nil }

// RequestProgress is clientv3.Watcher's.
func (w *watcher) RequestProgress(context.Context) error {
	w.link.mu.Lock()
	defer w.link.mu.Unlock()
	close(w.link.progress)
	w.link.progress = make(chan struct{})
	return nil
}

// Watch is clientv3.Watcher's.
func (w *watcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	op := clientv3.OpGet(key, opts...)
	in := func(k string) bool { return k >= key && (k < string(op.RangeBytes())) }
	ch := make(chan clientv3.WatchResponse)
	opened, gaps := w.link.world.restored(), w.link.gapsOf(key)
	go func() {
		defer close(ch)
		from := op.Rev()
		for {
			w.link.mu.Lock()
			progress := w.link.progress
			w.link.mu.Unlock()
			events, changed := w.link.world.since(from)
			if w.link.world.restored() != opened || w.link.gapsOf(key) != gaps {
				return
			}
			resp := clientv3.WatchResponse{Header: &pb.ResponseHeader{Revision: from - 1}}
			for i := range events {
				from = events[i].rev + 1
				resp.Header.Revision = events[i].rev
				if in(events[i].key) {
					resp.Events = append(resp.Events, (*clientv3.Event)(events[i].raw))
				}
			}
			if len(resp.Events) == 0 {
				select {
				case <-ctx.Done():
					return
				case <-changed:
					continue
				case <-progress:
				}
			}
			if !w.link.arrive(ctx, key) {
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

// arrive waits until the watch's news gets through.
func (l *link) arrive(ctx context.Context, prefix string) bool {
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
		until := l.stallUntil
		for _, t := range []time.Time{l.cutUntil, l.deafUntil, l.lagUntil[prefix]} {
			if t.After(until) {
				until = t
			}
		}
		dead := l.dead || l.frozen
		l.mu.Unlock()
		if wait = time.Until(until); wait <= 0 && !dead {
			return true
		}
		wait = max(wait, time.Second)
	}
}

// under reports whether a key begins with one of the prefixes.
func under(key []byte, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(string(key), p) {
			return true
		}
	}
	return false
}
