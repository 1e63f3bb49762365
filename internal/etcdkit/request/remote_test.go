package request_test

import (
	"bytes"
	"fmt"
	"testing"

	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/etcdkit/request"
)

// An answer may be larger than the default limit of gRPC, 4 MiB.
func TestCommit_LargeAnswer_IsReceived(t *testing.T) {
	client := etcdtest.StartServer(t).Client()
	kv := request.Of(client)
	var reads []request.Op
	for i := range 10 {
		key := fmt.Sprint("key-", i)
		put := request.Put(key, bytes.Repeat([]byte("x"), 500_000))
		if _, err := request.Commit(t.Context(), kv, nil, []request.Op{put}); err != nil {
			t.Fatal(err)
		}
		reads = append(reads, request.Get(key))
	}
	resp, err := request.Commit(t.Context(), kv, nil, reads)
	if err != nil || len(resp.Responses) != len(reads) {
		t.Fatalf("%d answers, %v", len(resp.Responses), err)
	}
}
