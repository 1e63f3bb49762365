package members_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/platform/virtualtime"
)

// shared is the etcd of the tests that neither stop nor compact it.
var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// leases is a session that takes a new lease whenever the last one was found to be gone.
type leases struct {
	client *clientv3.Client
	ttl    int64

	mu          sync.Mutex
	live        clientv3.LeaseID
	invalidated []clientv3.LeaseID
}

func (l *leases) Lease(ctx context.Context) (clientv3.LeaseID, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live == 0 {
		granted, err := l.client.Grant(ctx, l.ttl)
		if err != nil {
			return 0, err
		}
		l.live = granted.ID
	}
	return l.live, nil
}

func (l *leases) Invalidate(id clientv3.LeaseID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.invalidated = append(l.invalidated, id)
	if l.live == id {
		l.live = 0
	}
}

// worker is one incarnation of a worker.
type worker struct {
	testing.TB
	client *clientv3.Client
	leases *leases
	keeper *members.Keeper

	mu      sync.Mutex
	running int
}

const tick = 20 * time.Millisecond

func newWorker(t testing.TB, client *clientv3.Client, id, life string) *worker {
	w := &worker{TB: t, client: client, leases: &leases{client: client, ttl: 600}}
	w.keeper = members.NewKeeper(client, w.leases, slog.New(slog.DiscardHandler), tick, func(error) {},
		func() common.Registration {
			w.mu.Lock()
			defer w.mu.Unlock()
			return common.Registration{
				Life:    common.Life{Worker: id, Name: "box", Life: life},
				Host:    "h",
				Slots:   4,
				Running: w.running,
			}
		}, func(string) {})
	return w
}

func (w *worker) runs(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = n
}

func (w *worker) register() {
	w.Helper()
	if err := w.keeper.Register(w.Context(), time.Minute, nil); err != nil {
		w.Fatal(err)
	}
}

// keep runs the keeper and returns a channel with its result. It ends with the test.
func (w *worker) keep() <-chan error {
	ctx, cancel := context.WithCancel(w.Context())
	ended, err := make(chan struct{}), make(chan error, 1)
	go func() { defer close(ended); err <- w.keeper.Run(ctx) }()
	w.Cleanup(func() { cancel(); <-ended })
	return err
}

func key(t testing.TB, client *clientv3.Client, worker string) *mvccpb.KeyValue {
	t.Helper()
	resp, err := client.Get(t.Context(), common.WorkerKey(worker))
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.Kvs) == 0 {
		return &mvccpb.KeyValue{}
	}
	return resp.Kvs[0]
}

func lifeOf(t testing.TB, client *clientv3.Client, worker string) (life string, lease int64) {
	t.Helper()
	reg, found, err := members.Earlier(t.Context(), client, worker)
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return "", 0
	}
	return reg.Life.Life, reg.Lease
}

func encode(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("not within 30 s: %s", what)
		case <-poll.C:
		}
	}
}

func TestRegisterRefreshList(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	if workers, err := members.List(t.Context(), client); err != nil || len(workers) != 0 {
		t.Fatalf("%v, %v", err, workers)
	}
	b, a := newWorker(t, client, "b", "life-b"), newWorker(t, client, "a", "life-a")
	b.register()
	a.register()
	// are skipped
	for id, value := range map[string]string{"aa": "{", "ab": "{}", "ac": "null", "ad": `{"worker":"a"}`} {
		if _, err := client.Put(t.Context(), common.WorkerKey(id), value); err != nil {
			t.Fatal(err)
		}
	}
	ids := func() (ids []string, running []int) {
		workers, err := members.List(t.Context(), client)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range workers {
			ids, running = append(ids, w.Worker), append(running, w.Running)
			if w.Slots != 4 || w.Host != "h" || w.Lease == 0 {
				t.Fatalf("%+v", w)
			}
		}
		return ids, running
	}
	if got, _ := ids(); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatalf("listed %v", got)
	}
	kv := key(t, client, "a")
	if _, lease := lifeOf(t, client, "a"); kv.Lease != lease || kv.Lease != int64(a.leases.live) {
		t.Fatalf("the key is under lease %x, contains %x, the session's is %x", kv.Lease, lease, a.leases.live)
	}
	ended := a.keep()
	a.runs(3)
	eventually(t, "the registration is fresh", func() bool {
		_, running := ids()
		return slices.Equal(running, []int{3, 0})
	})
	if now := key(t, client, "a"); now.CreateRevision != kv.CreateRevision {
		t.Fatal("a refresh recreated the key")
	}
	if _, err := client.Revoke(t.Context(), b.leases.live); err != nil {
		t.Fatal(err)
	}
	if got, _ := ids(); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("listed %v after the end of b", got)
	}
	select {
	case err := <-ended:
		t.Fatalf("the keeper ended: %v", err)
	default:
	}
}

func TestKeeperEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := newWorker(t, shared.Start(t), "w", "life")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.keeper.Run(ctx) }()
	eventually(t, "it is registered", func() bool { life, _ := lifeOf(t, w.client, "w"); return life == "life" })
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// Another process under the same id waits, gives up, and has changed nothing.
func TestRegister_IdInUse_ReturnsErrTwin(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	first, twin := newWorker(t, client, "w", "first"), newWorker(t, client, "w", "twin")
	first.register()
	before := key(t, client, "w")
	if err := twin.keeper.Register(t.Context(), time.Second, nil); !errors.Is(err, members.ErrTwin) {
		t.Fatalf("the twin registered: %v", err)
	}
	if err := twin.keeper.Run(t.Context()); !errors.Is(err, members.ErrTwin) {
		t.Fatalf("the twin continues: %v", err)
	}
	if now := key(t, client, "w"); now.ModRevision != before.ModRevision {
		t.Fatalf("the twin wrote %s", now.Value)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopping")
	time.AfterFunc(tick, func() { cancel(stop) })
	if err := twin.keeper.Register(ctx, time.Hour, nil); !errors.Is(err, stop) {
		t.Fatalf("a stopped registration ended with %v", err)
	}
}

// An unreadable key belongs to another process while it has a lease.
func TestUnreadableRegistrationIsNotOverwritten(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	lease, err := client.Grant(t.Context(), 600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(t.Context(), common.WorkerKey("w"), "{", clientv3.WithLease(lease.ID)); err != nil {
		t.Fatal(err)
	}
	if err := newWorker(t, client, "w", "life").keeper.Register(t.Context(), 0, nil); !errors.Is(err, members.ErrTwin) {
		t.Fatalf("registered: %v", err)
	}
	if kv := key(t, client, "w"); string(kv.Value) != "{" {
		t.Fatalf("it was overwritten with %s", kv.Value)
	}
}

// A key without a lease belongs to no process: it must neither end a worker nor prevent its start.
func TestKeyWithoutALeaseIsReplaced(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	plant := func(value string) {
		t.Helper()
		if _, err := client.Put(t.Context(), common.WorkerKey("w"), value); err != nil {
			t.Fatal(err)
		}
	}
	plant("garbage")
	w := newWorker(t, client, "w", "life")
	if err := w.keeper.Register(t.Context(), 0, nil); err != nil {
		t.Fatalf("it does not start: %v", err)
	}
	ended := w.keep()
	plant(`{"life":"another"}`)
	eventually(t, "the registration is back", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("it ended with %v", err)
		default:
		}
		kv := key(t, client, "w")
		return kv.Lease == int64(w.leases.live) && strings.Contains(string(kv.Value), `"life":"life"`)
	})
}

// Of many processes that start at the same time under one id, one registers.
func TestRegister_SimultaneousTwins_OneWins(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		w := newWorker(t, client, "w", string(rune('a'+i)))
		wg.Go(func() { errs[i] = w.keeper.Register(t.Context(), time.Second, nil) })
	}
	wg.Wait()
	life, _ := lifeOf(t, client, "w")
	for i, err := range errs {
		if mine := life == string(rune('a'+i)); mine != (err == nil) || !mine && !errors.Is(err, members.ErrTwin) {
			t.Errorf("%c: %v, registered is %s", 'a'+i, err, life)
		}
	}
}

// failing is a session that gets no lease, and counts the requests.
type failing struct{ asked int }

func (f *failing) Lease(context.Context) (clientv3.LeaseID, error) {
	f.asked++
	return 0, errors.New("permission denied")
}
func (*failing) Invalidate(clientv3.LeaseID) {}

// A permanent error is neither retried nor logged many times a second.
func TestRegisterBacksOff(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		var log strings.Builder
		session := &failing{}
		keeper := members.NewKeeper(nil, session, slog.New(slog.NewTextHandler(&log, nil)), tick, func(error) {},
			func() common.Registration {
				return common.Registration{Life: common.Life{Worker: "w"}}
			}, func(string) {})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := keeper.Register(ctx, time.Second, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("ended with %v", err)
		}
		// After 0, ½, 1½, 3½, 7½, 12½ … seconds.
		if logged := strings.Count(log.String(), "register_failed"); session.asked != 15 || logged != 15 {
			t.Fatalf("%d requests, logged %d times in a minute", session.asked, logged)
		}
		if !strings.Contains(log.String(), common.WorkerKey("w")) {
			t.Fatalf("the log does not name the key: %s", log.String())
		}
	})
}

// A restart waits for the lease of the earlier incarnation to expire.
func TestRegisterAfterAnEarlierLife(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	earlier := newWorker(t, client, "w", "first")
	earlier.leases.ttl = 2 // without keep-alives
	earlier.register()
	if reg, found, err := members.Earlier(t.Context(), client, "w"); err != nil || !found || reg.Life.Life != "first" ||
		reg.Lease != int64(earlier.leases.live) {
		t.Fatalf("%v, found %v, %+v", err, found, reg)
	}
	later := newWorker(t, client, "w", "second")
	later.register()
	if life, _ := lifeOf(t, client, "w"); life != "second" {
		t.Fatalf("registered is %s", life)
	}
}

func TestEarlier(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	if reg, found, err := members.Earlier(t.Context(), client, "w"); err != nil || found {
		t.Fatalf("%v, %+v", err, reg)
	}
	want := common.Registration{Life: common.Life{Worker: "ww", Life: "l", BootID: "b", PIDNamespace: "p"}, Lease: 7}
	for worker, value := range map[string]string{"ww": encode(t, want), "w": "{"} {
		if _, err := client.Put(t.Context(), common.WorkerKey(worker), value); err != nil {
			t.Fatal(err)
		}
	}
	if reg, found, err := members.Earlier(t.Context(), client, "ww"); err != nil || !found ||
		!reflect.DeepEqual(reg, want) {
		t.Fatalf("%v, found %v, %+v", err, found, reg)
	}
	if _, found, err := members.Earlier(t.Context(), client, "w"); err == nil || !found {
		t.Fatalf("a value that does not decode: %v, found %v", err, found)
	}
	_ = client.Close()
	if _, found, err := members.Earlier(t.Context(), client, "w"); err == nil || found {
		t.Fatalf("without etcd: %v, found %v", err, found)
	}
}

// The lease expires and its registration is deleted: the registration is written again under a new lease.
func TestLostLease(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	w := newWorker(t, client, "w", "life")
	w.register()
	lost := w.leases.live
	ended := w.keep()
	if _, err := client.Revoke(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is registered under another lease", func() bool {
		kv := key(t, client, "w")
		return kv.Lease != 0 && kv.Lease != int64(lost)
	})
	kv := key(t, client, "w")
	if life, lease := lifeOf(t, client, "w"); life != "life" || lease != kv.Lease {
		t.Fatalf("life %s, lease %x, under %x", life, lease, kv.Lease)
	}
	w.leases.mu.Lock()
	invalidated := slices.Clone(w.leases.invalidated)
	w.leases.mu.Unlock()
	if !slices.Contains(invalidated, lost) {
		t.Fatal("the session was not notified that its lease is gone")
	}
	// The key may also be deleted while the lease is alive.
	if _, err := client.Delete(t.Context(), common.WorkerKey("w")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is registered again", func() bool { life, _ := lifeOf(t, client, "w"); return life == "life" })
	select {
	case err := <-ended:
		t.Fatalf("the keeper ended: %v", err)
	default:
	}
}

// A session with a new lease moves the registration while the old lease is alive, so that the expiry of the
// old one does not delete it.
func TestMovesToANewLease(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	w := newWorker(t, client, "w", "life")
	w.register()
	old, created := w.leases.live, key(t, client, "w").CreateRevision
	w.leases.Invalidate(old)
	w.register()
	if _, err := client.Revoke(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if kv := key(t, client, "w"); kv.CreateRevision != created || kv.Lease == int64(old) || kv.Lease == 0 {
		t.Fatalf("%+v", kv)
	}
}

// A worker that was suspended beyond its lease and finds another process registered does not replace it, but
// ends.
func TestKeeper_ReplacedDuringSuspension_EndsWithErrTwin(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	sleeper, other := newWorker(t, client, "w", "sleeper"), newWorker(t, client, "w", "other")
	sleeper.register()
	if _, err := client.Revoke(t.Context(), sleeper.leases.live); err != nil {
		t.Fatal(err)
	}
	other.register()
	before := key(t, client, "w")
	select {
	case err := <-sleeper.keep():
		if !errors.Is(err, members.ErrTwin) {
			t.Fatalf("ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it continues")
	}
	if now := key(t, client, "w"); now.ModRevision != before.ModRevision {
		t.Fatalf("it wrote %s", now.Value)
	}
}
