package leader

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
	// pause is how long an elector waits after a term, or a candidacy that failed, so that
	// others come first and nothing spins.
	pause = time.Second
	// glance is how often it is looked whether a term is over, on the boot clock: no long timer
	// is trusted, since a machine may sleep.
	glance = 250 * time.Millisecond
)

// ErrOver is the cause of a context whose term has ended.
var ErrOver = errors.New("the term is over")

// Session is the lease that a term hangs on.
type Session interface {
	Lease(ctx context.Context) (clientv3.LeaseID, error)
	Invalidate(id clientv3.LeaseID)
	// Proof tells which lease there is, and when, on the boot clock, what was last answered
	// of it was sent.
	Proof() common.Proof
	TTL() time.Duration
}

// Config is what an elector needs.
type Config struct {
	Client  *clientv3.Client
	Session Session
	Boot    func() time.Duration // the session's clock
	Key     string
	ID      string // of this process, unique
	Name    string // for people
	Now     func() time.Time
	Log     *slog.Logger
	Told    func(elected bool) // counts terms
	// Report receives the error of each interrupted watch, and nil when the watch is whole.
	Report func(watch string, err error)
}

// Names of the watches of an elector and its bulletins.
const (
	WatchElection = "election"
	WatchFindings = "findings"
)

// Holder is who is elected. It is the value of the key.
type Holder struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Since time.Time `json:"since"` // by its own clock, for people
	// Term grows with each term: it is the revision of the key's creation.
	Term int64 `json:"-"`
}

// Elector wants to be elected as long as it runs. It is safe for concurrent use.
type Elector struct {
	cfg Config

	mu      sync.Mutex
	seen    sight         // guarded by mu
	changed chan struct{} // guarded by mu; closed when seen changes
	term    int64         // guarded by mu; of the latest term of our own
}

// sight is the key as of a revision; the term is zero while there is none.
type sight struct {
	revision int64
	holder   Holder
	lease    clientv3.LeaseID
}

// New makes an elector. Run makes it a candidate.
func New(cfg Config) *Elector {
	return &Elector{cfg: cfg, changed: make(chan struct{}), term: never}
}

// never is a term that no key has.
const never = -1

// Leader tells who is elected, as far as known here.
func (e *Elector) Leader() (Holder, bool) {
	s, _ := e.sight()
	return s.holder, s.holder.Term != 0
}

// Held is a compare that holds in etcd while the term that this elector won last goes on. It
// never holds before the first.
func (e *Elector) Held() clientv3.Cmp {
	e.mu.Lock()
	defer e.mu.Unlock()
	return etcdkit.Same(e.cfg.Key, e.term)
}

// Run is a candidate until the context ends. Each time it is elected it calls serve, whose
// context ends with the term, and it stands for election again only when serve has returned. When
// serve returns early, the term ends. At the end the key is deleted, so that another
// is elected at once.
func (e *Elector) Run(ctx context.Context, serve func(ctx context.Context)) error {
	following, stop := context.WithCancel(ctx)
	var followed sync.WaitGroup
	followed.Go(func() { e.follow(following) })
	defer followed.Wait()
	defer stop()
	for {
		term, lease, err := e.stand(ctx)
		if err != nil {
			return err
		}
		if term != 0 {
			e.reign(ctx, term, lease, serve)
		}
		if !etcdkit.Sleep(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

// follow keeps the sight of the key until the context ends.
func (e *Elector) follow(ctx context.Context) {
	follower := etcdkit.Follower{Client: e.cfg.Client, Prefix: e.cfg.Key, Silence: e.cfg.Session.TTL(),
		Trouble: func(err error) { e.cfg.Report(WatchElection, err) }, Alive: func() { e.cfg.Report(WatchElection, nil) }}
	// It ends with the context alone: the receiver has no errors.
	_ = follower.Follow(ctx, func(_ context.Context, u etcdkit.Update) error {
		for _, kv := range u.Deletes {
			if string(kv.Key) == e.cfg.Key {
				e.note(sight{revision: u.Revision}, false)
			}
		}
		now := sight{revision: u.Revision}
		for _, kv := range u.Puts {
			if string(kv.Key) == e.cfg.Key {
				now = sightOf(u.Revision, kv)
			}
		}
		if u.Whole || now.holder.Term != 0 {
			e.note(now, u.Whole)
		}
		return nil
	})
}

// sightOf reads the key. A value that does not decode holds the place all the same.
func sightOf(revision int64, kv *mvccpb.KeyValue) sight {
	holder, err := common.Decode[Holder](kv.Value)
	if err != nil {
		holder = Holder{Name: "unknown"}
	}
	holder.Term = kv.CreateRevision
	return sight{revision: revision, holder: holder, lease: clientv3.LeaseID(kv.Lease)}
}

// note takes in what was seen, unless something newer was. A whole list is what there is, also
// where revisions went back, as they do in an etcd that was restored.
func (e *Elector) note(now sight, whole bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !whole && now.revision < e.seen.revision {
		return
	}
	e.seen = now
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *Elector) sight() (sight, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen, e.changed
}

// stand waits until nobody is elected, and tries to be. It gives no term where somebody else was
// faster, or etcd did not answer.
func (e *Elector) stand(ctx context.Context) (term int64, lease clientv3.LeaseID, err error) {
	for {
		s, changed := e.sight()
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

// claim creates the key, if there is none. One that an answer was lost of is known again by
// its id and lease; one of an earlier lease of ours is taken away.
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
		return 0, nil // it went between: the watch tells
	}
	s := sightOf(resp.Header.Revision, found[0])
	e.note(s, false)
	switch {
	case s.holder.ID != e.cfg.ID:
		return 0, nil
	case s.lease != lease:
		return 0, e.resign(ctx, s.holder.Term)
	}
	return s.holder.Term, nil
}

// resign deletes the key of a term of ours.
func (e *Elector) resign(ctx context.Context, term int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
	defer cancel()
	_, err := e.cfg.Client.Txn(ctx).If(etcdkit.Same(e.cfg.Key, term)).Then(clientv3.OpDelete(e.cfg.Key)).Commit()
	if err != nil {
		return fmt.Errorf("delete %s: %w", e.cfg.Key, err)
	}
	return nil
}
