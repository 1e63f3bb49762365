package lock

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"carillon/internal/common"
	"carillon/internal/etcdkit/namedlock"
	"carillon/internal/platform/virtualtime"
)

// The model: clients of the package itself use one lock, over links that lose, delay and repeat, with boot clocks of
// different rates, while they are cut off, killed, and lose their leases. A checker that does not share code with the
// package reads the history of etcd and the diary of the work, and reports which promises are broken:
//
//	L1 one holder at a time     L3 an owner that returns within its grace period keeps the lock
//	L2 no overlap of work       L5 first come, first served
//	L4 tokens grow              L6 a dead holder is succeeded in time
var modelSeeds = flag.Int("lockseeds", 8, "number of seeds of the model")

const (
	modelLock    = "imports.eu"
	modelTTL     = 10 * time.Second
	modelGrace   = 25 * time.Second
	modelStop    = 5 * time.Second
	modelClients = 4
	modelLength  = 6 * time.Minute
)

// mutation is a rule that is left out.
type mutation string

const (
	nothing   mutation = ""
	noQueue   mutation = "taking the lock does not compare the queue"
	noOwner   mutation = "taking the lock does not compare the owner"
	noGrace   mutation = "a waiter does not wait for the grace period"
	byReceipt mutation = "A is the time of receipt of a keep-alive's answer"
)

// work is an entry of the diary: work that ran under the lock.
type work struct {
	client       string
	began, ended time.Time
}

// machine is one client, in one life after the other.
type machine struct {
	world *world
	name  string
	rate  float64 // of its boot clock
	start time.Time
	diary *diary
	m     mutation
	ttl   time.Duration
	grace time.Duration
}

// diary is what the clients did.
type diary struct {
	mu    sync.Mutex
	works []*work
	calls []porcupine.Operation
}

func (m *machine) boot(l *link) func() time.Duration {
	return func() time.Duration {
		now := time.Duration(float64(time.Since(m.start)) * m.rate)
		if m.m == byReceipt {
			l.mu.Lock()
			defer l.mu.Unlock()
			now -= l.lag // the time that has passed since the request was sent counts from the receipt of its answer
		}
		return now
	}
}

// lock returns the lock of one attempt. Its id is unique, so that the history shows what became of it.
func (m *machine) lock(ctx context.Context, l *link, attempt int) *Lock {
	switch m.m {
	case noQueue:
		l.rewrite = func(r *pb.TxnRequest) { dropCompares(r, common.LockQueueOf(modelLock)) }
	case noOwner:
		l.rewrite = func(r *pb.TxnRequest) { dropCompares(r, common.LockOwnerKey(modelLock)) }
	case noGrace:
		l.reread = func(got []*pb.RangeResponse) { noGraceIn(got) }
	}
	lock := New(l.client(ctx), modelLock, Options{ID: fmt.Sprintf("%s-%d", m.name, attempt), TTL: m.ttl, Grace: m.grace,
		StopGrace: modelStop})
	lock.clock = clock{boot: m.boot(l), dead: func(namedlock.Process) bool { return false }}
	return lock
}

// play uses the lock again and again until a time, and is killed now and then.
func (m *machine) play(ctx context.Context, until time.Time) {
	random := m.world.randomOf("machine " + m.name)
	for attempt := 1; time.Now().Before(until); {
		link := newLink(m.world, fmt.Sprintf("%s-%d", m.name, attempt))
		life, die := context.WithCancel(ctx)
		var disturbing sync.WaitGroup
		seed := random.Int64() // drawn by this goroutine
		disturbing.Go(func() { m.disturb(life, link, until, seed) })
		deadline := time.Now().Add(time.Duration(random.Int64N(int64(4 * time.Minute))))
		kill := time.AfterFunc(time.Until(deadline), link.die) // -9; its work ends at once
		for time.Now().Before(deadline) && time.Now().Before(until) {
			m.once(life, link, attempt, deadline, random.Int64())
			attempt++
			time.Sleep(time.Duration(random.Int64N(int64(10 * time.Second))))
		}
		kill.Stop()
		link.die()
		die()
		disturbing.Wait()
	}
}

// disturb cuts the link and revokes leases.
func (m *machine) disturb(ctx context.Context, l *link, until time.Time, seed int64) {
	random := m.world.randomOf(fmt.Sprint("disturb", seed))
	for time.Now().Before(until) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(random.Int64N(int64(40 * time.Second)))):
		}
		switch random.IntN(3) {
		case 0:
			l.cut(time.Duration(random.Int64N(int64(12 * time.Second))))
		case 1:
			l.cut(time.Duration(random.Int64N(int64(60 * time.Second))))
		case 2:
			m.world.revokeHolder()
		}
	}
}

// once acquires the lock, works, and releases it, or is killed at the deadline.
func (m *machine) once(ctx context.Context, l *link, attempt int, deadline time.Time, seed int64) {
	random := m.world.randomOf(fmt.Sprint("once", seed))
	lock := m.lock(ctx, l, attempt)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	call := m.since()
	held, err := lock.Acquire(ctx)
	op := porcupine.Operation{Call: call, Return: math.MaxInt64, Input: input{acquire, lock.id}, Output: unknown}
	if err == nil {
		op.Return, op.Output = m.since(), done
	}
	m.diary.add(op)
	if err != nil {
		return
	}
	w := m.diary.begin(lock.id)
	select {
	case <-time.After(time.Duration(random.Int64N(int64(30 * time.Second)))):
	case <-held.Context().Done():
		if errors.Is(context.Cause(held.Context()), ErrLost) { // it obeys, but takes its time
			time.Sleep(min(modelStop, time.Until(deadline)))
		}
	}
	m.diary.end(w)
	call = m.since()
	op = porcupine.Operation{Call: call, Return: math.MaxInt64, Input: input{release, lock.id}, Output: unknown}
	switch err := held.Release(ctx); {
	case err == nil:
		op.Return, op.Output = m.since(), done
	case errors.Is(err, ErrLost):
		op.Return, op.Output = m.since(), unknown // it was lost, and may have been released for others nevertheless
	}
	m.diary.add(op)
}

func (m *machine) since() int64 { return int64(time.Since(m.start)) }

func (d *diary) add(op porcupine.Operation) {
	d.mu.Lock()
	d.calls = append(d.calls, op)
	d.mu.Unlock()
}

func (d *diary) begin(client string) *work {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := &work{client: client, began: time.Now()}
	d.works = append(d.works, w)
	return w
}

func (d *diary) end(w *work) { d.mu.Lock(); w.ended = time.Now(); d.mu.Unlock() }

// trial plays one seed, and returns which promises it broke.
func trial(t *testing.T, s *server, seed uint64, m mutation) []string {
	t.Helper()
	w, d := newWorld(s, seed, modelTTL), &diary{}
	virtualtime.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		start := time.Now()
		var playing sync.WaitGroup
		for i := range modelClients {
			one := &machine{world: w, name: fmt.Sprintf("m%d", i), rate: 1 + 0.004*(float64(i)-1.5)/1.5, start: start,
				diary: d, m: m, ttl: modelTTL, grace: modelGrace}
			playing.Go(func() { one.play(ctx, start.Add(modelLength)) })
		}
		playing.Wait()
		time.Sleep(2 * time.Minute) // until the last request is lost and the last lease has expired
	})
	return check(w, d)
}

func TestModel(t *testing.T) {
	s := startServer(t)
	for seed := uint64(1); seed <= uint64(*modelSeeds); seed++ {
		for _, broken := range trial(t, s, seed, nothing) {
			t.Errorf("seed %d: %s", seed, broken)
		}
	}
}

// Each rule is needed: without it, one of the seeds breaks a promise.
func TestModelMutations_BreakAPromise(t *testing.T) {
	s := startServer(t)
	for _, m := range []mutation{noQueue, noOwner, noGrace} {
		found := false
		for seed := uint64(1); seed <= 400 && !found; seed++ {
			if broken := trial(t, s, seed, m); len(broken) > 0 {
				t.Logf("%s: seed %d: %s", m, seed, broken[0])
				found = true
			}
		}
		if !found {
			t.Errorf("no seed breaks a promise although %s", m)
		}
	}
}
