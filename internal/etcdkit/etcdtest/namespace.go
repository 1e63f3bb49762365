package etcdtest

import (
	"bytes"
	"context"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"carillon/internal/etcdkit/request"
)

// namespaced is a KV service whose keys all have a prefix, as package namespace of clientv3 has one for its KV.
type namespaced struct {
	service request.KV
	prefix  string
}

// Txn commits a transaction. It adds the prefix to the keys of the request, which must not be sent again.
func (n namespaced) Txn(ctx context.Context, txn *etcdserverpb.TxnRequest,
	options ...grpc.CallOption) (*etcdserverpb.TxnResponse, error) {
	resp, err := n.service.Txn(ctx, n.request(txn), options...)
	n.strip(resp.GetResponses())
	return resp, err
}

func (n namespaced) request(txn *etcdserverpb.TxnRequest) *etcdserverpb.TxnRequest {
	prefixed := &etcdserverpb.TxnRequest{Success: n.ops(txn.Success), Failure: n.ops(txn.Failure)}
	for _, c := range txn.Compare {
		prefixed.Compare = append(prefixed.Compare, &etcdserverpb.Compare{Result: c.Result, Target: c.Target,
			TargetUnion: c.TargetUnion, Key: n.key(c.Key), RangeEnd: n.end(c.RangeEnd)})
	}
	return prefixed
}

func (n namespaced) ops(ops []request.Op) (prefixed []request.Op) {
	for _, op := range ops {
		switch r := op.Request.(type) {
		case *etcdserverpb.RequestOp_RequestPut:
			op = request.PutUnder(n.prefix+string(r.RequestPut.Key), r.RequestPut.Value,
				clientv3.LeaseID(r.RequestPut.Lease))
		case *etcdserverpb.RequestOp_RequestDeleteRange:
			op = request.Delete(n.prefix + string(r.RequestDeleteRange.Key))
		case *etcdserverpb.RequestOp_RequestRange:
			op = &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestRange{
				RequestRange: &etcdserverpb.RangeRequest{Key: n.key(r.RequestRange.Key),
					RangeEnd: n.end(r.RequestRange.RangeEnd), Limit: r.RequestRange.Limit},
			}}
		case *etcdserverpb.RequestOp_RequestTxn:
			op = &etcdserverpb.RequestOp{
				Request: &etcdserverpb.RequestOp_RequestTxn{RequestTxn: n.request(r.RequestTxn)},
			}
		}
		prefixed = append(prefixed, op)
	}
	return prefixed
}

func (n namespaced) key(key []byte) []byte { return []byte(n.prefix + string(key)) }

func (n namespaced) end(end []byte) []byte {
	if len(end) == 0 {
		return nil
	}
	return n.key(end)
}

// strip removes the prefix from the keys of an answer.
func (n namespaced) strip(responses []*etcdserverpb.ResponseOp) {
	for _, r := range responses {
		for _, kv := range r.GetResponseRange().GetKvs() {
			kv.Key = bytes.TrimPrefix(kv.Key, []byte(n.prefix))
		}
		n.strip(r.GetResponseTxn().GetResponses())
	}
}
