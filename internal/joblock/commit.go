package joblock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/request"
)

const (
	// MaxBatch is the most nested transactions that share one outer one. etcd's
	// default limit of 128 operations is counted over the nested ones as well.
	MaxBatch = 100
	// maxBytes is the most that the values of one outer transaction weigh; etcd's
	// default limit is 1.5 MiB, of which an entry takes a part for itself.
	maxBytes = 512 << 10
)

// txns commit transactions.
type txns struct {
	client  *clientv3.Client
	kv      request.KV
	trouble func(error)          // receives the error of every try that was not answered
	clock   func() time.Duration // for the times at which tries were sent
}

func newTxns(client *clientv3.Client, trouble func(error), clock func() time.Duration) txns {
	return txns{client, request.Of(client), trouble, clock}
}

// noClock is the clock of callers that do not use the time of a try.
func noClock() time.Duration { return 0 }

// nestedTxn is one of the transactions of a batch, and the size of its values.
type nestedTxn struct {
	op   request.Op
	size int
	// depth is the number of operations on its deepest path, if it may have more than maxTxnOps leaves beside MaxBatch
	// nested transactions; 0 otherwise.
	depth int
}

// maxTxnOps is etcd's default limit of operations, counted along each path of nested transactions.
const maxTxnOps = 128

// answer is etcd's answer to one nested transaction. Lost reports that an earlier try was not answered and may have
// been applied.
type answer struct {
	succeeded bool
	lost      bool
	sent      time.Duration // when, on the given clock, the try that was answered was sent
	responses []*etcdserverpb.ResponseOp
	revision  int64
	err       error
}

// commit sends nested transactions, in as few outer ones as their size allows, until etcd has answered. It repeats a
// transaction whose answer was lost, so the transactions must be idempotent: their own writes make their compares fail.
// The guard is called before each try; if one of its compares fails, nothing is written (errUnregistered). A batch that
// etcd refuses permanently is split, so that one invalid member does not affect the others. No nested
// transaction may write what another one compares: etcd evaluates all compares before the first write.
func (t txns) commit(ctx context.Context, nested []nestedTxn, guard guard) []answer {
	answers := make([]answer, 0, len(nested))
	for len(nested) > 0 {
		n, size, depth := 1, nested[0].size, nested[0].depth
		for n < len(nested) && size+nested[n].size <= maxBytes && n+1+max(depth, nested[n].depth) <= maxTxnOps {
			size, depth = size+nested[n].size, max(depth, nested[n].depth)
			n++
		}
		answers = append(answers, t.commitBatch(ctx, nested[:n], guard)...)
		nested = nested[n:]
	}
	return answers
}

// guard returns additional compares of a batch, or why it must not be sent.
type guard func() ([]request.Compare, error)

// unguarded is the guard of batches without additional compares.
func unguarded() ([]request.Compare, error) { return nil, nil }

// refusal is the error of a guard that prevented a batch.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// refused reports whether a guard prevented a batch; it prevents each part of it as well.
func refused(err error) bool {
	_, unsent := errors.AsType[refusal](err)
	return unsent || errors.Is(err, errUnregistered)
}

// errUnregistered is returned if a compare of the guard failed.
var errUnregistered = errors.New("the registration of this worker is not the one that it wrote")

func (t txns) commitBatch(ctx context.Context, nested []nestedTxn, guard guard) []answer {
	ops := make([]request.Op, len(nested))
	for i := range nested {
		ops[i] = nested[i].op
	}
	resp, sent, lost, err := t.commitOnce(ctx, ops, guard)
	if err != nil && len(nested) > 1 && ctx.Err() == nil && !etcdkit.LeaseGone(err) && !refused(err) {
		half := len(nested) / 2
		return append(t.commitBatch(ctx, nested[:half], guard), t.commitBatch(ctx, nested[half:], guard)...)
	}
	answers := make([]answer, len(nested))
	for i := range answers {
		if err != nil {
			answers[i].err = err
			continue
		}
		inner := resp.Responses[i].GetResponseTxn()
		answers[i] = answer{
			succeeded: inner.Succeeded,
			lost:      lost,
			sent:      sent,
			responses: inner.Responses,
			revision:  resp.Header.Revision,
		}
	}
	return answers
}

func (t txns) commitOnce(ctx context.Context, nested []request.Op, guard guard) (resp *clientv3.TxnResponse,
	sent time.Duration, lost bool, err error) {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		compares, err := guard()
		if err != nil {
			return nil, 0, lost, refusal{err}
		}
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		sent := t.clock()
		resp, err := request.Commit(callCtx, t.kv, compares, nested)
		cancel()
		switch {
		case err == nil && !resp.Succeeded:
			return nil, 0, lost, errUnregistered
		case err == nil:
			return resp, sent, lost, nil
		case !etcdkit.Ambiguous(err):
			return nil, 0, lost, fmt.Errorf("commit a batch of %d: %w", len(nested), err)
		}
		lost = true
		t.trouble(err)
		if !etcdkit.Sleep(ctx, wait) {
			return nil, 0, lost, fmt.Errorf("commit a batch of %d: %w (last answer: %w)", len(nested),
				context.Cause(ctx), err)
		}
	}
}
