package joblock

import (
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"carillon/internal/common"
	"carillon/internal/etcdkit/request"
)

// part is a list of operations of a claim's transaction with the decoder of their answer, so that neither is changed
// without the other.
type part struct {
	ops    []request.Op
	decode decoder
}

// decoder converts the answer to the operations of a part to the result of the claim.
type decoder func(answer) common.ClaimResult

// verdict returns a part with a fixed verdict, and the outcomes among what it writes.
func verdict(v common.Verdict, ops []request.Op, written ...*common.Run) part {
	return part{ops, func(answer) common.ClaimResult { return common.ClaimResult{Verdict: v, Written: list(written)} }}
}

// either returns a transaction that executes one of two parts.
func either(compares []request.Compare, then, otherwise part) part {
	return part{[]request.Op{request.Txn(compares, then.ops, otherwise.ops)}, func(a answer) common.ClaimResult {
		inner := a.responses[0].GetResponseTxn()
		a.succeeded, a.responses = inner.Succeeded, inner.Responses
		return decodeEither(a, then, otherwise)
	}}
}

// decodeEither decodes the answer of a transaction by the part that was executed.
func decodeEither(a answer, then, otherwise part) common.ClaimResult {
	if a.succeeded {
		return then.decode(a)
	}
	return otherwise.decode(a)
}

// and appends operations whose answers are not decoded.
func (p part) and(ops ...request.Op) part {
	p.ops = append(p.ops, ops...)
	return p
}

// list returns the runs that are not nil.
func list(runs []*common.Run) (all []common.Run) {
	for _, run := range runs {
		if run != nil {
			all = append(all, *run)
		}
	}
	return all
}

// first returns the value that a get found, or nil.
func first(op *etcdserverpb.ResponseOp) *mvccpb.KeyValue {
	kvs := op.GetResponseRange().GetKvs()
	if len(kvs) == 0 {
		return nil
	}
	return kvs[0]
}
