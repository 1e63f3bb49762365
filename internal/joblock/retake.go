package joblock

import (
	"context"
	"encoding/json"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Retaker takes a worker's own runs back after its lease was lost, or a lock of it.
type Retaker struct {
	txns
	session *Session
}

// NewRetaker makes a retaker that locks under the session. trouble hears of every try that etcd did not answer.
func NewRetaker(client *clientv3.Client, session *Session, trouble func(error)) *Retaker {
	return &Retaker{txns: txns{client, trouble, noClock}, session: session}
}

// Retake puts the locks of up to MaxBatch runs of different jobs under a lease, and their records
// again, so that whoever saw them as orphans begins to wait anew. It tries for a few seconds. For each
// run it tells nil, common.ErrNotOurs where it was resolved meanwhile, or what went wrong:
// then it may have been taken back, and to do so again does no harm.
func (r *Retaker) Retake(ctx context.Context, lease int64, runs []common.Retake) []error {
	errs := make([]error, len(runs))
	fail := func(err error) []error {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	nested := make([]nestedTxn, len(runs))
	for i := range runs {
		record := &runs[i].Record
		owner, err := json.Marshal(&record.Owner)
		if err != nil {
			return fail(fmt.Errorf("encode owner of %s: %w", record.Run, err))
		}
		data, err := json.Marshal(record)
		if err != nil {
			return fail(fmt.Errorf("encode record of %s: %w", record.Run, err))
		}
		key := common.RecordKey(record.Job, record.Run)
		nested[i] = nestedTxn{clientv3.OpTxn([]clientv3.Cmp{etcdkit.Same(key, runs[i].Token)}, []clientv3.Op{
			clientv3.OpPut(common.LockKey(record.Job, record.Run), string(owner), clientv3.WithLease(clientv3.LeaseID(lease))),
			clientv3.OpPut(key, string(data)),
		}, nil), len(data)}
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	answers := r.commit(ctx, nested, unguarded)
	if leaseGone(answers) >= 0 {
		r.session.Invalidate(clientv3.LeaseID(lease))
	}
	for i, a := range answers {
		switch {
		case a.err != nil:
			errs[i] = etcdkit.Wrap(fmt.Errorf("take run %s back: %w", runs[i].Record.Run, a.err))
		case !a.succeeded:
			errs[i] = common.ErrNotOurs
		}
	}
	return errs
}

// Held lists the keys of a lease, as etcd has them.
func (r *Retaker) Held(ctx context.Context, lease int64) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := r.client.TimeToLive(ctx, clientv3.LeaseID(lease), clientv3.WithAttachedKeys())
	if err != nil {
		return nil, etcdkit.Wrap(fmt.Errorf("list the keys of the lease: %w", err))
	}
	if resp.TTL <= 0 { // the keep-alive will hear of it
		return nil, common.Errorf(common.CodeUnavailable, "the lease is gone")
	}
	held := make(map[string]bool, len(resp.Keys))
	for _, key := range resp.Keys {
		held[string(key)] = true
	}
	return held, nil
}
