package jobmgr

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// tombstoneLife is how long a key of idempotency is remembered.
const tombstoneLife = 24 * time.Hour

// tombstone remembers what a request with a key of idempotency did: it is put in the
// transaction that does it. A nil one is that of a request without a key.
type tombstone struct {
	key   string
	asks  string // digest of what the request asks for
	lease clientv3.LeaseID
	kept  bool // the lease holds, or may hold, what was written
}

// answer is the value of a tombstone.
type answer struct {
	Asks    string         `json:"asks"`
	Trigger common.Trigger `json:"trigger"`
}

func newTombstone(actor common.Actor, r *common.TriggerRequest) (*tombstone, error) {
	if r.Key == "" {
		return nil, nil
	}
	asked := *r
	asked.Key = ""
	data, err := json.Marshal(asked)
	if err != nil {
		return nil, fmt.Errorf("encode the request for %q: %w", r.Job, err)
	}
	return &tombstone{key: tombstoneKey(actor, r.Key), asks: digest(string(data))}, nil
}

// tombstoneKey is that of a key of the one who asks: a user, with whatever token or session, or
// a token that is nobody's. The length of who they are keeps the two apart.
func tombstoneKey(actor common.Actor, key string) string {
	owner := "name " + actor.Name
	switch {
	case actor.User != "":
		owner = "user " + actor.User
	case actor.Token != "":
		owner = "token " + actor.Token
	}
	return common.IdempotencyKey(digest(fmt.Sprintf("%d %s %s", len(owner), owner, key)))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// newCreation is the tombstone of a job that is to be created; nil without a key.
func newCreation(actor common.Actor, job *common.Job, key string) (*tombstone, error) {
	if key == "" {
		return nil, nil
	}
	data, err := json.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("encode job %q: %w", job.Name, err)
	}
	return &tombstone{key: tombstoneKey(actor, key), asks: digest("create " + string(data))}, nil
}

// ops read it, beside the job.
func (t *tombstone) ops() []clientv3.Op {
	if t == nil {
		return nil
	}
	return []clientv3.Op{clientv3.OpGet(t.key)}
}

// answered gives the answer that was given before, if one was.
func (t *tombstone) answered(seen seen) (bool, common.Trigger, error) {
	if t == nil || len(seen.more) == 0 {
		return false, common.Trigger{}, nil
	}
	given, err := common.Decode[answer](seen.more[0].Value)
	switch {
	case err != nil:
		return false, common.Trigger{}, fmt.Errorf("decode %s: %w", t.key, err)
	case given.Asks != t.asks:
		return false, common.Trigger{}, &common.Error{Code: common.CodeConflict, Message: "the Idempotency-Key was used before, for another request",
			Hint:   "use a new key for each thing that is asked for",
			Faults: []common.Fault{{Location: "header.Idempotency-Key", Code: "idempotency_reused", Message: "belongs to another request"}}}
	}
	return true, given.Trigger, nil
}

// put writes it, under a lease of its own.
func (t *tombstone) put(ctx context.Context, s *Store, trigger *common.Trigger) (clientv3.Op, error) {
	if t.lease == clientv3.NoLease {
		ctx, cancel := context.WithTimeout(ctx, callLimit)
		defer cancel()
		granted, err := s.cfg.Client.Grant(ctx, int64(tombstoneLife/time.Second))
		if err != nil {
			return clientv3.Op{}, etcdkit.Wrap(fmt.Errorf("grant a lease: %w", err))
		}
		t.lease = granted.ID
	}
	data, err := json.Marshal(answer{Asks: t.asks, Trigger: *trigger})
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("encode tombstone: %w", err)
	}
	return clientv3.OpPut(t.key, string(data), clientv3.WithLease(t.lease)), nil
}

// written says how a transaction that puts it went.
func (t *tombstone) written(done bool, err error) {
	if t != nil && (done || err != nil) {
		t.kept = true
	}
}

// release gives back a lease that holds nothing.
func (t *tombstone) release(ctx context.Context, s *Store) {
	if t == nil || t.lease == clientv3.NoLease || t.kept {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
	defer cancel()
	_, _ = s.cfg.Client.Revoke(ctx, t.lease) // it ends by itself as well
}

// Once remembers for a day what a key of idempotency was used for, and refuses it where that was
// something else.
func (s *Store) Once(ctx context.Context, actor common.Actor, key, asks string) error {
	mark := &tombstone{key: tombstoneKey(actor, key), asks: asks}
	defer mark.release(ctx, s)
	for try := range tries {
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := s.cfg.Client.Get(callCtx, mark.key)
		cancel()
		if err != nil {
			return etcdkit.Wrap(fmt.Errorf("read tombstone: %w", err))
		}
		if used, _, err := mark.answered(seen{more: resp.Kvs}); used || err != nil {
			return err
		}
		put, err := mark.put(ctx, s, &common.Trigger{})
		if err != nil {
			return err
		}
		_, done, err := s.commit(ctx, "remember a key for", "", []clientv3.Cmp{etcdkit.Absent(mark.key)}, []clientv3.Op{put})
		mark.written(done, err)
		if err != nil || done {
			return err
		}
		if err := again(ctx, try); err != nil {
			return err
		}
	}
	return common.Errorf(common.CodeConflict, "the Idempotency-Key is in use; try again")
}
