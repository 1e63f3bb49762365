package joblock

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/request"
)

// putSuccess writes the last success of a job that others name in after. A finish needs no further compare for it: the
// run is its own.
func putSuccess(run *common.Run) (op request.Op, size int, err error) {
	data, err := json.Marshal(common.SuccessOf(run))
	if err != nil {
		return nil, 0, fmt.Errorf("encode success of %s: %w", run.ID, err)
	}
	return request.Put(common.SucceededKey(run.Job), data), len(data), nil
}

// Chainer commits the fires of jobs whose parents have succeeded.
type Chainer struct {
	txns
	guard guard
}

// NewChainer returns a chainer for a worker. trouble receives the error of every try that etcd did not answer. gate may
// be nil.
func NewChainer(client *clientv3.Client, worker string, trouble func(error), gate Gate) *Chainer {
	return &Chainer{txns: newTxns(client, trouble, noClock), guard: registered(gate, worker)}
}

// Fire commits up to MaxBatch fires of different jobs, and returns for each whether it was granted. It repeats a
// transaction that etcd did not answer until the context ends; one that was applied then counts as not granted.
func (c *Chainer) Fire(ctx context.Context, fires []common.AfterFire) (granted []bool, err error) {
	nested := make([]nestedTxn, len(fires))
	for i := range fires {
		if nested[i], err = fireOp(&fires[i]); err != nil {
			return nil, err
		}
	}
	granted = make([]bool, len(fires))
	for i, a := range c.commit(ctx, nested, c.guard) {
		granted[i] = a.succeeded
		if a.err != nil {
			err = a.err
		}
	}
	return granted, err
}

// fireOp returns the transaction of a fire. Its own write makes it fail when it is repeated.
func fireOp(f *common.AfterFire) (nestedTxn, error) {
	compares := []request.Compare{
		request.Unchanged(common.AfterKey(f.Job), f.Seen),
		request.Unchanged(common.JobKey(f.Job), f.Version),
	}
	value, err := json.Marshal(&f.After)
	if err != nil {
		return nestedTxn{}, fmt.Errorf("encode consumed successes of job %q: %w", f.Job, err)
	}
	puts, size := []request.Op{request.Put(common.AfterKey(f.Job), value)}, len(value)
	if t := f.Trigger; t != nil {
		data, err := json.Marshal(t)
		if err != nil {
			return nestedTxn{}, fmt.Errorf("encode trigger of %s: %w", t.RunID(), err)
		}
		key := common.TriggerKey(t.Job, t.ID)
		compares = append(compares, request.Absent(key))
		puts, size = append(puts, request.Put(key, data)), size+len(data)
	}
	for _, parent := range slices.Sorted(maps.Keys(f.Successes)) {
		compares = append(compares, request.Unchanged(common.SucceededKey(parent), f.Successes[parent]))
	}
	return nestedTxn{op: request.Txn(compares, puts, nil), size: size}, nil
}

// FollowSuccesses sends all successes and every change to the receiver until the context ends. report is as in
// FollowTriggers.
func FollowSuccesses(ctx context.Context, client *clientv3.Client, report func(error),
	receive func(context.Context, common.JobValues[common.Success]) error) error {
	return followJobs(ctx, client, common.SucceededPrefix, report, receive,
		func(kv *mvccpb.KeyValue) (common.Success, error) { return common.Decode[common.Success](kv.Value) })
}

// FollowConsumed does the same with the successes that jobs have consumed.
func FollowConsumed(ctx context.Context, client *clientv3.Client, report func(error),
	receive func(context.Context, common.JobValues[common.After]) error) error {
	return followJobs(ctx, client, common.AfterPrefix, report, receive,
		func(kv *mvccpb.KeyValue) (common.After, error) { return common.DecodeAfter(kv.Value, kv.ModRevision) })
}

// followJobs follows a prefix with one key for each job. A value that does not decode counts as deleted.
func followJobs[T any](ctx context.Context, client *clientv3.Client, prefix string, report func(error),
	receive func(context.Context, common.JobValues[T]) error, decode func(*mvccpb.KeyValue) (T, error)) error {
	watch := etcdkit.Watch{Client: client, Prefix: prefix, Report: report}
	return watch.Follow(ctx, func(ctx context.Context, u etcdkit.Changes) error {
		news := common.JobValues[T]{Whole: u.Whole}
		for _, kv := range u.Puts {
			job, value := string(kv.Key[len(prefix):]), common.JobValue[T]{Revision: kv.ModRevision}
			var err error
			if value.Value, err = decode(kv); err != nil {
				report(fmt.Errorf("decode %.200q: %w", kv.Key, err))
				news.Gone = append(news.Gone, job)
				continue
			}
			value.Job = job
			news.Put = append(news.Put, value)
		}
		for _, kv := range u.Deletes {
			news.Gone = append(news.Gone, string(kv.Key[len(prefix):]))
		}
		return receive(ctx, news)
	})
}
