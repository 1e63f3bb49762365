package leader_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/pkg/v3/proxy"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"carillon/internal/bootclock"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/joblock"
	"carillon/internal/leader"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// The etcd server inside the test's process leaves these behind.
		goleak.IgnoreAnyFunction("go.etcd.io/etcd/server/v3/embed.(*Etcd).serveMetrics"),
		goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}

const (
	key = "/cron/leader/master"
	ttl = 4 * time.Second
)

// hall counts who believes to be elected.
type hall struct {
	elected atomic.Int32
	most    atomic.Int32
}

func (h *hall) enter() { h.raise(h.elected.Add(1)) }
func (h *hall) leave() { h.elected.Add(-1) }
func (h *hall) raise(n int32) {
	for most := h.most.Load(); n > most && !h.most.CompareAndSwap(most, n); most = h.most.Load() {
	}
}

// candidate is a master, as far as elections go.
type candidate struct {
	*testing.T
	client  *clientv3.Client
	session *joblock.Session
	elector *leader.Elector
	terms   chan context.Context // of each term, as it begins

	stop func() // resigns
	kill func() // ends all as if the process were gone: the key and the lease stay
}

func newCandidate(t *testing.T, h *hall, client *clientv3.Client, id string) *candidate {
	c := &candidate{T: t, client: client, terms: make(chan context.Context, 100)}
	log := slog.New(slog.DiscardHandler)
	c.session = joblock.NewSession(client, ttl, bootclock.Now, log, func() {})
	c.elector = leader.New(leader.Config{Client: client, Session: c.session, Boot: bootclock.Now, Key: key, ID: id, Name: "host-" + id,
		Now: time.Now, Log: log, Told: func(bool) {},
		Report: func(string, error) {}})
	running, cancel := context.WithCancel(context.Background())
	holding, drop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { _ = c.session.Run(holding) })
	electing := make(chan struct{})
	all.Go(func() {
		defer close(electing)
		_ = c.elector.Run(running, func(ctx context.Context) {
			h.enter()
			defer h.leave()
			c.terms <- ctx
			<-ctx.Done()
		})
	})
	var once sync.Once
	c.stop = func() { once.Do(func() { cancel(); <-electing; drop(); all.Wait() }) }
	// What a dying process would still have sent is lost with its connection.
	c.kill = func() { _ = client.Close(); c.stop() }
	t.Cleanup(c.stop)
	return c
}

// elected waits for the candidate's next term.
func (c *candidate) elected() context.Context {
	c.Helper()
	select {
	case term := <-c.terms:
		return term
	case <-time.After(time.Minute):
		c.Fatal("it was not elected within a minute")
		return nil
	}
}

// over waits for the end of a term, and tells why it came.
func over(t *testing.T, term context.Context) error {
	t.Helper()
	select {
	case <-term.Done():
		return context.Cause(term)
	case <-time.After(time.Minute):
		t.Fatal("the term did not end within a minute")
		return nil
	}
}

// held tells whether a candidate may write just now.
func (c *candidate) held(client *clientv3.Client) bool {
	c.Helper()
	resp, err := client.Txn(c.Context()).If(c.elector.Held()).Commit()
	if err != nil {
		c.Fatal(err)
	}
	return resp.Succeeded
}

func (c *candidate) sees(who string) {
	c.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		holder, ok := c.elector.Leader()
		if ok && holder.ID == who && holder.Name == "host-"+who && holder.Term > 0 && !holder.Since.IsZero() {
			return
		}
		if time.Now().After(deadline) {
			c.Fatalf("it sees %+v as the leader, want %s", holder, who)
		}
	}
}

func TestHandOver(t *testing.T) {
	server := etcdtest.StartServer(t)
	h, client := &hall{}, server.Client()
	a := newCandidate(t, h, server.Client(), "a")
	term := a.elected()
	if a.sees("a"); !a.held(client) {
		t.Fatal("who is elected may not write")
	}
	b := newCandidate(t, h, server.Client(), "b")
	if b.sees("a"); b.held(client) {
		t.Fatal("who was never elected may write")
	}
	begun := time.Now()
	a.stop()
	if err := over(t, term); err == nil {
		t.Fatal("the term has no cause of its end")
	}
	b.elected()
	if took := time.Since(begun); took > ttl/2 { // a lease that dies by itself takes longer than this
		t.Errorf("the hand-over took %v: it waited for the lease", took)
	}
	if b.sees("b"); a.held(client) || !b.held(client) {
		t.Fatal("the earlier one may write, or the present one may not")
	}
	if most := h.most.Load(); most != 1 {
		t.Fatalf("%d were elected at a time", most)
	}
}

// What is killed does not resign: the other is elected when the lease has died.
func TestKill(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	h := &hall{}
	a := newCandidate(t, h, server.Client(), "a")
	a.elected()
	b := newCandidate(t, h, server.Client(), "b")
	b.sees("a")
	a.kill()
	b.elected()
	b.sees("b")
}

// Somebody revokes the lease: the term ends at once.
func TestRevoke(t *testing.T) {
	server := etcdtest.StartServer(t)
	h, client := &hall{}, server.Client()
	a := newCandidate(t, h, server.Client(), "a")
	term := a.elected()
	b := newCandidate(t, h, server.Client(), "b")
	b.sees("a")
	if _, err := client.Revoke(t.Context(), clientv3.LeaseID(a.session.Proof().Lease)); err != nil {
		t.Fatal(err)
	}
	if err := over(t, term); !strings.Contains(err.Error(), "is gone") {
		t.Fatalf("the term ended with %v", err)
	}
	b.elected() // who has just lost a term lets others go first
	if a.held(client) {
		t.Fatal("the earlier one may write")
	}
}

// Somebody deletes the key under a lease that lives.
func TestKeyDeleted(t *testing.T) {
	server := etcdtest.StartServer(t)
	h, client := &hall{}, server.Client()
	a := newCandidate(t, h, server.Client(), "a")
	term := a.elected()
	first, _ := a.elector.Leader()
	if _, err := client.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if err := over(t, term); !strings.Contains(err.Error(), "its key is gone") {
		t.Fatalf("the term ended with %v", err)
	}
	a.elected()
	if second, _ := a.elector.Leader(); second.Term <= first.Term || !a.held(client) {
		t.Fatalf("term %d came after term %d", second.Term, first.Term)
	}
}

// A value that is not ours to read holds the place, as long as it is there.
func TestStrangeHolder(t *testing.T) {
	server := etcdtest.StartServer(t)
	client := server.Client()
	if _, err := client.Put(t.Context(), key, "{"); err != nil {
		t.Fatal(err)
	}
	a := newCandidate(t, &hall{}, server.Client(), "a")
	for {
		if holder, ok := a.elector.Leader(); ok && holder.Name == "unknown" {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if _, err := client.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	a.elected()
}

// A process that died is started again under its id: its key of before is taken away at once.
func TestOwnKeyOfBefore(t *testing.T) {
	server := etcdtest.StartServer(t)
	h, client := &hall{}, server.Client()
	lease, err := client.Grant(t.Context(), 600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(t.Context(), key, `{"id":"a","name":"host-a","since":"2026-03-01T12:00:00Z"}`, clientv3.WithLease(lease.ID)); err != nil {
		t.Fatal(err)
	}
	b := newCandidate(t, h, server.Client(), "b")
	b.sees("a")
	b.stop()
	a := newCandidate(t, h, server.Client(), "a")
	a.elected()
}

// The term of who is cut off ends before another's can begin.
func TestPartition(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	h := &hall{}
	link, far := newLink(t, server)
	a := newCandidate(t, h, far, "a")
	term := a.elected()
	b := newCandidate(t, h, server.Client(), "b")
	b.sees("a")
	link.cut()
	if err := over(t, term); !strings.Contains(err.Error(), "has not answered in time") && !strings.Contains(err.Error(), "lease") {
		t.Fatalf("the term ended with %v", err)
	}
	b.elected()
	link.join()
	a.sees("b")
	b.stop()
	a.elected()
	if most := h.most.Load(); most != 1 {
		t.Fatalf("%d were elected at a time", most)
	}
}

// etcd goes away for everybody and comes back, again and again: somebody is elected each time, alone.
func TestEtcdAway(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	h := &hall{}
	linkA, farA := newLink(t, server)
	linkB, farB := newLink(t, server)
	a, b := newCandidate(t, h, farA, "a"), newCandidate(t, h, farB, "b")
	for range 3 {
		var term context.Context
		select {
		case term = <-a.terms:
		case term = <-b.terms:
		case <-time.After(time.Minute):
			t.Fatal("nobody was elected within a minute")
		}
		linkA.cut()
		linkB.cut()
		over(t, term)
		linkA.join()
		linkB.join()
	}
	if most := h.most.Load(); most != 1 {
		t.Fatalf("%d were elected at a time", most)
	}
}

// The answer to the transaction that won is lost: it is found out.
func TestLostAnswer(t *testing.T) {
	server := etcdtest.StartServer(t)
	var n atomic.Int32
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{server.Endpoint}, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			err := invoke(ctx, method, req, reply, cc, opts...)
			if strings.HasSuffix(method, "/Txn") && n.Add(1) == 1 {
				return status.Error(codes.Unavailable, "the answer was lost")
			}
			return err
		})}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	a := newCandidate(t, &hall{}, client, "a")
	a.elected()
	if !a.held(server.Client()) {
		t.Fatal("who is elected may not write")
	}
}

// Many stand at once, and each leaves as soon as it was elected: each has its turn, alone.
func TestQueue(t *testing.T) {
	server := etcdtest.StartServer(t)
	h := &hall{}
	var all sync.WaitGroup
	for i := range 6 {
		c := newCandidate(t, h, server.Client(), fmt.Sprint(i))
		all.Go(func() {
			select {
			case <-c.terms:
			case <-time.After(time.Minute):
				t.Error("it was not elected within a minute")
			}
			c.stop()
		})
	}
	all.Wait()
	if most := h.most.Load(); most != 1 {
		t.Fatalf("%d were elected at a time", most)
	}
}

// link is a connection to etcd that can be cut on purpose.
type link struct {
	testing.TB
	server *etcdtest.Server
	path   string
	proxy  proxy.Server
}

func newLink(t testing.TB, server *etcdtest.Server) (*link, *clientv3.Client) {
	l := &link{TB: t, server: server, path: filepath.Join(t.TempDir(), "s")}
	l.join()
	t.Cleanup(func() { _ = l.proxy.Close() })
	client, err := etcdkit.Dial(etcdkit.Config{Endpoints: []string{"unix://" + l.path}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return l, client
}

func (l *link) join() {
	l.Helper()
	l.proxy = proxy.NewServer(proxy.ServerConfig{Logger: zap.NewNop(), From: url.URL{Scheme: "unix", Host: l.path},
		To: url.URL{Scheme: "tcp", Host: l.server.Endpoint}})
	select {
	case <-l.proxy.Ready():
	case err := <-l.proxy.Error():
		l.Fatal(err)
	}
}

func (l *link) cut() {
	l.Helper()
	if err := l.proxy.Close(); err != nil {
		l.Fatal(err)
	}
}
