package looptest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"carillon/internal/common"
	"carillon/internal/etcdkit/request"
)

// Gate refuses what a client asks of keys under a prefix, while it is closed.
type Gate struct {
	mu     sync.Mutex
	prefix string        // "" while it is open
	writes bool          // only writes are refused
	moved  chan struct{} // closed and replaced with each change
}

// NewGate returns an open gate.
func NewGate() *Gate { return &Gate{moved: make(chan struct{})} }

// Set closes the gate for keys under a prefix; it opens it for "".
func (g *Gate) Set(prefix string, writes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prefix, g.writes = prefix, writes
	close(g.moved)
	g.moved = make(chan struct{})
}

func (g *Gate) refuses(key []byte, write bool) (bool, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.prefix != "" && strings.HasPrefix(string(key), g.prefix) && (write || !g.writes), g.moved
}

func (g *Gate) check(ops ...clientv3.Op) error {
	for _, op := range ops {
		if op.IsTxn() {
			_, then, otherwise := op.Txn()
			if err := g.check(slices.Concat(then, otherwise)...); err != nil {
				return err
			}
			continue
		}
		if op.IsKeysOnly() && string(op.KeyBytes()) == common.JobsPrefix {
			continue // the check of the monitor whether etcd responds
		}
		if no, _ := g.refuses(op.KeyBytes(), !op.IsGet()); no {
			return rpctypes.ErrPermissionDenied
		}
	}
	return nil
}

// Client returns a client that goes through the gate.
func (g *Gate) Client(real *clientv3.Client) *clientv3.Client {
	c := clientv3.NewCtxClient(real.Ctx())
	c.KV = request.Local{KV: gatedKV{real.KV, g}, Service: gatedService{request.Of(real), g}}
	c.Watcher, c.Lease, c.Maintenance, c.Cluster = gatedWatcher{real.Watcher, g}, real.Lease,
		statusOf{real.Maintenance, real}, real.Cluster
	return c
}

// statusOf asks for the status of the real client's endpoint, since a client made of parts has none.
type statusOf struct {
	clientv3.Maintenance
	real *clientv3.Client
}

func (s statusOf) Status(ctx context.Context, _ string) (*clientv3.StatusResponse, error) {
	return s.Maintenance.Status(ctx, s.real.Endpoints()[0])
}

// gatedService is the KV service of the packages that use package request.
type gatedService struct {
	request.KV
	gate *Gate
}

func (s gatedService) Txn(ctx context.Context, txn *etcdserverpb.TxnRequest,
	opts ...grpc.CallOption) (*etcdserverpb.TxnResponse, error) {
	if s.gate.refusesTxn(txn) {
		return nil, rpctypes.ErrPermissionDenied
	}
	return s.KV.Txn(ctx, txn, opts...)
}

func (g *Gate) refusesTxn(txn *etcdserverpb.TxnRequest) bool {
	return slices.ContainsFunc(slices.Concat(txn.Success, txn.Failure), func(op request.Op) bool {
		if inner := op.GetRequestTxn(); inner != nil {
			return g.refusesTxn(inner)
		}
		read := op.GetRequestRange()
		key := slices.Concat(read.GetKey(), op.GetRequestPut().GetKey(), op.GetRequestDeleteRange().GetKey())
		no, _ := g.refuses(key, read == nil)
		return no
	})
}

type gatedKV struct {
	clientv3.KV
	gate *Gate
}

func (k gatedKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if err := k.gate.check(clientv3.OpGet(key, opts...)); err != nil {
		return nil, err
	}
	return k.KV.Get(ctx, key, opts...)
}

func (k gatedKV) Put(ctx context.Context, key, val string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	if err := k.gate.check(clientv3.OpPut(key, val)); err != nil {
		return nil, err
	}
	return k.KV.Put(ctx, key, val, opts...)
}

func (k gatedKV) Txn(ctx context.Context) clientv3.Txn {
	return &gatedTxn{Txn: k.KV.Txn(ctx), gate: k.gate}
}

type gatedTxn struct {
	clientv3.Txn
	gate *Gate
	err  error
}

func (x *gatedTxn) If(cs ...clientv3.Cmp) clientv3.Txn { x.Txn.If(cs...); return x }

func (x *gatedTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	x.err = x.gate.check(ops...)
	x.Txn.Then(ops...)
	return x
}

func (x *gatedTxn) Else(ops ...clientv3.Op) clientv3.Txn { x.Txn.Else(ops...); return x }

func (x *gatedTxn) Commit() (*clientv3.TxnResponse, error) {
	if x.err != nil {
		return nil, x.err
	}
	return x.Txn.Commit()
}

type gatedWatcher struct {
	clientv3.Watcher
	gate *Gate
}

func (w gatedWatcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	ctx, cancel := context.WithCancel(ctx)
	in, out := w.Watcher.Watch(ctx, key, opts...), make(chan clientv3.WatchResponse)
	go func() {
		defer cancel()
		defer close(out)
		for {
			no, moved := w.gate.refuses([]byte(key), false)
			if no {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-moved:
			case resp, ok := <-in:
				if !ok {
					return
				}
				select {
				case out <- resp:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}
