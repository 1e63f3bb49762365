package joblock

import (
	"context"
	"encoding/json"
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Claimer takes fires.
type Claimer struct {
	client  *clientv3.Client
	session *Session
	outbox  string // of this worker
	trouble func(error)
}

// NewClaimer makes a claimer that locks under the session and writes to the worker's
// outbox. trouble hears of every try that etcd did not answer.
func NewClaimer(client *clientv3.Client, session *Session, worker string, trouble func(error)) *Claimer {
	return &Claimer{client: client, session: session, outbox: worker, trouble: trouble}
}

// Claim commits up to MaxBatch claims of different jobs as one transaction. It
// returns when each is settled: while etcd does not answer it tries again until
// the context ends, and only then may a claim be undecided (Failed).
func (c *Claimer) Claim(ctx context.Context, claims []common.Claim) []common.ClaimResult {
	for {
		lease, err := c.session.Lease(ctx)
		if err != nil {
			return failed(len(claims), err)
		}
		nested := make([]clientv3.Op, len(claims))
		for i := range claims {
			op, err := c.op(&claims[i], lease)
			if err != nil {
				return failed(len(claims), err)
			}
			nested[i] = op
		}
		answers := commit(ctx, c.client, c.trouble, nested)
		if etcdkit.LeaseGone(answers[0].err) {
			c.session.Invalidate(lease)
			continue
		}
		results := make([]common.ClaimResult, len(claims))
		for i := range claims {
			results[i] = c.read(ctx, &claims[i], answers[i])
		}
		return results
	}
}

func failed(n int, err error) []common.ClaimResult {
	results := make([]common.ClaimResult, n)
	for i := range results {
		results[i].Err = err
	}
	return results
}

// op is the claim's nested transaction.
func (c *Claimer) op(claim *common.Claim, lease clientv3.LeaseID) (clientv3.Op, error) {
	job := claim.Job
	state := []clientv3.Op{clientv3.OpGet(common.JobKey(job)), clientv3.OpGet(common.CursorKey(job)),
		clientv3.OpGet(common.RecordKey(job, claim.Record.Run))}
	if claim.Trigger != nil {
		return c.triggerOp(claim, lease, state)
	}
	planned := []clientv3.Cmp{etcdkit.Unchanged(common.JobKey(job), claim.Version),
		clientv3.Compare(clientv3.Value(common.CursorKey(job)), "=", common.TimeKey(claim.From))}
	pass := []clientv3.Op{clientv3.OpPut(common.CursorKey(job), common.TimeKey(claim.To))}
	if claim.Gap != nil {
		put, err := putOutcome(c.outbox, claim.Gap)
		if err != nil {
			return clientv3.Op{}, err
		}
		pass = append(pass, put)
	}
	if claim.Record.Run == "" {
		state = state[:2]
		return clientv3.OpTxn(planned, pass, state), nil
	}
	run, err := startOps(claim, lease)
	if err != nil {
		return clientv3.Op{}, err
	}
	skip, err := putOutcome(c.outbox, &claim.Skipped)
	if err != nil {
		return clientv3.Op{}, err
	}
	overlap := clientv3.OpTxn([]clientv3.Cmp{etcdkit.NoneUnder(common.RecordsOf(job))}, run, []clientv3.Op{skip})
	return clientv3.OpTxn(planned, append([]clientv3.Op{overlap}, pass...), state), nil
}

// triggerOp leaves the cursor alone. Where an earlier run stands the trigger waits.
func (c *Claimer) triggerOp(claim *common.Claim, lease clientv3.LeaseID, state []clientv3.Op) (clientv3.Op, error) {
	key := common.TriggerKey(claim.Job, claim.Trigger.ID)
	seen := []clientv3.Cmp{etcdkit.Same(key, claim.TriggerRevision), etcdkit.Unchanged(common.JobKey(claim.Job), claim.Version)}
	run, err := startOps(claim, lease)
	if err != nil {
		return clientv3.Op{}, err
	}
	run = append(run, clientv3.OpDelete(key))
	free := clientv3.OpTxn([]clientv3.Cmp{etcdkit.NoneUnder(common.RecordsOf(claim.Job))}, run, nil)
	return clientv3.OpTxn(seen, []clientv3.Op{free}, state), nil
}

// startOps put lock and record, and read the job under which the run goes on.
func startOps(claim *common.Claim, lease clientv3.LeaseID) ([]clientv3.Op, error) {
	record, err := json.Marshal(&claim.Record)
	if err != nil {
		return nil, fmt.Errorf("encode record of %s: %w", claim.Record.Run, err)
	}
	lock, err := json.Marshal(&claim.Record.Owner)
	if err != nil {
		return nil, fmt.Errorf("encode lock of %s: %w", claim.Record.Run, err)
	}
	return []clientv3.Op{
		clientv3.OpGet(common.JobKey(claim.Job)),
		clientv3.OpPut(common.LockKey(claim.Job, claim.Record.Run), string(lock), clientv3.WithLease(lease)),
		clientv3.OpPut(common.RecordKey(claim.Job, claim.Record.Run), string(record)),
	}, nil
}

func putOutcome(outbox string, run *common.Run) (clientv3.Op, error) {
	data, err := json.Marshal(run)
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("encode outcome of %s: %w", run.ID, err)
	}
	return clientv3.OpPut(common.OutboxKey(outbox, run.ID), string(data)), nil
}

// read tells what a nested answer means.
func (c *Claimer) read(ctx context.Context, claim *common.Claim, a answer) common.ClaimResult {
	switch {
	case a.err != nil:
		return common.ClaimResult{Err: a.err}
	case !a.succeeded:
		return c.readStale(ctx, claim, a)
	case claim.Record.Run == "":
		return common.ClaimResult{Verdict: common.Passed}
	}
	inner := a.responses[0].GetResponseTxn()
	switch {
	case inner.Succeeded:
		return started(a.revision, first(inner.Responses[0]))
	case claim.Trigger != nil:
		return common.ClaimResult{Verdict: common.Blocked}
	default:
		return common.ClaimResult{Verdict: common.Skipped}
	}
}

func started(fence int64, job *mvccpb.KeyValue) common.ClaimResult {
	if job == nil {
		return common.ClaimResult{Err: fmt.Errorf("a claim of revision %d has no job", fence)}
	}
	stored, err := common.Decode[common.StoredJob](job.Value)
	if err != nil {
		return common.ClaimResult{Err: fmt.Errorf("decode job %s: %w", job.Key, err)}
	}
	return common.ClaimResult{Verdict: common.Claimed, Fence: fence, Job: stored}
}

// readStale looks at why the compares failed. If the record there has our nonce,
// an earlier try of this very claim went through and its answer was lost.
func (c *Claimer) readStale(ctx context.Context, claim *common.Claim, a answer) common.ClaimResult {
	job, cursor := first(a.responses[0]), first(a.responses[1])
	if len(a.responses) > 2 {
		if kv := first(a.responses[2]); kv != nil {
			if record, err := common.Decode[common.Record](kv.Value); err == nil && record.Nonce == claim.Record.Nonce {
				return c.startedBefore(ctx, claim, kv.CreateRevision, job)
			}
		}
	}
	if job == nil {
		return common.ClaimResult{Verdict: common.Stale}
	}
	state, err := jobState(job, cursor)
	if err != nil {
		return common.ClaimResult{Verdict: common.Stale, Err: err}
	}
	return common.ClaimResult{Verdict: common.Stale, State: &state}
}

// startedBefore finds the definition that a claim was made with: that of then, not of now.
func (c *Claimer) startedBefore(ctx context.Context, claim *common.Claim, fence int64, job *mvccpb.KeyValue) common.ClaimResult {
	if job != nil && job.ModRevision == claim.Version {
		return started(fence, job)
	}
	callCtx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := c.client.Get(callCtx, common.JobKey(claim.Job), clientv3.WithRev(fence))
	if err != nil {
		return common.ClaimResult{Err: fmt.Errorf("read job %q as of revision %d: %w", claim.Job, fence, err)}
	}
	if len(resp.Kvs) == 0 {
		return started(fence, nil)
	}
	return started(fence, resp.Kvs[0])
}

func jobState(job, cursor *mvccpb.KeyValue) (common.JobState, error) {
	stored, err := common.Decode[common.StoredJob](job.Value)
	if err != nil {
		return common.JobState{}, fmt.Errorf("decode job %s: %w", job.Key, err)
	}
	state := common.JobState{StoredJob: stored, Version: job.ModRevision}
	if cursor == nil {
		return common.JobState{}, fmt.Errorf("job %s has no cursor", job.Key)
	}
	if state.Cursor, err = common.ParseTimeKey(string(cursor.Value)); err != nil {
		return common.JobState{}, fmt.Errorf("cursor of %s: %w", job.Key, err)
	}
	return state, nil
}

// first is the value that a get found, or nil.
func first(op *etcdserverpb.ResponseOp) *mvccpb.KeyValue {
	kvs := op.GetResponseRange().GetKvs()
	if len(kvs) == 0 {
		return nil
	}
	return kvs[0]
}
