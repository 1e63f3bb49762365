package etcdkit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

const (
	// updateTries bounds how often a change is decided again after a conflict: each of a burst of changes of one
	// object may conflict with all others. maxBackoff bounds the wait in between.
	updateTries = 200
	maxBackoff  = 64 * time.Millisecond
)

// Store changes objects in etcd by compare-and-swap. Its fields are set before its first use, after which it
// is safe for concurrent use.
type Store struct {
	Client  *clientv3.Client
	Now     func() time.Time // wall clock, for audit entries
	Changed func()           // called after each commit of an audit entry, which is then to be delivered; may be nil
	Batch   *Batch           // lets concurrent small changes share a transaction; may be nil
}

// Txn is a transaction: its writes are applied together if all its compares hold. The first error in encoding
// a value is kept, and fails the commit.
type Txn struct {
	LeaseLost func() // called if a lease of the writes no longer exists, before another try; may be nil

	now     func() time.Time
	cmps    []clientv3.Cmp
	ops     []clientv3.Op
	unique  map[string][]byte // values that no other transaction writes, by key
	audited bool
	err     error
}

// Txn returns an empty transaction.
func (s *Store) Txn() *Txn { return &Txn{now: s.Now, unique: map[string][]byte{}} }

// If adds compares.
func (t *Txn) If(compares ...clientv3.Cmp) { t.cmps = append(t.cmps, compares...) }

// Then adds writes.
func (t *Txn) Then(ops ...clientv3.Op) { t.ops = append(t.ops, ops...) }

// Size returns the size of the keys and values of its writes, without those of nested transactions.
func (t *Txn) Size() (bytes int) {
	for i := range t.ops {
		bytes += len(t.ops[i].KeyBytes()) + len(t.ops[i].ValueBytes())
	}
	return bytes
}

// Delete adds the deletion of keys.
func (t *Txn) Delete(keys ...string) {
	for _, key := range keys {
		t.ops = append(t.ops, clientv3.OpDelete(key))
	}
}

// Put adds the write of a value as JSON. It must differ from all other values of the key, by an id or a time:
// it proves that the transaction was applied if the response is lost.
func (t *Txn) Put(key string, value any, opts ...clientv3.OpOption) {
	data, err := json.Marshal(value)
	t.put(key, data, err, opts...)
}

func (t *Txn) put(key string, data []byte, err error, opts ...clientv3.OpOption) {
	t.err = cmp.Or(t.err, err)
	t.ops = append(t.ops, clientv3.OpPut(key, string(data), opts...))
	t.unique[key] = data
}

// Swap is Put of a key that still holds what was read; held is nil if it did not exist. Fields that a newer
// version wrote are kept. It returns the value as JSON.
func Swap[T any](t *Txn, key string, held *mvccpb.KeyValue, value *T) json.RawMessage {
	if held == nil {
		held = &mvccpb.KeyValue{}
	}
	t.If(Unchanged(key, held.ModRevision))
	data, err := common.EncodeOver(held.Value, value)
	t.put(key, data, err)
	return data
}

// Nest adds a transaction that is applied with this one if its own compares hold as well.
func (t *Txn) Nest(inner *Txn) {
	t.err = cmp.Or(t.err, inner.err)
	t.ops = append(t.ops, clientv3.OpTxn(inner.cmps, inner.ops, nil))
	maps.Copy(t.unique, inner.unique)
}

// Audit adds the audit entry of the change; no entry is overwritten.
func (t *Txn) Audit(actor common.Actor, verb, kind, name string, before, after any) {
	change, err := common.NewChange(t.now().UTC(), actor, verb, kind, name, before, after)
	t.err = cmp.Or(t.err, err)
	t.If(Absent(common.ChangeKey(change.ID)))
	t.Put(common.ChangeKey(change.ID), change)
	t.audited = true
}

// Update changes an object. decide reads its state and adds the change to the transaction, with compares of
// what it has read; it is called again if those fail, with jittered exponential backoff. If it adds no writes,
// nothing is done, and the revision is 0. An error of decide is returned. The subject names the object in
// errors; two changes of one subject never share a transaction.
//
// CodeConflict with the reason "busy" means that the compares failed at every try; common.ErrUnsure, that the
// outcome is unknown.
func (s *Store) Update(ctx context.Context, subject string, decide func(*Txn) error) (revision int64, err error) {
	for try := range updateTries {
		t := s.Txn()
		if err := decide(t); err != nil || len(t.ops) == 0 {
			return 0, err
		}
		revision, done, err := s.Commit(ctx, subject, t)
		if LeaseGone(err) && t.LeaseLost != nil {
			t.LeaseLost()
		} else if err != nil || done {
			return revision, err
		}
		if !Sleep(ctx, rand.N(min(time.Millisecond<<min(try, 10), maxBackoff))) {
			return 0, context.Cause(ctx)
		}
	}
	return 0, common.Errorf(common.CodeConflict, "%s changes too fast; try again", subject).WithReason("busy")
}

// Rewrite replaces each value below a prefix for which change returns a new one, with an audit entry, and returns
// their number. change gets the stored value, and is called again after a conflict.
func Rewrite[T any](ctx context.Context, s *Store, actor common.Actor, verb, kind, prefix string,
	change func(*mvccpb.KeyValue) (name string, value *T, err error)) (n int, err error) {
	_, err = Each(ctx, s.Client, prefix, func(listed *mvccpb.KeyValue) error {
		key := string(listed.Key)
		revision, err := s.Update(ctx, kind+" "+common.Excerpt(key), func(t *Txn) error {
			kv, err := Get(ctx, s.Client, key)
			if err != nil || kv == nil {
				return err
			}
			name, value, err := change(kv)
			if err == nil && value != nil {
				Swap(t, key, kv, value)
				t.Audit(actor, verb, kind, name, nil, nil)
			}
			return err
		})
		if revision != 0 {
			n++
		}
		return err
	})
	return n, err
}

// Commit executes a transaction once; done is false if its compares failed. If the response is lost, it reads
// whether the transaction was applied.
func (s *Store) Commit(ctx context.Context, subject string, t *Txn) (revision int64, done bool, err error) {
	if t.err != nil {
		return 0, false, fmt.Errorf("encode %s: %w", subject, t.err)
	}
	call, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var out outcome
	if s.Batch != nil && fits(t) {
		out = s.Batch.commit(call, subject, t)
	} else {
		out = commit(call, s.Client, []*Txn{t})[0]
	}
	unsure := out.err != nil && !out.unsent && OutcomeUnknown(out.err)
	if unsure {
		if at := s.applied(ctx, t); at != 0 {
			out, unsure = outcome{revision: at, done: true}, false
		}
	}
	switch {
	case unsure:
		return 0, false, common.Errorf(common.CodeUnavailable,
			"etcd did not answer: outcome unknown, the request may have been applied or be applied shortly").
			WithReason("unsure").WithCause(fmt.Errorf("write %s: %w: %w", subject, common.ErrUnsure, out.err)).
			WithHint("read the present state; a request with an Idempotency-Key can be repeated")
	case out.unsent && ctx.Err() == nil:
		return 0, false, common.Errorf(common.CodeTooMany, "too many changes are queued before this one of %s",
			subject).WithReason("not_begun").WithCause(out.err).WithHint("nothing was changed; try again in a moment")
	case out.err != nil:
		return 0, false, Wrap(fmt.Errorf("write %s: %w", subject, out.err))
	}
	if out.done && t.audited && s.Changed != nil {
		s.Changed()
	}
	return out.revision, out.done, nil
}

// applied returns the revision at which a transaction was applied whose response was lost, or 0 if that cannot
// be seen, or not yet.
func (s *Store) applied(ctx context.Context, t *Txn) int64 {
	kvs, err := GetAll(ctx, s.Client, slices.Collect(maps.Keys(t.unique)))
	if err != nil {
		return 0
	}
	for _, kv := range kvs {
		if bytes.Equal(kv.Value, t.unique[string(kv.Key)]) {
			return kv.ModRevision
		}
	}
	return 0
}
