package joblock

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Finisher resolves the worker's own runs.
type Finisher struct {
	client  *clientv3.Client
	worker  string
	trouble func(error)
}

// NewFinisher makes a finisher for a worker. trouble hears of every try that etcd did not answer.
func NewFinisher(client *clientv3.Client, worker string, trouble func(error)) *Finisher {
	return &Finisher{client: client, worker: worker, trouble: trouble}
}

// Finish commits up to MaxBatch outcomes of different jobs. It is called when the
// run's processes are gone. For each it tells nil, common.ErrNotOurs, or why it could not
// be written; while etcd does not answer it tries again until the context ends.
func (f *Finisher) Finish(ctx context.Context, outcomes []common.Outcome) []error {
	errs := make([]error, len(outcomes))
	nested := make([]clientv3.Op, len(outcomes))
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
	for i, a := range commit(ctx, f.client, f.trouble, nested) {
		switch {
		case a.err != nil:
			errs[i] = a.err
		case !a.succeeded && len(a.responses[0].GetResponseRange().GetKvs()) == 0:
			// Nothing of ours stands: this is the answer to a try whose first answer was
			// lost and whose outcome was delivered since, or somebody else resolved the run.
			errs[i] = common.ErrNotOurs
		}
	}
	return errs
}

func (f *Finisher) op(o *common.Outcome) (clientv3.Op, error) {
	job, run := o.Run.Job, o.Run.ID
	put, err := putOutcome(f.worker, &o.Run)
	if err != nil {
		return clientv3.Op{}, err
	}
	return clientv3.OpTxn(
		[]clientv3.Cmp{etcdkit.Same(common.RecordKey(job, run), o.Token)},
		[]clientv3.Op{
			clientv3.OpDelete(common.LockKey(job, run)),
			clientv3.OpDelete(common.RecordKey(job, run)),
			clientv3.OpDelete(common.KillKey(f.worker, run)),
			put,
		},
		[]clientv3.Op{clientv3.OpGet(common.OutboxKey(f.worker, run), clientv3.WithKeysOnly())}), nil
}
