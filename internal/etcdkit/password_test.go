package etcdkit_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/etcdtest"
)

func dialWithPassword(t *testing.T, s *etcdtest.Server, password string) *clientv3.Client {
	t.Helper()
	client, err := etcdkit.Dial(etcdkit.Config{
		Endpoints: []string{s.Endpoint},
		Username:  etcdtest.User,
		Password:  password,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// All watches of a client share a stream. It must not keep an expired token: a later watch is granted, and
// earlier watches continue without a gap.
func TestWatch_TokenOfItsStreamEnded_IsGranted(t *testing.T) {
	t.Parallel()
	s := etcdtest.StartWithPasswords(t, 300)
	client := dialWithPassword(t, s, etcdtest.Password)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	next := func(what string, ch clientv3.WatchChan, key string) {
		t.Helper()
		for resp := range ch {
			if err := resp.Err(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for _, ev := range resp.Events {
				if got := string(ev.Kv.Key); got != key {
					t.Fatalf("%s: got %s, want %s", what, got, key)
				}
				return
			}
		}
		t.Fatalf("%s: the watch was closed", what)
	}
	put := func(key string) {
		t.Helper()
		if _, err := client.Put(ctx, key, "1"); err != nil {
			t.Fatal(err)
		}
	}
	watch := func() clientv3.WatchChan {
		return client.Watch(clientv3.WithRequireLeader(ctx), "/w/", clientv3.WithPrefix(), clientv3.WithRev(1))
	}
	old := watch()
	put("/w/1")
	next("the first watch", old, "/w/1")
	for i := range 3 {
		s.EndTokens(etcdtest.Password)
		key := fmt.Sprintf("/w/%d", i+2)
		next("a later watch", watch(), "/w/1")
		put(key)
		next("the first watch", old, key)
	}
}

// Reads, writes, keep-alives and the status of a member continue when a token expires.
func TestCalls_TokenEnded_AreSentAgain(t *testing.T) {
	t.Parallel()
	s := etcdtest.StartWithPasswords(t, 300)
	client := dialWithPassword(t, s, etcdtest.Password)
	lease, err := client.Grant(t.Context(), 60)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(t.Context(), "/k", "1", clientv3.WithLease(lease.ID)); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(ctx context.Context) error{
		"get": func(ctx context.Context) error { _, err := client.Get(ctx, "/k"); return err },
		"txn": func(ctx context.Context) error {
			_, err := client.Txn(ctx).If(etcdkit.Absent("/none")).Then(clientv3.OpPut("/k", "2")).Commit()
			return err
		},
		"keep alive": func(ctx context.Context) error { _, err := client.KeepAliveOnce(ctx, lease.ID); return err },
		"grant":      func(ctx context.Context) error { _, err := client.Grant(ctx, 60); return err },
	} {
		s.EndTokens(etcdtest.Password)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if err := call(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

// A client is created while etcd is unavailable, also with a password.
func TestDial_EtcdAwayWithPassword_Returns(t *testing.T) {
	client, err := etcdkit.Dial(etcdkit.Config{Endpoints: []string{"127.0.0.1:1"}, Username: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	_ = client.Close()
}
