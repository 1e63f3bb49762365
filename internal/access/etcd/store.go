package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const (
	callTimeout = 5 * time.Second
	cacheFor    = 3 * time.Second // how long a read is cached
	maxCached   = 4096            // keys
	pageOf      = 500
	// tries is how often a change is attempted if compares fail because of concurrent changes.
	tries = 8
)

// Store stores users, tokens, sessions and login codes.
type Store struct {
	client *clientv3.Client
	now    func() time.Time
	hasher *access.Hasher
	issuer *access.Issuer // nil: no external logins
	// counting is held while a token is created for a user.
	counting chan struct{}

	mu       sync.Mutex
	read     map[string]reading             // guarded by mu
	touched  map[clientv3.LeaseID]time.Time // guarded by mu; last renewal of a session's lease
	used     map[string]time.Time           // guarded by mu; last check of a token's use, by id
	failures failures                       // guarded by mu
}

// reading is a cached key.
type reading struct {
	kv    *mvccpb.KeyValue
	until time.Time
}

// New returns a store over a client. External users are accepted from the issuer only; from none if
// it is nil.
func New(client *clientv3.Client, now func() time.Time, issuer *access.Issuer) *Store {
	return &Store{
		client:   client,
		now:      now,
		issuer:   issuer,
		hasher:   access.NewHasher(),
		counting: make(chan struct{}, 1),
		read:     map[string]reading{},
		touched:  map[clientv3.LeaseID]time.Time{},
		used:     map[string]time.Time{},
	}
}

// get reads a key, from the cache if possible; nil if it does not exist. Missing keys are not
// cached.
func (s *Store) get(ctx context.Context, key string) (*mvccpb.KeyValue, error) {
	now := s.now()
	s.mu.Lock()
	known, ok := s.read[key]
	s.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.kv, nil
	}
	return s.fresh(ctx, key)
}

// fresh reads a key from etcd.
func (s *Store) fresh(ctx context.Context, key string) (*mvccpb.KeyValue, error) {
	now := s.now()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	resp, err := s.client.Get(ctx, key)
	if err != nil {
		return nil, etcdkit.Wrap(fmt.Errorf("read %s: %w", common.AuthPrefix, err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(resp.Kvs) == 0 {
		delete(s.read, key)
		return nil, nil
	}
	if len(s.read) >= maxCached {
		clear(s.read)
	}
	s.read[key] = reading{kv: resp.Kvs[0], until: now.Add(cacheFor)}
	return resp.Kvs[0], nil
}

func (s *Store) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.read, key)
}

// list reads a prefix page by page.
func (s *Store) list(ctx context.Context, prefix string, each func(*mvccpb.KeyValue)) error {
	_, err := s.listed(ctx, prefix, each)
	return err
}

// listed is list, and returns the revision of its first page.
func (s *Store) listed(ctx context.Context, prefix string, each func(*mvccpb.KeyValue)) (revision int64, err error) {
	from, end := prefix, clientv3.GetPrefixRangeEnd(prefix)
	for {
		callCtx, cancel := context.WithTimeout(ctx, callTimeout)
		resp, err := s.client.Get(callCtx, from, clientv3.WithRange(end), clientv3.WithLimit(pageOf))
		cancel()
		if err != nil {
			return 0, etcdkit.Wrap(fmt.Errorf("list %s: %w", prefix, err))
		}
		if revision == 0 {
			revision = resp.Header.Revision
		}
		for _, kv := range resp.Kvs {
			each(kv)
		}
		if !resp.More || len(resp.Kvs) == 0 {
			return revision, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// commit applies the operations if the compares hold.
func (s *Store) commit(ctx context.Context, cmps []clientv3.Cmp, ops []clientv3.Op) (revision int64, done bool,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	resp, err := s.client.Txn(ctx).If(cmps...).Then(ops...).Commit()
	if err != nil {
		return 0, false, etcdkit.Wrap(fmt.Errorf("write %s: %w", common.AuthPrefix, err))
	}
	return resp.Header.Revision, resp.Succeeded, nil
}

// errRefused is the same for all causes, so that a client does not learn which one it was.
func errRefused() error {
	return &common.Error{Code: common.CodeUnauthenticated, Message: "the token, session or code is not valid",
		Hint: "log in again or use another token: it may have expired or been revoked"}
}

func errBusy(what, name string) error {
	return &common.Error{
		Code:    common.CodeConflict,
		Reason:  "busy",
		Message: fmt.Sprintf("%s %s changes too fast; retry", what, common.Excerpt(name)),
	}
}

func errDamaged(what string, err error) error {
	return &common.Error{Code: common.CodeInternal, Message: what + "'s record cannot be read", Err: err}
}

// changeOp returns the put of an audit entry.
func (s *Store) changeOp(actor common.Actor, verb, kind, name string, before, after any) (clientv3.Op, error) {
	change, err := common.NewChange(s.now(), actor, verb, kind, name, before, after)
	if err != nil {
		return clientv3.Op{}, err
	}
	return putOp(common.ChangeKey(change.ID), change)
}

func putOp(key string, value any, opts ...clientv3.OpOption) (clientv3.Op, error) {
	data, err := json.Marshal(value)
	return clientv3.OpPut(key, string(data), opts...), err
}
