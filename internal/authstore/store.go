package authstore

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const (
	callTimeout = 5 * time.Second
	believed    = 3 * time.Second // how long what was read is used again
	maxBelieved = 4096            // keys
)

// Store keeps what auth's records say.
type Store struct {
	client *clientv3.Client
	now    func() time.Time

	mu      sync.Mutex
	read    map[string]reading             // guarded by mu
	touched map[clientv3.LeaseID]time.Time // guarded by mu; when a session's lease was last renewed
}

// reading is a key as it was when it was read.
type reading struct {
	kv    *mvccpb.KeyValue
	until time.Time
}

// New makes a store over a client.
func New(client *clientv3.Client, now func() time.Time) *Store {
	return &Store{client: client, now: now, read: map[string]reading{}, touched: map[clientv3.LeaseID]time.Time{}}
}

// get reads a key; nil where it does not exist. Only what exists is remembered.
func (s *Store) get(ctx context.Context, key string) (*mvccpb.KeyValue, error) {
	now := s.now()
	s.mu.Lock()
	known, ok := s.read[key]
	s.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.kv, nil
	}
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
	if len(s.read) >= maxBelieved {
		clear(s.read)
	}
	s.read[key] = reading{kv: resp.Kvs[0], until: now.Add(believed)}
	return resp.Kvs[0], nil
}

func (s *Store) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.read, key)
}

// token finds the record of a token, and the key's creation for a compare.
func (s *Store) token(ctx context.Context, id string) (auth.TokenRecord, int64, error) {
	kv, err := s.get(ctx, common.TokenKey(id))
	if err != nil {
		return auth.TokenRecord{}, 0, err
	}
	if kv == nil {
		return auth.TokenRecord{}, 0, errRefused()
	}
	record, err := common.Decode[auth.TokenRecord](kv.Value)
	if err != nil {
		return auth.TokenRecord{}, 0, &common.Error{Code: common.CodeInternal, Message: "a token's record cannot be read", Err: err}
	}
	if record.ID != id || !record.Alive(s.now()) {
		return auth.TokenRecord{}, 0, errRefused()
	}
	return record, kv.CreateRevision, nil
}

// errRefused says the same whatever was wrong, so that nobody learns which it was.
func errRefused() error {
	return &common.Error{Code: common.CodeUnauthenticated, Message: "the token, session or code is not valid",
		Hint: "it may have expired or been revoked"}
}

// changeOp makes the put of an entry in the history of changes.
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
