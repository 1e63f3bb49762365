package joblock

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit/request"
)

// Finisher resolves the worker's own runs.
type Finisher struct {
	txns
	worker string
}

// NewFinisher returns a finisher for a worker. trouble receives the error of every try that etcd did not answer.
func NewFinisher(client *clientv3.Client, worker string, trouble func(error)) *Finisher {
	return &Finisher{txns: newTxns(client, trouble, noClock), worker: worker}
}

// Finish commits up to MaxBatch outcomes of different runs. It must be called only after all processes of the runs have
// ended. For each outcome it returns nil, common.ErrNotOurs, or why it could not be written; while etcd does not answer
// it retries until the context ends. For a run that others have resolved it writes a late end.
func (f *Finisher) Finish(ctx context.Context, outcomes []common.Outcome) []error {
	errs := make([]error, len(outcomes))
	nested := make([]nestedTxn, len(outcomes))
	for i := range outcomes {
		op, err := f.op(&outcomes[i])
		if err != nil {
			for i := range errs {
				errs[i] = err
			}
			return errs
		}
		nested[i] = op
	}
	var late []common.LateEnd
	for i, a := range f.commit(ctx, nested, unguarded) {
		switch {
		case a.err != nil:
			errs[i] = a.err
		case !a.succeeded && !f.wrote(&outcomes[i], first(a.responses[0])):
			errs[i] = common.ErrNotOurs
			if !outcomes[i].Unbegun {
				late = append(late, outcomes[i].Run.Late())
			}
		}
	}
	f.note(ctx, late)
	return errs
}

// wrote reports whether the run's entry in the outbox is this outcome, written by a try whose answer was lost.
// Otherwise the outcome was delivered since, or another worker or incarnation resolved the run.
func (f *Finisher) wrote(o *common.Outcome, kv *mvccpb.KeyValue) bool {
	if kv == nil {
		return false
	}
	data, err := json.Marshal(&o.Run)
	return err == nil && bytes.Equal(data, kv.Value)
}

func (f *Finisher) op(o *common.Outcome) (nestedTxn, error) {
	job, run := o.Run.Job, o.Run.ID
	put, size, err := putOutcome(f.worker, &o.Run)
	if err != nil {
		return nestedTxn{}, err
	}
	resolve := []request.Op{
		request.Delete(common.LockKey(job, run)),
		request.Delete(common.RecordKey(job, run)),
		request.Delete(common.KillKey(f.worker, run)),
	}
	resolve = append(resolve, freeSlots(o.Pool)...)
	ended, more, err := endNode(&o.Run)
	if err != nil {
		return nestedTxn{}, err
	}
	size += more
	if o.Next == nil || !o.Unbegun {
		resolve = append(resolve, put)
	}
	if o.Next == nil {
		resolve = append(resolve, ended...)
	}
	if o.Success {
		success, more, err := putSuccess(&o.Run)
		if err != nil {
			return nestedTxn{}, err
		}
		resolve, size = append(resolve, success), size+more
	}
	if o.Next != nil {
		instead := ended
		if o.Unbegun {
			instead = append(instead, put)
		}
		var unless []request.Compare
		if o.Next.Replica() == "" {
			// There may be a kill request that was not received: a killed run has no further attempt.
			unless = append(unless, request.Absent(common.KillKey(f.worker, run)))
		}
		follow, more, err := followOp(o.Next, o.Created, instead, unless...)
		if err != nil {
			return nestedTxn{}, err
		}
		resolve, size = append(resolve, follow), size+more
	}
	depth := 0
	if o.Pool != nil {
		depth = finishDepth + len(o.Pool.Indexes)
	}
	return nestedTxn{
		op: request.Txn([]request.Compare{request.Same(common.RecordKey(job, run), o.Token)}, resolve,
			[]request.Op{request.Get(common.OutboxKey(f.worker, run))}),
		size:  size,
		depth: depth,
	}, nil
}

// endNode returns the write that marks the node of a run as ended; none for a run that belongs to no flow run.
func endNode(run *common.Run) (ops []request.Op, size int, err error) {
	if run.Flow == nil {
		return nil, 0, nil
	}
	data, err := json.Marshal(common.EndOf(*run.Flow, run))
	if err != nil {
		return nil, 0, fmt.Errorf("encode the node of %s: %w", run.ID, err)
	}
	return []request.Op{request.Put(common.FlowNodeKey(run.Flow.Run, run.Flow.Node), data)}, len(data), nil
}

// followOp puts the trigger for a next attempt if the job, or the flow run of an inline step, has the given
// CreateRevision and further compares succeed; otherwise it executes instead. The compares are evaluated before any
// write of the transaction.
func followOp(next *common.Trigger, created int64, instead []request.Op, unless ...request.Compare) (op request.Op,
	size int, err error) {
	data, err := json.Marshal(next)
	if err != nil {
		return nil, 0, fmt.Errorf("encode trigger of %s: %w", next.RunID(), err)
	}
	lives := request.Same(common.JobKey(next.Job), created)
	if next.Flow != nil && next.Flow.Inline(next.Job) {
		lives = sameHead(next.Flow)
	}
	return request.Txn(append(unless, lives),
		[]request.Op{request.Put(common.TriggerKey(next.Job, next.ID), data)}, instead), len(data), nil
}
