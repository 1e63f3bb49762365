package election_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"carillon/internal/cluster/election"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/joblock"
	"carillon/internal/platform/bootclock"
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

// hall counts the candidates that consider themselves elected.
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

func (h *hall) wantOneAtATime(t *testing.T) {
	t.Helper()
	if most := h.most.Load(); most != 1 {
		t.Fatalf("%d were elected at a time", most)
	}
}

// candidate is the election part of a master.
type candidate struct {
	*testing.T
	client  *clientv3.Client
	session *joblock.Session
	elector *election.Elector
	terms   chan context.Context // the context of each term at its start

	stop func() // resigns
	kill func() // ends everything as if the process had died: key and lease remain
}

func newCandidate(t *testing.T, h *hall, client *clientv3.Client, id string) *candidate {
	c := &candidate{T: t, client: client, terms: make(chan context.Context, 100)}
	log := slog.New(slog.DiscardHandler)
	c.session = joblock.NewSession(client, ttl, bootclock.Now, log, func() {})
	c.elector = election.New(election.Config{
		Client:  client,
		Session: c.session,
		Boot:    bootclock.Now,
		Key:     key,
		ID:      id,
		Name:    "host-" + id,
		Now:     time.Now,
		Log:     log,
		Elected: func(bool) {},
		Report:  func(string, error) {},
	})
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
	// The connection is closed first, since a dying process sends nothing more.
	c.kill = func() { _ = client.Close(); c.stop() }
	t.Cleanup(c.stop)
	return c
}

// twoMasters starts candidate a, which is elected for the returned term, and then b.
func twoMasters(t *testing.T, server *etcdtest.Server) (a, b *candidate, term context.Context) {
	t.Helper()
	h := &hall{}
	a = newCandidate(t, h, server.Client(), "a")
	term = a.elected()
	b = newCandidate(t, h, server.Client(), "b")
	b.sees("a")
	return a, b, term
}

// elected waits for the candidate's next term.
func (c *candidate) elected() context.Context {
	c.Helper()
	select {
	case term := <-c.terms:
		return term
	case <-time.After(time.Minute):
		c.Fatal("not elected within a minute")
		return nil
	}
}

// over waits for the end of a term and returns its cause.
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

// held reports whether a candidate may write now.
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
			c.Fatalf("the elected master is %+v, want %s", holder, who)
		}
	}
}

func TestResign_AnotherIsElectedAtOnce(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	h, client := &hall{}, server.Client()
	a := newCandidate(t, h, server.Client(), "a")
	term := a.elected()
	if a.sees("a"); !a.held(client) {
		t.Fatal("the elected master may not write")
	}
	b := newCandidate(t, h, server.Client(), "b")
	if b.sees("a"); b.held(client) {
		t.Fatal("a master that was never elected may write")
	}
	begun := time.Now()
	a.stop()
	if err := over(t, term); err == nil {
		t.Fatal("the term has no cause of its end")
	}
	b.elected()
	if took := time.Since(begun); took > ttl/2 { // the expiry of a lease takes longer
		t.Errorf("the next election took %v: it waited for the lease to expire", took)
	}
	if b.sees("b"); a.held(client) || !b.held(client) {
		t.Fatal("the earlier master may write, or the elected one may not")
	}
	h.wantOneAtATime(t)
}

// A killed process does not resign: another is elected when the lease has expired.
func TestKill_AnotherIsElectedWhenTheLeaseExpires(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	a, b, _ := twoMasters(t, server)
	a.kill()
	b.elected()
	b.sees("b")
}

func TestLeaseRevoked_EndsTheTermAtOnce(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	client := server.Client()
	a, b, term := twoMasters(t, server)
	if _, err := client.Revoke(t.Context(), clientv3.LeaseID(a.session.Proof().Lease)); err != nil {
		t.Fatal(err)
	}
	if err := over(t, term); !strings.Contains(err.Error(), "is gone") {
		t.Fatalf("the term ended with %v", err)
	}
	b.elected() // a master that has just lost a term lets others go first
	if a.held(client) {
		t.Fatal("the earlier master may write")
	}
}

// The key is deleted although its lease is valid.
func TestKeyDeleted_EndsTheTermAtOnce(t *testing.T) {
	t.Parallel()
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

// A value that cannot be decoded counts as an elected master as long as the key exists.
func TestUndecodableHolder_PreventsElection(t *testing.T) {
	t.Parallel()
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

// A process that starts again under its id deletes the key of its previous start at once.
func TestOwnStaleKey_IsDeleted(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	h, client := &hall{}, server.Client()
	lease, err := client.Grant(t.Context(), 600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(t.Context(), key, `{"id":"a","name":"host-a","since":"2026-03-01T12:00:00Z"}`,
		clientv3.WithLease(lease.ID)); err != nil {
		t.Fatal(err)
	}
	b := newCandidate(t, h, server.Client(), "b")
	b.sees("a")
	b.stop()
	a := newCandidate(t, h, server.Client(), "a")
	a.elected()
}

// The term of a disconnected master ends before another one can begin.
func TestPartition_AtMostOneIsElected(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	h := &hall{}
	link, far := etcdtest.NewLink(t, server)
	a := newCandidate(t, h, far, "a")
	term := a.elected()
	b := newCandidate(t, h, server.Client(), "b")
	b.sees("a")
	link.Cut()
	if err := over(t, term); !strings.Contains(err.Error(), "did not renew its lease in time") &&
		!strings.Contains(err.Error(), "lease") {
		t.Fatalf("the term ended with %v", err)
	}
	b.elected()
	link.Join()
	a.sees("b")
	b.stop()
	a.elected()
	h.wantOneAtATime(t)
}

// etcd becomes unavailable for all and returns, several times: one master is elected each time.
func TestEtcdAway_OneIsElectedWhenItReturns(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	h := &hall{}
	linkA, farA := etcdtest.NewLink(t, server)
	linkB, farB := etcdtest.NewLink(t, server)
	a, b := newCandidate(t, h, farA, "a"), newCandidate(t, h, farB, "b")
	for range 3 {
		var term context.Context
		select {
		case term = <-a.terms:
		case term = <-b.terms:
		case <-time.After(time.Minute):
			t.Fatal("no master was elected within a minute")
		}
		linkA.Cut()
		linkB.Cut()
		over(t, term)
		linkA.Join()
		linkB.Join()
	}
	h.wantOneAtATime(t)
}

// The answer to the transaction that created the key is lost: the elector recognizes its key.
func TestLostAnswer_IsRecognized(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	var n atomic.Int32
	client := server.ClientWith(grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
			opts ...grpc.CallOption) error {
			err := invoke(ctx, method, req, reply, cc, opts...)
			if strings.HasSuffix(method, "/Txn") && n.Add(1) == 1 {
				return status.Error(codes.Unavailable, "the answer was lost")
			}
			return err
		}))
	a := newCandidate(t, &hall{}, client, "a")
	a.elected()
	if !a.held(server.Client()) {
		t.Fatal("the elected master may not write")
	}
}

// Many candidates campaign at once, and each leaves as soon as it was elected: all are elected, one at a time.
func TestManyCandidates_AreElectedOneAfterAnother(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	h := &hall{}
	var all sync.WaitGroup
	for i := range 6 {
		c := newCandidate(t, h, server.Client(), fmt.Sprint(i))
		all.Go(func() {
			select {
			case <-c.terms:
			case <-time.After(time.Minute):
				t.Error("not elected within a minute")
			}
			c.stop()
		})
	}
	all.Wait()
	h.wantOneAtATime(t)
}
