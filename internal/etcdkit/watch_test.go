package etcdkit_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/etcdtest"
)

// mirror applies updates the way every receiver does.
type mirror struct {
	table  map[string]string
	wholes int
}

func (m *mirror) apply(u etcdkit.Changes) {
	if u.Whole {
		m.wholes++
		m.table = map[string]string{}
	}
	for _, kv := range u.Puts {
		m.table[string(kv.Key)] = string(kv.Value)
	}
	for _, kv := range u.Deletes {
		delete(m.table, string(kv.Key))
	}
}

// follow runs a follower until its mirror satisfies the condition.
func follow(t *testing.T, f *etcdkit.Watch, m *mirror, step func(m *mirror) (done bool)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	done := fmt.Errorf("done")
	err := f.Follow(ctx, func(_ context.Context, u etcdkit.Changes) error {
		m.apply(u)
		if step(m) {
			return done
		}
		return nil
	})
	if err != done {
		t.Fatalf("follow ended with %v, table %v", err, m.table)
	}
}

func TestFollowKeepsTheTable(t *testing.T) {
	t.Parallel()
	client := etcdtest.Start(t)
	put := func(k, v string) {
		if _, err := client.Put(t.Context(), k, v); err != nil {
			t.Error(err)
		}
	}
	for i := range 5000 { // more than two pages
		put(fmt.Sprintf("/p/%05d", i), "1")
	}
	put("/q/other", "1")
	m := &mirror{}
	follow(t, &etcdkit.Watch{Client: client, Prefix: "/p/"}, m, func(m *mirror) bool {
		if m.wholes == 1 && len(m.table) == 5000 && m.table["/p/00007"] == "1" {
			go func() {
				put("/p/00007", "2")
				put("/p/00007", "3")
				_, _ = client.Delete(context.WithoutCancel(t.Context()), "/p/00008")
			}()
			return false
		}
		_, there := m.table["/p/00008"]
		return m.table["/p/00007"] == "3" && !there
	})
	if len(m.table) != 4999 || m.wholes != 1 {
		t.Fatalf("%d keys after %d lists, want 4999 after 1", len(m.table), m.wholes)
	}
}

// A follower whose next revision was compacted lists again and misses nothing.
func TestFollowListsAgainAfterCompaction(t *testing.T) {
	t.Parallel()
	client := etcdtest.Start(t)
	var rev int64
	for i := range 10 {
		resp, err := client.Put(t.Context(), "/p/a", fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		rev = resp.Header.Revision
	}
	// The history between its list and its watch is compacted: the receiver, called after the list, causes
	// the gap.
	m := &mirror{}
	follow(t, &etcdkit.Watch{Client: client, Prefix: "/p/"}, m, func(m *mirror) bool {
		if m.wholes == 1 && m.table["/p/b"] == "" {
			if _, err := client.Put(t.Context(), "/p/b", "1"); err != nil {
				t.Fatal(err)
			}
			resp, err := client.Put(t.Context(), "/p/c", "1")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Compact(t.Context(), resp.Header.Revision); err != nil {
				t.Fatal(err)
			}
		}
		return m.table["/p/c"] == "1"
	})
	keys := slices.Sorted(maps.Keys(m.table))
	if m.wholes != 2 || !slices.Equal(keys, []string{"/p/a", "/p/b", "/p/c"}) {
		t.Fatalf("after revision %d: %d lists, keys %v", rev, m.wholes, keys)
	}
}

func TestRangeCompares(t *testing.T) {
	t.Parallel()
	client := etcdtest.Start(t)
	holds := func(c clientv3.Cmp) bool {
		resp, err := client.Txn(t.Context()).If(c).Commit()
		if err != nil {
			t.Fatal(err)
		}
		return resp.Succeeded
	}
	if !holds(etcdkit.NoneUnder("/r/a/")) || !holds(etcdkit.NoneNewer("/r/a/", 1)) || !holds(etcdkit.Absent("/r/a/x")) {
		t.Fatal("an empty prefix must hold")
	}
	if _, err := client.Put(t.Context(), "/r/ab/x", "1"); err != nil {
		t.Fatal(err)
	}
	if !holds(etcdkit.NoneUnder("/r/a/")) {
		t.Fatal("a neighbour's key must not count")
	}
	resp, err := client.Put(t.Context(), "/r/a/x", "1")
	if err != nil {
		t.Fatal(err)
	}
	rev := resp.Header.Revision
	if holds(etcdkit.NoneUnder("/r/a/")) || holds(etcdkit.NoneNewer("/r/a/", rev-1)) ||
		!holds(etcdkit.NoneNewer("/r/a/", rev)) {
		t.Fatal("compares miss a key under the prefix")
	}
	if !holds(etcdkit.Unchanged("/r/a/x", rev)) || !holds(etcdkit.Same("/r/a/x", rev)) ||
		holds(etcdkit.Unchanged("/r/a/x", rev-1)) {
		t.Fatal("compares of one key are wrong")
	}
}

// A long list is delivered in parts, none of which is larger than a page.
func TestFollowPaged(t *testing.T) {
	t.Parallel()
	client := etcdtest.Start(t)
	const n = 4500
	for from := 0; from < n; from += 100 {
		ops := make([]clientv3.Op, 0, 100)
		for i := from; i < from+100; i++ {
			ops = append(ops, clientv3.OpPut(fmt.Sprintf("/a/%05d", i), "x"))
		}
		if _, err := client.Txn(t.Context()).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	m, parts := &mirror{}, 0
	f := &etcdkit.Watch{Client: client, Prefix: "/a/", Paged: true}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	done := fmt.Errorf("done")
	err := f.Follow(ctx, func(_ context.Context, u etcdkit.Changes) error {
		m.apply(u)
		parts++
		if u.Whole != (parts == 1) || len(u.Puts) > 2000 || u.More != (len(m.table) < n) {
			t.Errorf("part %d: whole %t, more %t, %d keys", parts, u.Whole, u.More, len(u.Puts))
		}
		if !u.More {
			return done
		}
		return nil
	})
	if err != done || len(m.table) != n || parts != 3 {
		t.Fatalf("%v: %d keys in %d parts", err, len(m.table), parts)
	}
}

// A watch answers a progress request with a revision up to which all changes were received.
func TestFollow_ProgressOnProbe(t *testing.T) {
	t.Parallel()
	client := etcdtest.Start(t)
	put := func(key string) int64 {
		resp, err := client.Put(t.Context(), key, "1")
		if err != nil {
			t.Fatal(err)
		}
		return resp.Header.Revision
	}
	put("/p/a")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	probe, reached, received, ended := make(chan struct{}, 1), make(chan int64, 100), make(chan int64, 100),
		make(chan error, 1)
	f := etcdkit.Watch{
		Client:   client,
		Prefix:   "/p/",
		Probe:    probe,
		Progress: func(revision int64) { reached <- revision },
	}
	go func() {
		ended <- f.Follow(ctx, func(_ context.Context, u etcdkit.Changes) error { received <- u.Revision; return nil })
	}()
	<-received
	mine := put("/p/b")
	other := put("/q/c") // which the watch does not receive
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for at := int64(0); at < other; {
		select {
		case at = <-reached:
		case <-tick.C:
			select {
			case probe <- struct{}{}:
			default:
			}
		case err := <-ended:
			t.Fatal(err)
		}
	}
	select {
	case got := <-received:
		if got != mine {
			t.Fatalf("received revision %d, want %d", got, mine)
		}
	default:
		t.Fatal("a revision was reported before its change was received")
	}
	cancel()
	<-ended
}
