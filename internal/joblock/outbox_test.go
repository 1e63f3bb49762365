package joblock_test

import (
	"encoding/json"
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/joblock"
)

// What was handed over is acked by its id: it alone goes, in one revision for each
// hundred, and what is no longer as it was first written stays.
func TestAckById(t *testing.T) {
	const here, there = "worker1", "worker11"
	client := etcdtest.StartServer(t).Client()
	put := func(worker, id string, status common.Status) {
		t.Helper()
		data, err := json.Marshal(common.Run{ID: id, Status: status})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Put(t.Context(), common.OutboxKey(worker, id), string(data)); err != nil {
			t.Fatal(err)
		}
	}
	ids := []string{"never-written"}
	for i := range 250 {
		id := fmt.Sprintf("run%03d", i)
		ids = append(ids, id)
		put(here, id, common.StatusSucceeded)
	}
	put(here, "run007", common.StatusLost) // not what was handed over
	put(here, "unstored", common.StatusFailed)
	put(there, "run000", common.StatusSucceeded)
	before, err := client.Get(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}

	outbox := joblock.NewOutbox(client, here)
	for range 2 { // acked already is no error
		if err := outbox.Ack(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
	}
	after, err := client.Get(t.Context(), common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, kv := range after.Kvs {
		left = append(left, string(kv.Key))
	}
	want := []string{common.OutboxKey(here, "run007"), common.OutboxKey(here, "unstored"), common.OutboxKey(there, "run000")}
	if fmt.Sprint(left) != fmt.Sprint(want) {
		t.Errorf("left %v, want %v", left, want)
	}
	if writes := after.Header.Revision - before.Header.Revision; writes != 3 {
		t.Errorf("%d revisions for 250 outcomes", writes)
	}
}
