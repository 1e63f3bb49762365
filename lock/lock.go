package lock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit/namedlock"
	"carillon/internal/platform/bootclock"
)

// Errors of this package. Test for them with errors.Is.
var (
	ErrHeld = errors.New("the lock is held by another client") // TryAcquire, and Acquire after Options.Wait
	ErrLost = errors.New("the lock was lost")                  // the cause of the end of Held.Context
)

// Options are the settings of a lock. The zero value has the defaults.
type Options struct {
	// ID is the stable name of the client; default: host name and process id. A later process with the same ID takes
	// the lock of an earlier one at once if that one is proven dead: it ran on the same machine since the last boot.
	ID string
	// TTL is how long etcd waits for a keep-alive before it deletes the holder; default 10 s, at least 5 s.
	TTL time.Duration
	// Grace is how long this client may be away without losing the lock; default 30 s, at least TTL + 5 s, at most 1 h.
	Grace time.Duration
	// StopGrace is how long the work may take to end after its context has ended; default 5 s, less than Grace − TTL.
	StopGrace time.Duration
	// Wait limits how long Acquire waits; 0: until its context ends.
	Wait time.Duration
	// OnGrace is called when this client is the first in the queue, and the owner has disappeared without a release.
	// It may be nil.
	OnGrace func(Former)
	// Log receives events such as the loss of a lease; default: none.
	Log *slog.Logger
}

const (
	defaultTTL       = 10 * time.Second
	defaultGrace     = 30 * time.Second
	defaultStopGrace = 5 * time.Second
)

// Former is an owner that did not release the lock.
type Former struct {
	ID    string
	Fence int64  // its fencing token
	Note  string // the last one that it left with Held.Note
}

// State is the state of a Lock.
type State int32

// The states.
const (
	Idle     State = iota // not requested, or released
	Queued                // another client holds the lock
	Grace                 // the owner has disappeared, and may come back
	Holding               // this client holds the lock
	Doubtful              // this client holds the lock, but etcd does not answer; work continues
	Lost                  // this client has lost the lock
)

// String names the state.
func (s State) String() string {
	names := [...]string{"idle", "queued", "grace", "held", "doubtful", "lost"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("state %d", int32(s))
	}
	return names[s]
}

// Lock is a named lock, as this client uses it.
type Lock struct {
	client    *clientv3.Client
	store     *namedlock.Store
	name      string
	id        string
	terms     namedlock.Terms
	stopGrace time.Duration
	wait      time.Duration
	onGrace   func(Former)
	log       *slog.Logger
	process   namedlock.Process
	clock     clock
	err       error // of the options
	state     atomic.Int32

	mu      sync.Mutex
	absence namedlock.Absence // guarded by mu; kept between calls of TryAcquire
}

// clock is the time, and rules that tests break.
type clock struct {
	boot func() time.Duration
	dead func(namedlock.Process) bool
}

// New returns a lock. Names are those of jobs: a–z, 0–9, '.', '_' and '-'. It does not communicate with etcd; invalid
// options are reported by the first call.
func New(client *clientv3.Client, name string, o Options) *Lock {
	host, _ := os.Hostname() // the id need not be unique
	l := &Lock{
		client:    client,
		store:     namedlock.NewStore(client, time.Now),
		name:      name,
		id:        cmp.Or(o.ID, fmt.Sprintf("%s:%d", host, os.Getpid())),
		terms:     namedlock.TermsOf(cmp.Or(o.TTL, defaultTTL), cmp.Or(o.Grace, defaultGrace)),
		stopGrace: cmp.Or(o.StopGrace, defaultStopGrace),
		wait:      o.Wait,
		onGrace:   o.OnGrace,
		log:       cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		process:   namedlock.Self(),
		clock:     clock{boot: bootclock.Now, dead: namedlock.Dead},
	}
	l.err = l.check()
	return l
}

// check returns what is wrong with the options.
func (l *Lock) check() error {
	if err := namedlock.Check(l.name, l.id, l.terms); err != nil {
		return fmt.Errorf("lock %q: %w", l.name, err)
	}
	if l.stopGrace < 0 || l.stopGrace > l.terms.Fence()-l.terms.LeaseTTL() {
		return fmt.Errorf("lock %q: StopGrace %v: must be less than Grace - TTL - 1s", l.name, l.stopGrace)
	}
	if l.wait < 0 {
		return fmt.Errorf("lock %q: Wait %v: must not be negative", l.name, l.wait)
	}
	return nil
}

// Name returns the name of the lock.
func (l *Lock) Name() string { return l.name }

// State returns the state of the lock, as this client knows it. If several goroutines use the Lock, it is that of the
// last change by any of them.
func (l *Lock) State() State { return State(l.state.Load()) }

func (l *Lock) enter(s State) { l.state.Store(int32(s)) }

// Acquire waits until the lock is free, or its owner has been away for its grace period, and takes it. Clients that
// stay connected get it in the order of their calls. The context of the work (Held.Context) also ends with ctx; use
// Options.Wait, not a deadline of ctx, to limit how long Acquire waits.
func (l *Lock) Acquire(ctx context.Context) (*Held, error) { return l.acquire(ctx, true) }

// TryAcquire takes the lock if no client has it or waits for it, and otherwise returns ErrHeld. The grace period of an
// owner that has disappeared counts from the first call that finds it absent.
func (l *Lock) TryAcquire(ctx context.Context) (*Held, error) { return l.acquire(ctx, false) }

func (l *Lock) acquire(ctx context.Context, wait bool) (*Held, error) {
	if l.err != nil {
		return nil, l.err
	}
	s := l.begin(ctx)
	w := &waiter{lock: l, life: s}
	err := w.acquire(ctx, wait)
	if err != nil {
		l.enter(Idle)
		s.abandon(ctx)
		return nil, fmt.Errorf("acquire lock %q: %w", l.name, err)
	}
	return hold(ctx, s, w), nil
}
