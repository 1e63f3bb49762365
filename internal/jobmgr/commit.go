package jobmgr

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// writeOps returns the operations that put or delete the job and record the change, both with the fields that
// a newer version wrote. held is the present value.
func (s *Store) writeOps(actor common.Actor, verb string, before, after *common.StoredJob,
	held []byte) ([]clientv3.Op, error) {
	var name string
	var from, to any
	if before != nil {
		name, from = before.Name, before
		if json.Valid(held) {
			from = json.RawMessage(held)
		}
	}
	var data []byte
	if after != nil {
		var err error
		if data, err = common.EncodeOver(held, after); err != nil {
			return nil, fmt.Errorf("encode job %q: %w", after.Name, err)
		}
		name, to = after.Name, json.RawMessage(data)
	}
	change, err := s.changeOp(actor, verb, "job", name, from, to)
	if err != nil {
		return nil, err
	}
	if after == nil {
		return []clientv3.Op{clientv3.OpDelete(common.JobKey(name)), change}, nil
	}
	return []clientv3.Op{clientv3.OpPut(common.JobKey(name), string(data)), change}, nil
}

func (s *Store) changeOp(actor common.Actor, verb, kind, name string, before, after any) (clientv3.Op, error) {
	change, err := common.NewChange(s.cfg.Now().UTC(), actor, verb, kind, name, before, after)
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("encode change of %s %q: %w", kind, name, err)
	}
	data, err := json.Marshal(change)
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("encode change of %s %q: %w", kind, name, err)
	}
	return clientv3.OpPut(common.ChangeKey(change.ID), string(data)), nil
}

// commit executes one transaction; done is false if its compares failed. If the response was lost, it checks
// whether the transaction was applied.
func (s *Store) commit(ctx context.Context, verb, name string, cmps []clientv3.Cmp, ops []clientv3.Op) (revision int64,
	done bool, err error) {
	call, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var out result
	if fits(cmps, ops) {
		out = s.batches.commit(call, name, cmps, ops)
	} else if resp, err := s.cfg.Client.Txn(call).If(cmps...).Then(ops...).Commit(); err != nil {
		out.err, out.unsure = err, etcdkit.MayBeDone(err)
	} else {
		out = result{revision: resp.Header.Revision, done: resp.Succeeded}
	}
	if out.unsure {
		if at := s.applied(ctx, ops); at != 0 {
			out = result{revision: at, done: true}
		}
	}
	switch {
	case out.unsure:
		return 0, false, &common.Error{
			Code:    common.CodeUnavailable,
			Reason:  "unsure",
			Message: "etcd did not answer: outcome unknown, the request may have been applied or be applied shortly",
			Hint:    "read the present state; a request with an Idempotency-Key can be repeated",
			Err:     fmt.Errorf("%s job %q: %w: %w", verb, name, common.ErrUnsure, out.err),
		}
	case out.unsent && ctx.Err() == nil:
		return 0, false, &common.Error{
			Code:    common.CodeTooMany,
			Reason:  "not_begun",
			Message: fmt.Sprintf("too many changes are queued before this one of %q", name),
			Hint:    "nothing was changed; try again in a moment",
			Err:     out.err,
		}
	case out.err != nil:
		return 0, false, etcdkit.Wrap(fmt.Errorf("%s job %q: %w", verb, name, out.err))
	}
	if out.done && s.cfg.Changed != nil {
		s.cfg.Changed()
	}
	return out.revision, out.done, nil
}

// applied returns the revision at which a transaction was applied whose response was lost, or zero if that
// cannot be was, or not yet. Except for cursors, the values that it puts are unique: they contain ids, or
// times and names.
func (s *Store) applied(ctx context.Context, ops []clientv3.Op) int64 {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	for _, op := range ops {
		key := string(op.KeyBytes())
		if !op.IsPut() || strings.HasPrefix(key, common.CursorPrefix) {
			continue
		}
		resp, err := s.cfg.Client.Get(ctx, key)
		if err != nil {
			return 0
		}
		for _, kv := range resp.Kvs {
			if bytes.Equal(kv.Value, op.ValueBytes()) {
				return kv.ModRevision
			}
		}
	}
	return 0
}

// expect makes lists of this master contain its change of a job.
func (s *Store) expect(revision int64, done bool) {
	if done {
		s.cfg.Catalog.Expect(revision)
	}
}
