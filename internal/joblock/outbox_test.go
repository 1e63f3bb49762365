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

// A long row comes in parts, each of which begins where the one before ended; what was
// written meanwhile before that place comes as well, and what cannot be read stays.
func TestLongOutbox(t *testing.T) {
	t.Parallel()
	for _, bad := range []bool{false, true} {
		t.Run(fmt.Sprint("bad ", bad), func(t *testing.T) {
			client := shared.Start(t)
			put := func(id, value string) {
				t.Helper()
				if _, err := client.Put(t.Context(), common.OutboxKey("w", id), value); err != nil {
					t.Fatal(err)
				}
			}
			outcome := func(id string) {
				t.Helper()
				data, err := json.Marshal(common.Run{ID: id, Status: common.StatusSucceeded})
				if err != nil {
					t.Fatal(err)
				}
				put(id, string(data))
			}
			const n, part = 250, 40
			for i := range n {
				outcome(fmt.Sprintf("run%03d", i))
			}
			if bad {
				put("run100x", "{")
			}
			outbox, seen, skip := joblock.NewOutbox(client, "w"), map[string]int{}, 0
			for reads := 1; ; reads++ {
				pending, err := outbox.Pending(t.Context(), part+skip)
				if err != nil || reads > 20 {
					t.Fatal(reads, err)
				}
				if left := n + 1 - len(seen); pending.Waiting > left+1 || pending.Batch.Runs != nil &&
					pending.Bytes < 20*len(pending.Batch.Runs) {
					t.Fatalf("says that %d wait, where %d are left; %d bytes", pending.Waiting, left, pending.Bytes)
				}
				skip = len(pending.Bad)
				for _, run := range pending.Batch.Runs {
					seen[run.ID]++
				}
				if err := pending.Ack(t.Context()); err != nil {
					t.Fatal(err)
				}
				if reads == 3 {
					outcome("run000x") // before the place where the next part begins
				}
				if !pending.More {
					break
				}
			}
			left, err := client.Get(t.Context(), common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
			if err != nil || len(seen) != n+1 || left.Count != int64(skip) || (skip == 1) != bad {
				t.Fatalf("%d came, %d are left, %d of them bad, %v", len(seen), left.Count, skip, err)
			}
			for id, times := range seen {
				if times != 1 {
					t.Errorf("%s came %d times", id, times)
				}
			}
			outcome("run000y") // and later still
			if pending, err := outbox.Pending(t.Context(), part+skip); err != nil || len(pending.Batch.Runs) != 1 ||
				pending.Waiting != 1+skip {
				t.Fatalf("%+v, %v", pending, err)
			}
			if pending, err := outbox.Pending(t.Context(), part+skip); err != nil || len(pending.Batch.Runs) != 1 {
				t.Fatalf("what was not acknowledged does not come again: %+v, %v", pending, err)
			}
		})
	}
}

// What was handed over is acked by its id: it alone goes, in one revision for each
// hundred, and what is no longer as it was first written stays.
func TestAckById(t *testing.T) {
	t.Parallel()
	const here, there = "worker1", "worker11"
	client := etcdtest.Start(t) // its revisions are counted
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
	want := []string{common.OutboxKey(here, "run007"), common.OutboxKey(here, "unstored"),
		common.OutboxKey(there, "run000")}
	if fmt.Sprint(left) != fmt.Sprint(want) {
		t.Errorf("left %v, want %v", left, want)
	}
	if writes := after.Header.Revision - before.Header.Revision; writes != 3 {
		t.Errorf("%d revisions for 250 outcomes", writes)
	}
}
