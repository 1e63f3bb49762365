package etcd

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const (
	callLimit = 5 * time.Second
	cacheFor  = 3 * time.Second // how long a read is cached
	maxCached = 4096            // keys
)

// Store stores users, tokens, sessions and login codes.
type Store struct {
	etcd   etcdkit.Store
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
		etcd:     etcdkit.Store{Client: client, Now: now},
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
	kv, err := etcdkit.Get(ctx, s.etcd.Client, key)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if kv == nil {
		delete(s.read, key)
		return nil, nil
	}
	if len(s.read) >= maxCached {
		clear(s.read)
	}
	s.read[key] = reading{kv: kv, until: now.Add(cacheFor)}
	return kv, nil
}

func (s *Store) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.read, key)
}

// list reads a prefix page by page, and returns its revision.
func (s *Store) list(ctx context.Context, prefix string, each func(*mvccpb.KeyValue)) (revision int64, err error) {
	return etcdkit.Each(ctx, s.etcd.Client, prefix, func(kv *mvccpb.KeyValue) error { each(kv); return nil })
}

// errRefused is the same for all causes, so that a client does not learn which one it was.
func errRefused() error {
	return &common.Error{Code: common.CodeUnauthenticated, Message: "the token, session or code is not valid",
		Hint: "sign in again or use another token: it may have expired or been revoked"}
}

func errDamaged(what string, err error) error {
	return &common.Error{Code: common.CodeInternal, Message: what + "'s record cannot be read", Err: err}
}
