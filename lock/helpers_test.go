package lock_test

import (
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// holderOf reads the holder's key; nil if it does not exist.
func holderOf(t *testing.T, client *clientv3.Client, name string) *mvccpb.KeyValue {
	t.Helper()
	resp, err := client.Get(within(t), common.LockHolderKey(name))
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.Kvs) == 0 {
		return nil
	}
	return resp.Kvs[0]
}
