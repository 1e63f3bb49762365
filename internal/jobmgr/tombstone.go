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

const (
	// tombstoneLife is how long an idempotency key is remembered at least.
	tombstoneLife = 24 * time.Hour
	// keysOfOne bounds the different keys of one identity within that time at one master: each takes some
	// hundred bytes of etcd.
	keysOfOne = 50_000
)

// tombstone records the request that an idempotency key was used for, and its answer: it is put in the
// transaction that executes the request. A nil tombstone is that of a request without a key.
type tombstone struct {
	key   string
	owner string // the identity of the caller
	asks  string // digest of the request
	lease clientv3.LeaseID
	taken time.Time // when it was counted for its owner; zero: not counted
	kept  bool      // it was written, or may have been
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
	return newMark(actor, r.Key, digest(string(data))), nil
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
	if t == nil || len(was.more) == 0 {
		return false, common.Trigger{}, nil
	}
	given, err := common.Decode[answer](was.more[0].Value)
	switch {
	case err != nil:
		return false, common.Trigger{}, fmt.Errorf("decode %s: %w", t.key, err)
	case given.Asks != t.asks:
		return false, common.Trigger{}, &common.Error{
			Code:    common.CodeConflict,
			Message: "the Idempotency-Key was used before, for another request",
			Hint:    "use a new key for each request",
			Faults: []common.Fault{{
				Location: "header.Idempotency-Key",
				Code:     "idempotency_reused",
				Message:  "belongs to another request",
			}},
		}
	}
	return true, given.Trigger, nil
}

// put returns the operation that writes it under the lease of the hour. The number of keys of one identity
// per day is bounded.
func (t *tombstone) put(ctx context.Context, s *Store, trigger *common.Trigger) (clientv3.Op, error) {
	if t.taken.IsZero() {
		now := s.cfg.Now()
		if wait, ok := s.keys.Take(now, t.owner); !ok {
			return clientv3.Op{}, &common.Error{
				Code:       common.CodeTooMany,
				Reason:     "too_many_keys",
				RetryAfter: wait,
				Data:       common.WordsOf("most", s.keys.Burst()),
				Message: fmt.Sprintf("you have used %d different keys as Idempotency-Key within a day",
					s.keys.Burst()),
				Hint: "use a key again only for the same request; requests without a key are not limited",
			}
		}
		t.taken = now
	}
	var err error
	if t.lease, err = s.leases.lease(ctx); err != nil {
		return clientv3.Op{}, err
	}
	data, err := json.Marshal(answer{Asks: t.asks, Trigger: *trigger})
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("encode tombstone: %w", err)
	}
	return clientv3.OpPut(t.key, string(data), clientv3.WithLease(t.lease)), nil
}

// written processes the result of the transaction that puts the tombstone. It reports whether to try again
// because the lease is gone, as after a restore of etcd: nothing was written then.
func (t *tombstone) written(s *Store, done bool, err error) (again bool) {
	if t == nil {
		return false
	}
	if etcdkit.LeaseGone(err) {
		s.leases.forget(t.lease)
		return true
	}
	t.kept = t.kept || done || err != nil
	return false
}

// release removes an unwritten tombstone from the count of its owner.
func (t *tombstone) release(s *Store) {
	if t != nil && !t.taken.IsZero() && !t.kept {
		s.keys.GiveBack(t.taken, t.owner)
	}
}

// Once records for a day what an idempotency key was used for, and refuses a key that was used for another
// request.
func (s *Store) Once(ctx context.Context, actor common.Actor, key, asks string) error {
	mark := newMark(actor, key, asks)
	defer mark.release(s)
	for try := range tries {
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := s.cfg.Client.Get(callCtx, mark.key)
		cancel()
		if err != nil {
			return etcdkit.Wrap(fmt.Errorf("read tombstone: %w", err))
		}
		if used, _, err := mark.answered(values{more: resp.Kvs}); used || err != nil {
			return err
		}
		put, err := mark.put(ctx, s, &common.Trigger{})
		if err != nil {
			return err
		}
		_, done, err := s.commit(ctx, "remember a key for", "", []clientv3.Cmp{etcdkit.Absent(mark.key)},
			[]clientv3.Op{put})
		if !mark.written(s, done, err) && (err != nil || done) {
			return err
		}
		if err := again(ctx, try); err != nil {
			return err
		}
	}
	return common.Errorf(common.CodeConflict, "the Idempotency-Key is in use; try again")
}
