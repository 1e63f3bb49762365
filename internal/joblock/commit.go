package joblock

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit"
)

// MaxBatch is the most nested transactions that share one outer one. etcd's
// default limit of 128 operations is counted over the nested ones as well.
const MaxBatch = 100

// answer is what etcd said to one nested transaction.
type answer struct {
	succeeded bool
	responses []*etcdserverpb.ResponseOp
	revision  int64
	err       error
}

// commit sends nested transactions in one outer one until etcd has answered. It
// tries again as often as an answer was lost, which the transactions must bear:
// their own writes make their compares fail. A batch that etcd refuses for good
// is split, so that one bad member does not take the others with it. No two of
// the nested may touch the same job: etcd evaluates all compares before the first write.
// trouble hears of every try that was not answered.
func commit(ctx context.Context, client *clientv3.Client, trouble func(error), nested []clientv3.Op) []answer {
	resp, err := commitOnce(ctx, client, trouble, nested)
	if err != nil && len(nested) > 1 && ctx.Err() == nil && !etcdkit.LeaseGone(err) {
		half := len(nested) / 2
		return append(commit(ctx, client, trouble, nested[:half]), commit(ctx, client, trouble, nested[half:])...)
	}
	answers := make([]answer, len(nested))
	for i := range answers {
		if err != nil {
			answers[i].err = err
			continue
		}
		inner := resp.Responses[i].GetResponseTxn()
		answers[i] = answer{succeeded: inner.Succeeded, responses: inner.Responses, revision: resp.Header.Revision}
	}
	return answers
}

func commitOnce(ctx context.Context, client *clientv3.Client, trouble func(error), nested []clientv3.Op) (*clientv3.TxnResponse, error) {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := client.Txn(callCtx).Then(nested...).Commit()
		cancel()
		switch {
		case err == nil:
			return resp, nil
		case !etcdkit.Ambiguous(err):
			return nil, fmt.Errorf("commit a batch of %d: %w", len(nested), err)
		}
		trouble(err)
		if !etcdkit.Sleep(ctx, wait) {
			return nil, fmt.Errorf("commit a batch of %d: %w (last answer: %w)", len(nested), context.Cause(ctx), err)
		}
	}
}
