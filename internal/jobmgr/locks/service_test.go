package locks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/jobmgr/locks"
	"carillon/internal/platform/bootclock"
	"carillon/lock"
)

var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// masters are two masters on one etcd.
type masters struct {
	*testing.T
	client *clientv3.Client
	clock  *clock
	a, b   *locks.Service
}

// clock is a boot clock that a test advances.
type clock struct{ ahead time.Duration }

func (c *clock) now() time.Duration { return bootclock.Now() + c.ahead }

func newMasters(t *testing.T) *masters {
	t.Parallel()
	m := &masters{T: t, client: shared.Start(t), clock: &clock{}}
	m.a = locks.New(m.client, time.Now, m.clock.now, func() {})
	m.b = locks.New(m.client, time.Now, m.clock.now, func() {})
	return m
}

func (m *masters) must(g common.LockGrant, err error) common.LockGrant {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
	return g
}

func (m *masters) want(state common.LockProgress, g common.LockGrant, err error) common.LockGrant {
	m.Helper()
	if m.must(g, err); g.State != state {
		m.Fatalf("state %q, want %q", g.State, state)
	}
	return g
}

func (m *masters) acquire(at *locks.Service, id string, wait time.Duration, session string) (common.LockGrant, error) {
	return at.Acquire(m.Context(), "imports.eu", common.LockRequest{ID: id, Session: session, Wait: wait,
		LockTerms: common.LockTerms{TTL: "60s", Grace: "2m"}})
}

// revoke ends the lease of the holder.
func (m *masters) revoke() {
	m.Helper()
	resp, err := m.client.Get(m.Context(), common.LockHolderKey("imports.eu"))
	if err != nil || len(resp.Kvs) != 1 {
		m.Fatal(resp, err)
	}
	if _, err := m.client.Revoke(m.Context(), clientv3.LeaseID(resp.Kvs[0].Lease)); err != nil {
		m.Fatal(err)
	}
}

func TestSession_IsValidAtEachMaster(t *testing.T) {
	m := newMasters(t)
	first, err := m.acquire(m.a, "one", 0, "")
	m.want(common.SessionHeld, first, err)
	if len(first.Session) != 64 {
		t.Errorf("session %q", first.Session)
	}
	resp, err := m.client.Get(t.Context(), common.LocksPrefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range resp.Kvs {
		if strings.Contains(string(kv.Key)+string(kv.Value), first.Session) {
			t.Errorf("%s contains the secret of the session", kv.Key)
		}
	}
	again, err := m.acquire(m.b, "one", 0, first.Session)
	if m.want(common.SessionHeld, again, err); again.Token != first.Token {
		t.Errorf("token %d, was %d", again.Token, first.Token)
	}
	kept, err := m.b.KeepAlive(t.Context(), "imports.eu", first.Session)
	if m.want(common.SessionHeld, kept, err); kept.Token != first.Token {
		t.Errorf("token %d, was %d", kept.Token, first.Token)
	}
	noted, err := m.b.Note(t.Context(), "imports.eu", first.Session, "row 17")
	m.want(common.SessionHeld, noted, err)
	busy, err := m.acquire(m.b, "two", 0, "")
	m.want(common.SessionBusy, busy, err)
	queued, err := m.acquire(m.b, "two", time.Millisecond, "")
	if m.want(common.SessionQueued, queued, err); queued.Position != 1 {
		t.Errorf("position %d", queued.Position)
	}
	other, err := m.a.KeepAlive(t.Context(), "imports.eu", queued.Session)
	m.want(common.SessionQueued, other, err)
	for range 2 { // the response of the first may have been lost
		released, err := m.b.Release(t.Context(), "imports.eu", first.Session)
		m.want(common.SessionReleased, released, err)
	}
	lost, err := m.a.KeepAlive(t.Context(), "imports.eu", first.Session)
	m.want(common.SessionLost, lost, err)
	next, err := m.acquire(m.a, "two", time.Minute, queued.Session)
	if m.want(common.SessionHeld, next, err); next.Token <= first.Token || next.TookOver != nil {
		t.Errorf("%+v after token %d", next, first.Token)
	}
}

func TestKeepAlive_LeaseExpired_TakesTheLockBack(t *testing.T) {
	m := newMasters(t)
	first, err := m.acquire(m.a, "one", 0, "")
	m.want(common.SessionHeld, first, err)
	queued, err := m.acquire(m.b, "two", time.Millisecond, "")
	m.want(common.SessionQueued, queued, err)
	m.revoke()
	grace, err := m.acquire(m.a, "two", time.Millisecond, queued.Session)
	m.want(common.SessionGrace, grace, err)
	kept, err := m.b.KeepAlive(t.Context(), "imports.eu", first.Session)
	if m.want(common.SessionHeld, kept, err); kept.Token != first.Token {
		t.Errorf("token %d, was %d", kept.Token, first.Token)
	}
}

func TestAcquire_OwnerGoneForItsGracePeriod_TakesOver(t *testing.T) {
	m := newMasters(t)
	first, err := m.acquire(m.a, "one", 0, "")
	m.want(common.SessionHeld, first, err)
	noted, err := m.a.Note(t.Context(), "imports.eu", first.Session, "row 17")
	m.want(common.SessionHeld, noted, err)
	m.revoke()
	queued, err := m.acquire(m.a, "two", time.Millisecond, "")
	m.want(common.SessionGrace, queued, err)
	m.clock.ahead += 2*time.Minute + 2*time.Second // 1 % is missing
	queued, err = m.acquire(m.a, "two", time.Millisecond, queued.Session)
	m.want(common.SessionGrace, queued, err)
	m.clock.ahead += 2 * time.Second
	other, err := m.acquire(m.b, "two", time.Millisecond, queued.Session) // it has not seen the absence
	m.want(common.SessionGrace, other, err)
	over, err := m.acquire(m.a, "two", time.Millisecond, queued.Session)
	m.want(common.SessionHeld, over, err)
	if was := over.TookOver; was == nil || was.ID != "one" || was.Note != "row 17" || was.Token != first.Token {
		t.Errorf("took over from %+v", was)
	}
	lost, err := m.b.KeepAlive(t.Context(), "imports.eu", first.Session)
	m.want(common.SessionLost, lost, err)
	one, err := m.b.Lock(t.Context(), "imports.eu")
	if err != nil || one.Owner.Takeovers != 1 || one.Owner.ID != "two" {
		t.Errorf("%+v, %v", one.Owner, err)
	}
}

func TestForceRelease_IsAudited(t *testing.T) {
	m := newMasters(t)
	ann := common.Actor{Name: "ann"}
	if err := m.a.ForceRelease(t.Context(), ann, "imports.eu"); common.CodeOf(err) != common.CodeNotFound {
		t.Errorf("a lock that does not exist: %v", err)
	}
	first, err := m.acquire(m.a, "one", 0, "")
	m.want(common.SessionHeld, first, err)
	if err := m.b.ForceRelease(t.Context(), ann, "imports.eu"); err != nil {
		t.Fatal(err)
	}
	lost, err := m.a.KeepAlive(t.Context(), "imports.eu", first.Session)
	m.want(common.SessionLost, lost, err)
	next, err := m.acquire(m.a, "two", 0, "")
	m.want(common.SessionHeld, next, err)
	changes, err := m.client.Get(t.Context(), common.ChangesPrefix, clientv3.WithPrefix())
	if err != nil || len(changes.Kvs) != 1 {
		t.Fatal(changes, err)
	}
	c, err := common.Decode[common.Change](changes.Kvs[0].Value)
	if err != nil || c.Verb != "release" || c.Kind != "lock" || c.Name != "imports.eu" || c.Actor.Name != "ann" ||
		strings.Contains(string(changes.Kvs[0].Value), first.Session) {
		t.Errorf("%s, %v", changes.Kvs[0].Value, err)
	}
}

// A program and a script exclude each other.
func TestSessionsAndPrograms_ShareTheLock(t *testing.T) {
	m := newMasters(t)
	held, err := lock.New(m.client, "imports.eu", lock.Options{ID: "program"}).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	got := make(chan common.LockGrant, 1)
	go func() {
		g, err := m.acquire(m.a, "script", time.Minute, "")
		m.want(common.SessionHeld, g, err)
		got <- g
	}()
	for {
		one, err := m.b.Lock(ctx, "imports.eu")
		if err != nil {
			t.Fatal(err)
		}
		if len(one.Queue) == 1 && one.Queue[0].ID == "script" && one.Owner.ID == "program" && one.Holder != nil {
			break
		}
	}
	if err := held.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if g := <-got; g.Token <= held.Fence() {
		t.Errorf("token %d after %d", g.Token, held.Fence())
	}
}

func TestExpire_DeletesReleasedLocksWithoutAQueue(t *testing.T) {
	m := newMasters(t)
	names := func() (all []string) {
		found, err := m.a.Locks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range found {
			all = append(all, l.Name)
		}
		return all
	}
	for _, name := range []string{"held", "old", "waited-for"} {
		g := m.must(m.a.Acquire(t.Context(), name, common.LockRequest{ID: "x"}))
		if name != "held" {
			m.must(m.a.Release(t.Context(), name, g.Session))
		}
	}
	if _, err := m.client.Put(t.Context(), common.LockWaiterKey("waited-for", "x"), "{}"); err != nil {
		t.Fatal(err)
	}
	if n, err := m.a.Expire(t.Context(), time.Now().Add(-time.Minute)); n != 0 || err != nil {
		t.Errorf("expired %d, %v", n, err)
	}
	if n, err := m.a.Expire(t.Context(), time.Now().Add(time.Minute)); n != 1 || err != nil {
		t.Errorf("expired %d, %v", n, err)
	}
	if got := strings.Join(names(), " "); got != "held waited-for" {
		t.Errorf("left: %s", got)
	}
}

func TestAcquire_Invalid(t *testing.T) {
	m := newMasters(t)
	for name, r := range map[string]common.LockRequest{
		"no id":       {},
		"short ttl":   {ID: "x", LockTerms: common.LockTerms{TTL: "1s"}},
		"no duration": {ID: "x", LockTerms: common.LockTerms{TTL: "soon"}},
		"short grace": {ID: "x", LockTerms: common.LockTerms{TTL: "10s", Grace: "11s"}},
	} {
		if _, err := m.a.Acquire(t.Context(), "a", r); common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fill puts keys, in transactions of a hundred.
func (m *masters) fill(n int, key func(i int) string, value any) {
	m.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		m.Fatal(err)
	}
	for i := 0; i < n; {
		var puts []clientv3.Op
		for ; i < n && len(puts) < 100; i++ {
			puts = append(puts, clientv3.OpPut(key(i), string(text)))
		}
		if _, err := m.client.Txn(m.Context()).Then(puts...).Commit(); err != nil {
			m.Fatal(err)
		}
	}
}

func TestAcquire_TooManyLocks_CreatesNone(t *testing.T) {
	m := newMasters(t)
	first, err := m.acquire(m.a, "one", 0, "")
	m.want(common.SessionHeld, first, err)
	m.fill(common.MaxLocks-1, func(i int) string { return common.LockOwnerKey(fmt.Sprintf("other-%d", i)) },
		common.LockOwner{ID: "other", State: common.LockReleased})
	request := common.LockRequest{ID: "two"}
	if _, err := m.b.Acquire(t.Context(), "new", request); common.CodeOf(err) != common.CodeConflict ||
		!strings.Contains(err.Error(), "10000 locks") {
		t.Errorf("a new lock: %v", err)
	}
	if g, err := m.b.Acquire(t.Context(), "other-1", request); err != nil || g.State != common.SessionHeld {
		t.Errorf("a lock that exists: %+v, %v", g, err)
	}
}

func TestAcquire_TooManyWaiters_IsRefused(t *testing.T) {
	m := newMasters(t)
	first, err := m.acquire(m.a, "one", 0, "")
	m.want(common.SessionHeld, first, err)
	m.fill(common.MaxLockWaiters, func(i int) string { return common.LockWaiterKey("imports.eu", fmt.Sprint(i)) },
		common.LockWaiter{ID: "other"})
	if _, err := m.acquire(m.b, "two", time.Millisecond, ""); common.CodeOf(err) != common.CodeTooMany ||
		!strings.Contains(err.Error(), "1000 waiters") {
		t.Errorf("another waiter: %v", err)
	}
	busy, err := m.acquire(m.b, "two", 0, "") // does not wait
	m.want(common.SessionBusy, busy, err)
}
