package embedded_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"carillon/internal/platform/embedded"
	"carillon/test/harness"
)

func start(t *testing.T, dir string) *embedded.Etcd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	etcd, err := embedded.Start(ctx, dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return etcd
}

// What is written is there after a restart, leases and watches work in process, and nothing listens: also no peer's
// socket, of which the name would be abstract and open to all.
func TestKeepsAndHides(t *testing.T) {
	dir := t.TempDir()
	etcd := start(t, dir)
	lease, err := etcd.Client().Grant(t.Context(), 60)
	if err != nil {
		t.Fatal(err)
	}
	watch := etcd.Client().Watch(clientv3.WithRequireLeader(t.Context()), "/a", clientv3.WithCreatedNotify())
	if created := <-watch; !created.Created {
		t.Fatalf("watch began with %+v", created)
	}
	if _, err := etcd.Client().Put(t.Context(), "/a", "1", clientv3.WithLease(lease.ID)); err != nil {
		t.Fatal(err)
	}
	if event := <-watch; len(event.Events) != 1 || string(event.Events[0].Kv.Value) != "1" {
		t.Fatalf("watch told %+v", event)
	}
	if _, err := etcd.Client().KeepAliveOnce(t.Context(), lease.ID); err != nil {
		t.Fatal(err)
	}
	if found, err := harness.Listening(os.Getpid()); err != nil || len(found) > 0 {
		t.Fatalf("listens on %q (%v), want nothing", found, err)
	}
	if err := etcd.Close(); err != nil {
		t.Fatal(err)
	}
	again := start(t, dir)
	resp, err := again.Client().Get(t.Context(), "/a")
	if err != nil || len(resp.Kvs) != 1 {
		t.Fatalf("after a restart: %v, %v", resp, err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// Applied entries of the Raft log do not stay in memory, and a start does not read them all again.
func TestRaftLog_StaysSmall(t *testing.T) {
	const size, count = 16 << 10, 3000
	dir := t.TempDir()
	etcd := start(t, dir)
	put := func(n int) {
		var all errgroup.Group
		all.SetLimit(16)
		for i := range n {
			all.Go(func() error {
				_, err := etcd.Client().Put(t.Context(), fmt.Sprint("/", i%16), strings.Repeat("v", size))
				return err
			})
		}
		if err := all.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	put(100)
	before := heap()
	bounded := func(when string) {
		t.Helper()
		if more := heap() - before; more > count*size/2 {
			t.Errorf("%d MiB more in memory %s writes of %d MiB", more>>20, when, count*size>>20)
		}
	}
	put(count)
	bounded("after")
	if err := etcd.Close(); err != nil {
		t.Fatal(err)
	}
	etcd = start(t, dir)
	bounded("at a start after")
	if err := etcd.Close(); err != nil {
		t.Fatal(err)
	}
}

// heap returns the size of all live objects in bytes.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
