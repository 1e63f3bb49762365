package request_test

import (
	"context"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/request"
)

// recorder keeps the last transaction that was sent to it.
type recorder struct {
	etcdserverpb.KVClient
	last *etcdserverpb.TxnRequest
}

func (r *recorder) Txn(_ context.Context, txn *etcdserverpb.TxnRequest,
	_ ...grpc.CallOption) (*etcdserverpb.TxnResponse, error) {
	r.last = txn
	return &etcdserverpb.TxnResponse{}, nil
}

func TestMessagesAreThoseOfClientv3(t *testing.T) {
	var sent recorder
	client := clientv3.NewCtxClient(t.Context())
	client.KV = clientv3.NewKVFromKVClient(&sent, client)
	_, err := client.Txn(t.Context()).If(etcdkit.Absent("a"), etcdkit.Same("b", 2), etcdkit.Unchanged("c", 3),
		etcdkit.NoneUnder("d/"), etcdkit.NoneNewerWithin("e", "f", 4),
		clientv3.Compare(clientv3.ModRevision("g"), ">", 5), clientv3.Compare(clientv3.Value("h"), "=", "i"),
		clientv3.Compare(clientv3.Version("j"), "=", 1)).
		Then(clientv3.OpPut("k", "l"), clientv3.OpPut("m", "n", clientv3.WithLease(6)), clientv3.OpDelete("o"),
			clientv3.OpGet("p"), clientv3.OpGet("q/", clientv3.WithPrefix(), clientv3.WithLimit(7)),
			clientv3.OpTxn([]clientv3.Cmp{etcdkit.Absent("r")}, []clientv3.Op{clientv3.OpGet("s")},
				[]clientv3.Op{clientv3.OpDelete("t")})).Commit()
	if err != nil {
		t.Fatal(err)
	}
	want := sent.last
	_, err = request.Commit(t.Context(), &sent, []request.Compare{request.Absent("a"), request.Same("b", 2),
		request.Unchanged("c", 3), request.NoneUnder("d/"), request.NoneNewerWithin("e", "f", 4),
		request.Newer("g", 5), request.Holds("h", "i"), request.Once("j")},
		[]request.Op{request.Put("k", []byte("l")), request.PutUnder("m", []byte("n"), 6), request.Delete("o"),
			request.Get("p"), request.GetUnder("q/", 7),
			request.Txn([]request.Compare{request.Absent("r")}, []request.Op{request.Get("s")},
				[]request.Op{request.Delete("t")})})
	if err != nil || !proto.Equal(sent.last, want) {
		t.Errorf("sent %v, %v\nwant %v", sent.last, err, want)
	}
}
