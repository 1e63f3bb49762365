package joblock

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Finisher resolves the worker's own runs.
type Finisher struct {
	txns
	worker string
}

// NewFinisher makes a finisher for a worker. trouble hears of every try that etcd did not answer.
func NewFinisher(client *clientv3.Client, worker string, trouble func(error)) *Finisher {
	return &Finisher{txns: txns{client, trouble, noClock}, worker: worker}
}

// Finish commits up to MaxBatch outcomes of different jobs. It is called when the
// run's processes are gone. For each it tells nil, common.ErrNotOurs, or why it could not
// be written; while etcd does not answer it tries again until the context ends. Of a run
// that was not ours any more a note is left of how it ended.
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

// wrote tells whether what the outbox holds of a run is this outcome, put by a try whose
// answer was lost. Otherwise it was delivered since, or somebody else resolved the run,
// another life of this very worker perhaps.
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
	resolve := []clientv3.Op{
		clientv3.OpDelete(common.LockKey(job, run)),
		clientv3.OpDelete(common.RecordKey(job, run)),
		clientv3.OpDelete(common.KillKey(f.worker, run)),
	}
	if o.Next == nil || !o.Unbegun {
		resolve = append(resolve, put)
	}
	if o.Next != nil {
		var instead []clientv3.Op
		if o.Unbegun {
			instead = []clientv3.Op{put}
		}
		// Somebody may have wished the run to end whom we did not hear: what is killed is not run again.
		follow, more, err := followOp(o.Next, o.Created, instead, etcdkit.Absent(common.KillKey(f.worker, run)))
		if err != nil {
			return nestedTxn{}, err
		}
		resolve, size = append(resolve, follow), size+more
	}
	return nestedTxn{clientv3.OpTxn([]clientv3.Cmp{etcdkit.Same(common.RecordKey(job, run), o.Token)}, resolve,
		[]clientv3.Op{clientv3.OpGet(common.OutboxKey(f.worker, run))}), size}, nil
}

// followOp puts the trigger for a next attempt, as long as the job is the one whose
// creation was seen, and under further conditions; otherwise it does what is to be done instead. They
// are looked at before anything of the whole transaction is written.
func followOp(next *common.Trigger, created int64, instead []clientv3.Op, unless ...clientv3.Cmp) (op clientv3.Op, size int, err error) {
	data, err := json.Marshal(next)
	if err != nil {
		return clientv3.Op{}, 0, fmt.Errorf("encode trigger of %s: %w", next.RunID(), err)
	}
	return clientv3.OpTxn(append(unless, etcdkit.Same(common.JobKey(next.Job), created)),
		[]clientv3.Op{clientv3.OpPut(common.TriggerKey(next.Job, next.ID), string(data))}, instead), len(data), nil
}
