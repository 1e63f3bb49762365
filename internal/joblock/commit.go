package joblock

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit"
)

const (
	// MaxBatch is the most nested transactions that share one outer one. etcd's
	// default limit of 128 operations is counted over the nested ones as well.
	MaxBatch = 100
	// maxBytes is the most that the values of one outer transaction weigh; etcd's
	// default limit is 1.5 MiB, of which an entry takes a part for itself.
	maxBytes = 512 << 10
)

// nestedTxn is one of the transactions of a batch, and the weight of its values.
type nestedTxn struct {
	op   clientv3.Op
	size int
}

// answer is what etcd said to one nested transaction. Lost says that an earlier try was
// not answered: it may have been applied.
type answer struct {
	succeeded bool
	lost      bool
	responses []*etcdserverpb.ResponseOp
	revision  int64
	err       error
}

// commit sends nested transactions, in as few outer ones as their weight allows, until etcd
// has answered. It tries again as often as an answer was lost, which the transactions must
// bear: their own writes make their compares fail. A batch that etcd refuses for good
// is split, so that one bad member does not take the others with it. No two of
// the nested may touch the same job: etcd evaluates all compares before the first write.
// trouble hears of every try that was not answered.
func commit(ctx context.Context, client *clientv3.Client, trouble func(error), nested []nestedTxn) []answer {
	answers := make([]answer, 0, len(nested))
	for len(nested) > 0 {
		n, size := 1, nested[0].size
		for n < len(nested) && size+nested[n].size <= maxBytes {
			size += nested[n].size
			n++
		}
		answers = append(answers, commitBatch(ctx, client, trouble, nested[:n])...)
		nested = nested[n:]
	}
	return answers
}

func commitBatch(ctx context.Context, client *clientv3.Client, trouble func(error), nested []nestedTxn) []answer {
	ops := make([]clientv3.Op, len(nested))
	for i := range nested {
		ops[i] = nested[i].op
	}
	resp, lost, err := commitOnce(ctx, client, trouble, ops)
	if err != nil && len(nested) > 1 && ctx.Err() == nil && !etcdkit.LeaseGone(err) {
		half := len(nested) / 2
		return append(commitBatch(ctx, client, trouble, nested[:half]), commitBatch(ctx, client, trouble, nested[half:])...)
	}
	answers := make([]answer, len(nested))
	for i := range answers {
		if err != nil {
			answers[i].err = err
			continue
		}
		inner := resp.Responses[i].GetResponseTxn()
		answers[i] = answer{succeeded: inner.Succeeded, lost: lost, responses: inner.Responses, revision: resp.Header.Revision}
	}
	return answers
}

func commitOnce(ctx context.Context, client *clientv3.Client, trouble func(error), nested []clientv3.Op) (resp *clientv3.TxnResponse, lost bool, err error) {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := client.Txn(callCtx).Then(nested...).Commit()
		cancel()
		switch {
		case err == nil:
			return resp, lost, nil
		case !etcdkit.Ambiguous(err):
			return nil, lost, fmt.Errorf("commit a batch of %d: %w", len(nested), err)
		}
		lost = true
		trouble(err)
		if !etcdkit.Sleep(ctx, wait) {
			return nil, lost, fmt.Errorf("commit a batch of %d: %w (last answer: %w)", len(nested), context.Cause(ctx), err)
		}
	}
}
