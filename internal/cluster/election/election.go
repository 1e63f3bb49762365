package election

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const (
	callLimit = 5 * time.Second
	// pause is how long an elector waits after a term or a failed campaign, so that other masters come first.
	pause = time.Second
	// checkInterval is how often the end of a term is checked on the boot clock: a long timer could be late, since a
	// machine may be suspended.
	checkInterval = 250 * time.Millisecond
)

// ErrOver is the cause of a context whose term has ended.
var ErrOver = errors.New("the term is over")

// Session is the lease that holds a term.
type Session interface {
	Lease(ctx context.Context) (clientv3.LeaseID, error)
	Invalidate(id clientv3.LeaseID)
	// Proof returns the current lease and the time, on the boot clock, at which the last answered keep-alive was sent.
	Proof() common.Proof
	TTL() time.Duration
}

// Config configures an elector.
type Config struct {
	Client  *clientv3.Client
	Session Session
	Boot    func() time.Duration // the session's clock
	Key     string
	ID      string // of this process, unique
	Name    string // for people
	Now     func() time.Time
	Log     *slog.Logger
	Elected func(elected bool) // called at the start and the end of each term
	// Report receives the error of each interrupted watch, and nil when the watch works again.
	Report func(watch string, err error)
}

// Names of the watches of an elector and its bulletins.
const (
	WatchElection = "election"
	WatchFindings = "findings"
)

// Holder identifies the elected master. It is the value of the key.
type Holder struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Since time.Time `json:"since"` // by its own clock, for people
	// Term is the CreateRevision of the key. It grows with each term.
	Term int64 `json:"-"`
}

// Elector is a candidate in the election as long as it runs. It is safe for concurrent use.
type Elector struct {
	cfg Config

	mu      sync.Mutex
	seen    keyState      // last observed state of the key; guarded by mu
	changed chan struct{} // closed when seen changes; guarded by mu
	term    int64         // our own latest term; guarded by mu
}

// keyState is the state of the key at a revision; the term is zero if the key does not exist.
type keyState struct {
	revision int64
	holder   Holder
	lease    clientv3.LeaseID
}

// New returns an elector. Run makes it a candidate.
func New(cfg Config) *Elector {
	return &Elector{cfg: cfg, changed: make(chan struct{}), term: never}
}

// never is a term that no key has.
const never = -1

// Leader returns the elected master as last observed; false if there is none.
func (e *Elector) Leader() (Holder, bool) {
	s, _ := e.observed()
	return s.holder, s.holder.Term != 0
}

// Held returns a compare that succeeds in etcd during the term that this elector won last. It never succeeds before the
// first term.
func (e *Elector) Held() clientv3.Cmp {
	e.mu.Lock()
	defer e.mu.Unlock()
	return etcdkit.Same(e.cfg.Key, e.term)
}

// Run campaigns until the context ends. After each election it calls serve, whose context ends with the term, and
// campaigns again only when serve has returned. If serve returns early, the term ends. At the end of a term Run deletes
// the key, so that another master is elected at once.
func (e *Elector) Run(ctx context.Context, serve func(ctx context.Context)) error {
	following, stop := context.WithCancel(ctx)
	var followed sync.WaitGroup
	followed.Go(func() { e.follow(following) })
	defer followed.Wait()
	defer stop()
	for {
		term, lease, err := e.campaign(ctx)
		if err != nil {
			return err
		}
		if term != 0 {
			e.serveTerm(ctx, term, lease, serve)
		}
		if !etcdkit.Sleep(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

// follow watches the key until the context ends.
func (e *Elector) follow(ctx context.Context) {
	watch := etcdkit.Watch{
		Client:  e.cfg.Client,
		Prefix:  e.cfg.Key,
		End:     etcdkit.OneKey(e.cfg.Key),
		Silence: e.cfg.Session.TTL(),
		Report:  func(err error) { e.cfg.Report(WatchElection, err) },
	}
	// It returns only at the end of the context, since the receiver returns no errors.
	_ = watch.Follow(ctx, func(_ context.Context, u etcdkit.Changes) error {
		now := keyState{revision: u.Revision} // without the key, unless it was put
		for _, kv := range u.Puts {
			now = decodeState(u.Revision, kv)
		}
		e.note(now, u.Whole)
		return nil
	})
}

// decodeState decodes the key. A value that cannot be decoded still counts as an elected master.
func decodeState(revision int64, kv *mvccpb.KeyValue) keyState {
	holder, err := common.Decode[Holder](kv.Value)
	if err != nil {
		holder = Holder{Name: "unknown"}
	}
	holder.Term = kv.CreateRevision
	return keyState{revision: revision, holder: holder, lease: clientv3.LeaseID(kv.Lease)}
}

// note stores an observed state, unless a newer one was observed. A complete list is always stored: revisions go back
// when etcd is restored from a backup.
func (e *Elector) note(now keyState, whole bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !whole && now.revision < e.seen.revision {
		return
	}
	e.seen = now
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *Elector) observed() (keyState, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen, e.changed
}

// campaign waits until no master is elected, and tries to create the key. The term is 0 if another master was faster or
// etcd did not answer.
func (e *Elector) campaign(ctx context.Context) (term int64, lease clientv3.LeaseID, err error) {
	for {
		s, changed := e.observed()
		if s.revision != 0 && (s.holder.Term == 0 || s.holder.ID == e.cfg.ID) {
			break
		}
		select {
		case <-ctx.Done():
			return 0, 0, context.Cause(ctx)
		case <-changed:
		}
	}
	if lease, err = e.cfg.Session.Lease(ctx); err != nil {
		return 0, 0, err
	}
	term, err = e.claim(ctx, lease)
	if err != nil && ctx.Err() == nil {
		e.cfg.Log.Warn("election_failed", "error", err)
	}
	return term, lease, nil
}

// claim creates the key if it does not exist. A key that an earlier call created without receiving the answer is
// recognized by its id and lease; one under an earlier lease of this process is deleted.
func (e *Elector) claim(ctx context.Context, lease clientv3.LeaseID) (term int64, err error) {
	value, err := json.Marshal(Holder{ID: e.cfg.ID, Name: e.cfg.Name, Since: e.cfg.Now().UTC()})
	if err != nil {
		return 0, fmt.Errorf("encode %s: %w", e.cfg.Key, err)
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := e.cfg.Client.Txn(ctx).If(etcdkit.Absent(e.cfg.Key)).
		Then(clientv3.OpPut(e.cfg.Key, string(value), clientv3.WithLease(lease)), clientv3.OpGet(e.cfg.Key)).
		Else(clientv3.OpGet(e.cfg.Key)).Commit()
	if err != nil {
		if etcdkit.LeaseGone(err) {
			e.cfg.Session.Invalidate(lease)
		}
		return 0, fmt.Errorf("create %s: %w", e.cfg.Key, err)
	}
	found := resp.Responses[len(resp.Responses)-1].GetResponseRange().Kvs
	if len(found) == 0 {
		return 0, nil // deleted meanwhile: the watch reports it
	}
	s := decodeState(resp.Header.Revision, found[0])
	e.note(s, false)
	switch {
	case s.holder.ID != e.cfg.ID:
		return 0, nil
	case s.lease != lease:
		return 0, e.resign(ctx, s.holder.Term)
	}
	return s.holder.Term, nil
}

// write puts a key if this master is elected; otherwise it returns ErrNotElected.
func (e *Elector) write(ctx context.Context, key string, value any, lease clientv3.LeaseID) error {
	store := etcdkit.Store{Client: e.cfg.Client}
	t := store.Txn()
	t.If(e.Held())
	t.Put(key, value, clientv3.WithLease(lease))
	_, done, err := store.Commit(ctx, key, t)
	if err == nil && !done {
		err = ErrNotElected
	}
	return err
}

// resign deletes the key of one of our terms.
func (e *Elector) resign(ctx context.Context, term int64) error {
	store := etcdkit.Store{Client: e.cfg.Client}
	t := store.Txn()
	t.If(etcdkit.Same(e.cfg.Key, term))
	t.Delete(e.cfg.Key)
	_, _, err := store.Commit(context.WithoutCancel(ctx), e.cfg.Key, t)
	return err
}
