package etcdkit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/platform/embedded"
)

// exampleEtcd starts an etcd in process.
func exampleEtcd() (client *clientv3.Client, stop func()) {
	dir, err := os.MkdirTemp("", "etcdkit-")
	if err != nil {
		panic(err)
	}
	server, err := embedded.Start(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	return server.Client(), func() {
		_ = server.Close()
		_ = os.RemoveAll(dir)
	}
}

// lamp is the value of the examples.
type lamp struct {
	On bool `json:"on"`
}

// A change is decided on what was read, and committed together with its audit entry if that is unchanged.
func ExampleStore_Update() {
	client, stop := exampleEtcd()
	defer stop()
	ctx := context.Background()
	store := &etcdkit.Store{Client: client, Now: time.Now, Changed: func() { fmt.Println("an entry to deliver") }}
	toggle := func() (now lamp, err error) {
		_, err = store.Update(ctx, "the lamp", func(t *etcdkit.Txn) error {
			kv, err := etcdkit.Get(ctx, client, "/lamp")
			if err != nil {
				return err
			}
			var before lamp
			if kv != nil {
				if before, err = common.Decode[lamp](kv.Value); err != nil {
					return err
				}
			}
			now = lamp{On: !before.On}
			etcdkit.Swap(t, "/lamp", kv, &now)
			t.Audit(common.Actor{Name: "ann"}, "replace", "lamp", "the lamp", before, now)
			return nil
		})
		return now, err
	}
	fmt.Println(toggle())
	fmt.Println(toggle())
	entries, err := etcdkit.Count(ctx, client, common.ChangesPrefix)
	fmt.Println(entries, err)
	// Output:
	// an entry to deliver
	// {true} <nil>
	// an entry to deliver
	// {false} <nil>
	// 2 <nil>
}

func ExamplePages() {
	client, stop := exampleEtcd()
	defer stop()
	ctx := context.Background()
	for _, key := range []string{"/a/1", "/a/2", "/a/3", "/b/1"} {
		_, _ = client.Put(ctx, key, "x")
	}
	for page, err := range etcdkit.Pages(ctx, client, "/a/", clientv3.WithLimit(2)) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, kv := range page.Kvs {
			fmt.Printf("%s ", kv.Key)
		}
		fmt.Println("more:", page.More)
	}
	// Output:
	// /a/1 /a/2 more: true
	// /a/3 more: false
}

// The receiver gets the complete state first, then each change, and the complete state again after a gap.
func ExampleWatch_Follow() {
	client, stop := exampleEtcd()
	defer stop()
	ctx := context.Background()
	_, _ = client.Put(ctx, "/a/1", "x")
	enough := errors.New("enough")
	table := map[string]*mvccpb.KeyValue{}
	watch := etcdkit.Watch{Client: client, Prefix: "/a/"}
	err := watch.Follow(ctx, func(ctx context.Context, u etcdkit.Changes) error {
		if u.Whole {
			clear(table)
		}
		for _, kv := range u.Puts {
			table[string(kv.Key)] = kv
		}
		for _, kv := range u.Deletes {
			delete(table, string(kv.Key))
		}
		fmt.Println("whole:", u.Whole, "keys:", len(table))
		if len(table) == 2 {
			return enough
		}
		_, err := client.Put(ctx, "/a/2", "x")
		return err
	})
	fmt.Println(err)
	// Output:
	// whole: true keys: 1
	// whole: false keys: 2
	// enough
}

// Changes of different objects that arrive while others are in flight share a transaction.
func ExampleBatch() {
	client, stop := exampleEtcd()
	defer stop()
	store := &etcdkit.Store{Client: client, Now: time.Now, Batch: etcdkit.NewBatch(client)}
	t := store.Txn()
	t.If(etcdkit.Absent("/lamp"))
	t.Put("/lamp", lamp{On: true})
	_, done, err := store.Commit(context.Background(), "the lamp", t)
	fmt.Println(done, err)
	// Output: true <nil>
}
