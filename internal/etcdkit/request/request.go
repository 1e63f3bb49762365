// Package request builds etcd transactions as the messages that are sent. The transactions of clientv3 are copied
// several times on their way, which costs a worker more than the rest of the client's side of a claim.
package request

import (
	"context"
	"math"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
)

// Op is an operation of a transaction.
type Op = *etcdserverpb.RequestOp

// Compare is a condition of a transaction.
type Compare = *etcdserverpb.Compare

// KV is the part of etcd's KV service that commits transactions.
type KV interface {
	Txn(context.Context, *etcdserverpb.TxnRequest, ...grpc.CallOption) (*etcdserverpb.TxnResponse, error)
}

// mostSent is the maximum size of a request; etcd's own limit is 1.5 MiB by default.
const mostSent = 2 << 20

// Local is the KV of a client whose transactions are not sent over its connection, such as one of a server in the same
// process.
type Local struct {
	clientv3.KV
	Service KV
}

// Of returns the KV service that a client uses.
func Of(client *clientv3.Client) KV {
	if local, ok := client.KV.(Local); ok {
		return local.Service
	}
	return remote{clientv3.RetryKVClient(client)}
}

// remote sets the limits of clientv3's own calls.
type remote struct{ service KV }

func (r remote) Txn(ctx context.Context, txn *etcdserverpb.TxnRequest,
	options ...grpc.CallOption) (*etcdserverpb.TxnResponse, error) {
	return r.service.Txn(ctx, txn, append(options, grpc.MaxCallSendMsgSize(mostSent),
		grpc.MaxCallRecvMsgSize(math.MaxInt32))...)
}

// Commit executes operations if all compares hold. Its errors are those of clientv3.
func Commit(ctx context.Context, kv KV, compares []Compare, ops []Op) (*clientv3.TxnResponse, error) {
	resp, err := kv.Txn(ctx, &etcdserverpb.TxnRequest{Compare: compares, Success: ops})
	return (*clientv3.TxnResponse)(resp), clientv3.ContextError(ctx, err)
}

// Put writes a key.
func Put(key string, value []byte) Op { return PutUnder(key, value, clientv3.NoLease) }

// PutUnder writes a key under a lease.
func PutUnder(key string, value []byte, lease clientv3.LeaseID) Op {
	return &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestPut{
		RequestPut: &etcdserverpb.PutRequest{Key: []byte(key), Value: value, Lease: int64(lease)},
	}}
}

// Delete deletes a key.
func Delete(key string) Op {
	return &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestDeleteRange{
		RequestDeleteRange: &etcdserverpb.DeleteRangeRequest{Key: []byte(key)},
	}}
}

// Get reads a key.
func Get(key string) Op { return read(&etcdserverpb.RangeRequest{Key: []byte(key)}) }

// GetUnder reads up to limit keys that begin with a prefix.
func GetUnder(prefix string, limit int64) Op {
	return read(&etcdserverpb.RangeRequest{Key: []byte(prefix), RangeEnd: endOf(prefix), Limit: limit})
}

func read(r *etcdserverpb.RangeRequest) Op {
	return &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestRange{RequestRange: r}}
}

// Txn executes one of two lists of operations.
func Txn(compares []Compare, then, otherwise []Op) Op {
	return &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestTxn{
		RequestTxn: &etcdserverpb.TxnRequest{Compare: compares, Success: then, Failure: otherwise},
	}}
}

// Absent holds while the key does not exist.
func Absent(key string) Compare { return Same(key, 0) }

// Same holds while the key has the creation revision that was read, even if its value changed.
func Same(key string, createRevision int64) Compare {
	return &etcdserverpb.Compare{
		Key:         []byte(key),
		Result:      etcdserverpb.Compare_EQUAL,
		Target:      etcdserverpb.Compare_CREATE,
		TargetUnion: &etcdserverpb.Compare_CreateRevision{CreateRevision: createRevision},
	}
}

// NoneUnder holds while no key begins with the prefix. (A range compare holds if it holds for every key in the range,
// and therefore for an empty range.)
func NoneUnder(prefix string) Compare {
	c := Absent(prefix)
	c.RangeEnd = endOf(prefix)
	return c
}

// Unchanged holds while the key's last change is the one that was read; zero: it did not exist.
func Unchanged(key string, modRevision int64) Compare {
	return changed(key, etcdserverpb.Compare_EQUAL, modRevision)
}

// Newer holds while the key's last change came after the revision.
func Newer(key string, revision int64) Compare {
	return changed(key, etcdserverpb.Compare_GREATER, revision)
}

// NoneNewerWithin holds while no key from first on, but before end, was put after the revision.
func NoneNewerWithin(first, end string, revision int64) Compare {
	c := changed(first, etcdserverpb.Compare_LESS, revision+1)
	c.RangeEnd = []byte(end)
	return c
}

func changed(key string, result etcdserverpb.Compare_CompareResult, revision int64) Compare {
	return &etcdserverpb.Compare{
		Key:         []byte(key),
		Result:      result,
		Target:      etcdserverpb.Compare_MOD,
		TargetUnion: &etcdserverpb.Compare_ModRevision{ModRevision: revision},
	}
}

// Holds holds while the key has the value.
func Holds(key, value string) Compare {
	return &etcdserverpb.Compare{
		Key:         []byte(key),
		Result:      etcdserverpb.Compare_EQUAL,
		Target:      etcdserverpb.Compare_VALUE,
		TargetUnion: &etcdserverpb.Compare_Value{Value: []byte(value)},
	}
}

// Once holds while the key was written only once since it was created.
func Once(key string) Compare {
	return &etcdserverpb.Compare{
		Key:         []byte(key),
		Result:      etcdserverpb.Compare_EQUAL,
		Target:      etcdserverpb.Compare_VERSION,
		TargetUnion: &etcdserverpb.Compare_Version{Version: 1},
	}
}

func endOf(prefix string) []byte { return []byte(clientv3.GetPrefixRangeEnd(prefix)) }
