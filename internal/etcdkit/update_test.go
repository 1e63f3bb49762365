package etcdkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/etcdtest"
)

var ann = common.Actor{Name: "ann"}

// counter is the object of these tests.
type counter struct {
	N int `json:"n"`
}

// count adds one to a counter, with an audit entry.
func count(ctx context.Context, s *etcdkit.Store, key string) (revision int64, err error) {
	return s.Update(ctx, "counter "+key, func(t *etcdkit.Txn) error {
		kv, err := etcdkit.Get(ctx, s.Client, key)
		if err != nil {
			return err
		}
		var before, after counter
		if kv != nil {
			if before, err = common.Decode[counter](kv.Value); err != nil {
				return err
			}
		}
		after.N = before.N + 1
		etcdkit.Swap(t, key, kv, &after)
		t.Audit(ann, "replace", "counter", key, before, after)
		return nil
	})
}

func keys(t *testing.T, client *clientv3.Client, prefix string) map[string]*mvccpb.KeyValue {
	t.Helper()
	found := map[string]*mvccpb.KeyValue{}
	if _, err := etcdkit.Each(t.Context(), client, prefix, func(kv *mvccpb.KeyValue) error {
		found[string(kv.Key)] = kv
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// Concurrent changes of one object are all applied, each with its audit entry.
func TestUpdate_ConcurrentChanges_AllApplied(t *testing.T) {
	client := etcdtest.Start(t)
	for name, batch := range map[string]*etcdkit.Batch{"alone": nil, "batched": etcdkit.NewBatch(client)} {
		t.Run(name, func(t *testing.T) {
			const writers = 20
			var told atomic.Int32
			s := &etcdkit.Store{Client: client, Now: time.Now, Changed: func() { told.Add(1) }, Batch: batch}
			var all sync.WaitGroup
			for i := range writers {
				all.Go(func() {
					// Half of them change a counter of their own.
					for _, key := range []string{"/" + name, fmt.Sprintf("/own/%s/%d", name, i)} {
						if revision, err := count(t.Context(), s, key); err != nil || revision == 0 {
							t.Errorf("%s: revision %d, %v", key, revision, err)
						}
					}
				})
			}
			all.Wait()
			kv := keys(t, client, "/"+name)["/"+name]
			if string(kv.Value) != fmt.Sprintf(`{"n":%d}`, writers) {
				t.Errorf("the counter is %s", kv.Value)
			}
			changes := 0
			for _, kv := range keys(t, client, common.ChangesPrefix) {
				change, err := common.Decode[common.Change](kv.Value)
				if err == nil && strings.Contains(change.Name, name) {
					changes++
				}
			}
			if changes != 2*writers || int(told.Load()) != 2*writers {
				t.Errorf("%d audit entries, %d notifications", changes, told.Load())
			}
		})
	}
}

func TestUpdate_Conflict_Decided_Again(t *testing.T) {
	client := etcdtest.Start(t)
	s := &etcdkit.Store{Client: client, Now: time.Now}
	ctx, cancel := context.WithCancelCause(t.Context())
	tries, enough := 0, errors.New("enough")
	_, err := s.Update(ctx, "x", func(txn *etcdkit.Txn) error {
		if tries++; tries == 3 {
			cancel(enough)
		}
		txn.If(etcdkit.Unchanged("/x", 1)) // never holds
		txn.Put("/x", counter{tries})
		return nil
	})
	if !errors.Is(err, enough) && !errors.Is(err, context.Canceled) || tries != 3 || len(keys(t, client, "/x")) != 0 {
		t.Errorf("%v after %d tries", err, tries)
	}
	revision, err := s.Update(t.Context(), "x", func(*etcdkit.Txn) error { return nil })
	if revision != 0 || err != nil {
		t.Errorf("nothing to write: %d, %v", revision, err)
	}
	refused := errors.New("refused")
	if _, err = s.Update(t.Context(), "x", func(txn *etcdkit.Txn) error {
		txn.Put("/x", counter{1})
		return refused
	}); !errors.Is(err, refused) || len(keys(t, client, "/x")) != 0 {
		t.Errorf("a refusal: %v", err)
	}
	if _, err = s.Update(t.Context(), "x", func(txn *etcdkit.Txn) error {
		txn.Put("/x", func() {})
		return nil
	}); err == nil || len(keys(t, client, "/x")) != 0 {
		t.Errorf("a value that cannot be encoded: %v", err)
	}
}

// A lease that etcd no longer has is replaced, and the change tried again.
func TestUpdate_LeaseLost_TriedAgain(t *testing.T) {
	client := etcdtest.Start(t)
	s := &etcdkit.Store{Client: client, Now: time.Now}
	good, err := etcdkit.Grant(t.Context(), client, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	lease := clientv3.LeaseID(4711)
	_, err = s.Update(t.Context(), "x", func(txn *etcdkit.Txn) error {
		txn.LeaseLost = func() { lease = good }
		txn.Put("/x", counter{1}, clientv3.WithLease(lease))
		return nil
	})
	if err != nil || keys(t, client, "/x")["/x"].Lease != int64(good) {
		t.Errorf("%v, %v", err, keys(t, client, "/x"))
	}
}

// A member that a newer version wrote stays.
func TestSwap_UnknownFields_Kept(t *testing.T) {
	client := etcdtest.Start(t)
	if _, err := client.Put(t.Context(), "/x", `{"n":1,"later":true}`); err != nil {
		t.Fatal(err)
	}
	if _, err := count(t.Context(), &etcdkit.Store{Client: client, Now: time.Now}, "/x"); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(keys(t, client, "/x")["/x"].Value, &got); err != nil ||
		!maps.Equal(got, map[string]any{"n": 2.0, "later": true}) {
		t.Errorf("%v, %v", got, err)
	}
}

// unreliable returns a store whose next write is lost: its response only, or all of it.
func unreliable(t *testing.T, server *etcdtest.Server) (s *etcdkit.Store, lose func(answerOnly bool)) {
	var answer, all atomic.Bool
	away := status.Error(codes.Unavailable, "lost")
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{server.Endpoint}, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string,
			req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			write := strings.HasSuffix(method, "/Txn") && strings.Contains(fmt.Sprint(req), "request_put")
			if write && all.Swap(false) {
				return away
			}
			err := invoke(ctx, method, req, reply, cc, opts...)
			if write && answer.Swap(false) {
				return away
			}
			return err
		})}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return &etcdkit.Store{Client: client, Now: time.Now}, func(answerOnly bool) {
		answer.Store(answerOnly)
		all.Store(!answerOnly)
	}
}

// After a lost response the state decides whether a change was applied; if it does not show it, the outcome is
// unknown.
func TestUpdate_ResponseLost_StateDecides(t *testing.T) {
	s, lose := unreliable(t, etcdtest.StartServer(t))
	lose(true)
	revision, err := count(t.Context(), s, "/x")
	if kv := keys(t, s.Client, "/x")["/x"]; err != nil || string(kv.Value) != `{"n":1}` || kv.ModRevision != revision {
		t.Errorf("revision %d, %v; stored %v", revision, err, kv)
	}
	lose(false)
	_, err = count(t.Context(), s, "/x")
	if !errors.Is(err, common.ErrUnsure) || common.CodeOf(err) != common.CodeUnavailable {
		t.Errorf("a change that was not applied: %v", err)
	}
}

// A member that etcd refuses does not affect the others of its batch, and a large change has its own
// transaction.
func TestBatch_RefusedMember_OthersApplied(t *testing.T) {
	client := etcdtest.Start(t)
	s := &etcdkit.Store{Client: client, Now: time.Now, Batch: etcdkit.NewBatch(client)}
	const n = 40
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			txn := s.Txn()
			key := fmt.Sprintf("/b/%02d", i)
			switch txn.If(etcdkit.Absent(key)); i {
			case 7:
				txn.Put(key, counter{i}, clientv3.WithLease(4711)) // there is no such lease
			case 8:
				for j := range 50 {
					txn.Put(fmt.Sprintf("%s/%d", key, j), counter{i})
				}
			default:
				txn.Put(key, counter{i})
			}
			_, _, errs[i] = s.Commit(t.Context(), key, txn)
		})
	}
	all.Wait()
	for i, err := range errs {
		if (err != nil) != (i == 7) {
			t.Errorf("member %d: %v", i, err)
		}
	}
	if got := len(keys(t, client, "/b/")); got != n-2+50 {
		t.Errorf("%d keys", got)
	}
}

// A list has the revision of its first page, unless that is compacted meanwhile.
func TestPages_OneRevision(t *testing.T) {
	client := etcdtest.Start(t)
	put := func(key string) int64 {
		resp, err := client.Put(t.Context(), key, "1")
		if err != nil {
			t.Fatal(err)
		}
		return resp.Header.Revision
	}
	var began int64
	for _, key := range []string{"/o/x", "/p/a", "/p/c", "/p/e", "/q/x"} {
		began = put(key)
	}
	list := func(meanwhile func()) (found []string) {
		pages := 0
		for page, err := range etcdkit.Pages(t.Context(), client, "/p/", clientv3.WithLimit(2)) {
			if err != nil {
				t.Fatal(err)
			}
			if pages++; pages == 1 {
				if page.Header.Revision != began || !page.More {
					t.Errorf("revision %d, want %d; more %v", page.Header.Revision, began, page.More)
				}
				meanwhile()
			}
			for _, kv := range page.Kvs {
				found = append(found, string(kv.Key[len("/p/"):]))
			}
		}
		return found
	}
	if got := strings.Join(list(func() { began = put("/p/f") }), ""); got != "ace" {
		t.Errorf("listed %q", got)
	}
	if got := strings.Join(list(func() {
		if _, err := client.Compact(t.Context(), put("/p/g")); err != nil {
			t.Fatal(err)
		}
	}), ""); got != "acefg" {
		t.Errorf("listed %q after a compaction", got)
	}
	stop := errors.New("stop")
	visited := 0
	if _, err := etcdkit.Each(t.Context(), client, "/p/", func(*mvccpb.KeyValue) error {
		visited++
		return stop
	}); !errors.Is(err, stop) || visited != 1 {
		t.Errorf("%v after %d visits", err, visited)
	}
	kvs, err := etcdkit.GetAll(t.Context(), client, []string{"/p/c", "/p/d", "/p/a"})
	if err != nil || len(kvs) != 2 || string(kvs[0].Key) != "/p/c" {
		t.Errorf("%v, %v", kvs, err)
	}
}

// A stream passes on whole revisions, and ends when changes were missed.
func TestStream(t *testing.T) {
	client := etcdtest.Start(t)
	commit := func(keys ...string) int64 {
		ops := make([]clientv3.Op, len(keys))
		for i, key := range keys {
			ops[i] = clientv3.OpPut(key, "1")
		}
		resp, err := client.Txn(t.Context()).Then(ops...).Commit()
		if err != nil {
			t.Fatal(err)
		}
		return resp.Header.Revision
	}
	from := commit("/k", "/k/below", "/l")
	other := commit("/l")
	stop := errors.New("stop")
	events := 0
	watch := etcdkit.Watch{Client: client, Prefix: "/k", End: etcdkit.OneKey("/k"), Ask: 10 * time.Millisecond}
	err := watch.Stream(t.Context(), from, func(_ context.Context, resp *clientv3.WatchResponse) error {
		events += len(resp.Events)
		if resp.IsProgressNotify() && resp.Header.Revision >= other {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || events != 1 {
		t.Errorf("%v after %d events", err, events)
	}
	if _, err := client.Compact(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	err = watch.Stream(t.Context(), from, func(context.Context, *clientv3.WatchResponse) error { return nil })
	if !etcdkit.Compacted(err) {
		t.Errorf("after a compaction: %v", err)
	}
}
