package jobmgr

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const (
	// tombstoneLife is how long an idempotency key is remembered at least.
	tombstoneLife = 24 * time.Hour
	// keysOfOne bounds the different keys of one identity within that time at one master: each takes some
	// hundred bytes of etcd.
	keysOfOne = 50_000
	// keysOfHook bounds those of one hook: its senders choose them.
	keysOfHook = 5_000
)

// tombstone records the request that an idempotency key was used for, and its answer: it is put in the
// transaction that executes the request. A nil tombstone is that of a request without a key.
type tombstone struct {
	key   string
	owner string    // whose keys are counted: the identity of the caller, or a hook
	hook  bool      // the owner is a hook
	asks  string    // digest of the request
	taken time.Time // when it was counted for its owner; zero: not counted
	kept  bool      // it is in the transaction
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
	mark := newMark(actor, r.Key, digest(string(data)))
	if r.Hook != "" {
		mark.owner, mark.hook = "hook "+r.Hook, true
	}
	return mark, nil
}

func newMark(actor common.Actor, key, asks string) *tombstone {
	owner := ownerOf(actor)
	// The length of the owner separates it from the key.
	return &tombstone{
		key:   common.IdempotencyKey(digest(fmt.Sprintf("%d %s %s", len(owner), owner, key))),
		owner: owner,
		asks:  asks,
	}
}

// ownerOf identifies the caller: a user, with any token or session, or a token without a user.
func ownerOf(actor common.Actor) string {
	switch {
	case actor.User != "":
		return "user " + actor.User
	case actor.Token != "":
		return "token " + actor.Token
	}
	return "name " + actor.Name
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// newCreation returns the tombstone for the creation of a job; nil without a key.
func newCreation(actor common.Actor, job *common.Job, key string) (*tombstone, error) {
	if key == "" {
		return nil, nil
	}
	data, err := json.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("encode job %q: %w", job.Name, err)
	}
	return newMark(actor, key, digest("create "+string(data))), nil
}

// ops returns the reads of the tombstone, beside those of the job.
func (t *tombstone) ops() []clientv3.Op {
	if t == nil {
		return nil
	}
	return []clientv3.Op{clientv3.OpGet(t.key)}
}

// answered returns the previous answer to the key, if there is one.
func (t *tombstone) answered(was values) (bool, common.Trigger, error) {
	if t == nil {
		return false, common.Trigger{}, nil
	}
	t.kept = false
	if len(was.more[0]) == 0 {
		return false, common.Trigger{}, nil
	}
	given, err := common.Decode[answer](was.more[0][0].Value)
	switch {
	case err != nil:
		return false, common.Trigger{}, fmt.Errorf("decode %s: %w", t.key, err)
	case given.Asks != t.asks:
		return false, common.Trigger{}, &common.Error{
			Code:    common.CodeConflict,
			Message: "the Idempotency-Key was used before, for another request",
			Hint:    "use a new key for each request",
			Faults: common.Faults{
				common.NewFault("header.Idempotency-Key", "idempotency_reused", nil, "belongs to another request"),
			},
		}
	}
	return true, given.Trigger, nil
}

// put adds the write of the tombstone under the lease of the hour, unless it exists. The number of keys of one
// owner per day is bounded. The answer to a delivery of a hook is kept without its parameters, which are a part of the
// digest.
func (t *tombstone) put(ctx context.Context, txn *etcdkit.Txn, s *Store, trigger *common.Trigger) error {
	if t == nil {
		return nil
	}
	if t.taken.IsZero() {
		now := s.cfg.Now()
		most := s.keys.Burst()
		if t.hook {
			most = cmp.Or(s.cfg.KeysOfHook, keysOfHook)
		}
		if wait, ok := s.keys.TakeUpTo(now, t.owner, most); !ok {
			return &common.Error{
				Code:       common.CodeTooMany,
				Reason:     "too_many_keys",
				RetryAfter: wait,
				Data:       common.WordsOf("most", most),
				Message:    fmt.Sprintf("you have used %d different keys as Idempotency-Key within a day", most),
				Hint:       "use a key again only for the same request; requests without a key are not limited",
			}
		}
		t.taken = now
	}
	lease, err := s.leases.lease(ctx)
	if err != nil {
		return err
	}
	txn.LeaseLost = func() { s.leases.forget(lease) }
	txn.If(etcdkit.Absent(t.key))
	kept := *trigger
	if t.hook {
		kept.Params = nil
	}
	txn.Put(t.key, answer{Asks: t.asks, Trigger: kept}, clientv3.WithLease(lease))
	t.kept = true
	return nil
}

// release removes the tombstone of a failed request from the count of its owner, if it was not written.
func (t *tombstone) release(s *Store, err error) {
	written := t != nil && t.kept && (err == nil || errors.Is(err, common.ErrUnsure))
	if t != nil && !t.taken.IsZero() && !written {
		s.keys.GiveBack(t.taken, t.owner)
	}
}

// Once records for a day what an idempotency key was used for, and refuses a key that was used for another
// request.
func (s *Store) Once(ctx context.Context, actor common.Actor, key, asks string) (err error) {
	mark := newMark(actor, key, asks)
	defer func() { mark.release(s, err) }()
	_, err = s.etcd.Update(ctx, "the Idempotency-Key", func(t *etcdkit.Txn) error {
		resp, err := etcdkit.Range(ctx, s.cfg.Client, mark.key)
		if err != nil {
			return err
		}
		if used, _, err := mark.answered(values{more: [][]*mvccpb.KeyValue{resp.Kvs}}); used || err != nil {
			return err
		}
		return mark.put(ctx, t, s, &common.Trigger{})
	})
	return err
}
