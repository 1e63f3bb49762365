package joblock

import (
	"context"
	"encoding/json"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/request"
)

// Retaker re-takes a worker's own runs after its lease expired or one of their locks was deleted.
type Retaker struct {
	txns
	session *Session
}

// NewRetaker returns a retaker that locks under the session. trouble receives the error of every try that etcd did not
// answer.
func NewRetaker(client *clientv3.Client, session *Session, trouble func(error)) *Retaker {
	return &Retaker{txns: newTxns(client, trouble, noClock), session: session}
}

// Retake puts the locks of up to MaxBatch runs under a lease. It also writes their records again, so that workers that
// saw them as orphans restart their waiting time. It retries for a few seconds. For each run it returns nil,
// common.ErrNotOurs if it was resolved meanwhile, or another error: then the outcome is unknown, and a repetition does
// no harm.
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
		nested[i] = nestedTxn{op: request.Txn([]request.Compare{request.Same(key, runs[i].Token)}, []request.Op{
			request.PutUnder(common.LockKey(record.Job, record.Run), owner, clientv3.LeaseID(lease)),
			request.Put(key, data),
		}, nil), size: len(data)}
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
			errs[i] = etcdkit.Wrap(fmt.Errorf("re-take run %s: %w", runs[i].Record.Run, a.err))
		case !a.succeeded:
			errs[i] = common.ErrNotOurs
		}
	}
	return errs
}

// Held returns the keys under a lease.
func (r *Retaker) Held(ctx context.Context, lease int64) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := r.client.TimeToLive(ctx, clientv3.LeaseID(lease), clientv3.WithAttachedKeys())
	if err != nil {
		return nil, etcdkit.Wrap(fmt.Errorf("list the keys of the lease: %w", err))
	}
	if resp.TTL <= 0 { // the keep-alive reports it too
		return nil, common.Errorf(common.CodeUnavailable, "the lease has expired")
	}
	held := make(map[string]bool, len(resp.Keys))
	for _, key := range resp.Keys {
		held[string(key)] = true
	}
	return held, nil
}
