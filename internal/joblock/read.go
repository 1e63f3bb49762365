package joblock

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// read converts the answer to a claim to its result.
func (c *Claimer) read(ctx context.Context, a *attempt, answer answer) common.ClaimResult {
	claim := a.claim
	switch {
	case answer.err != nil:
		return common.ClaimResult{Err: answer.err, Unsure: true}
	case !answer.succeeded:
		return c.readStale(ctx, claim, answer)
	case claim.Record.Run == "":
		return common.ClaimResult{Verdict: common.Passed, Written: written(claim.Gap)}
	case claim.Trigger == nil && !claim.Record.Policy.Overlap.Forbids():
		return c.started(a, answer.revision, answer.responses)
	}
	alone := answer.responses[0].GetResponseTxn()
	if alone.Succeeded {
		return c.started(a, answer.revision, alone.Responses)
	}
	if claim.Trigger != nil || claim.Patient {
		return common.ClaimResult{Verdict: common.Blocked}
	}
	switch claim.Record.Policy.Overlap {
	case common.OverlapQueue:
		if alone.Responses[0].GetResponseTxn().Succeeded {
			return common.ClaimResult{Verdict: common.Queued, Written: written(claim.Gap)}
		}
	case common.OverlapReplace:
		return readReplace(a, alone)
	}
	return common.ClaimResult{Verdict: common.Skipped, Written: written(claim.Gap, &claim.Skipped)}
}

// readReplace reads the result under the overlap policy replace. If the unresolved runs were seen for the first time or
// have changed since, the claim is blocked until it is tried with them.
func readReplace(a *attempt, alone *etcdserverpb.TxnResponse) common.ClaimResult {
	if a.standing == nil {
		a.standing = readStanding(alone.Responses)
		return common.ClaimResult{Verdict: common.Blocked}
	}
	replace := alone.Responses[0].GetResponseTxn()
	if !replace.Succeeded {
		a.standing = readStanding(replace.Responses)
		return common.ClaimResult{Verdict: common.Blocked}
	}
	b := builder{claim: a.claim}
	return common.ClaimResult{Verdict: common.Queued, Written: written(a.claim.Gap, b.replaced(a.standing))}
}

func written(runs ...*common.Run) (list []common.Run) {
	for _, run := range runs {
		if run != nil {
			list = append(list, *run)
		}
	}
	return list
}

// started returns the result of a granted claim with the definition of its job: the cached one, or the one that was
// read in the same transaction.
func (c *Claimer) started(a *attempt, fence int64, responses []*etcdserverpb.ResponseOp) common.ClaimResult {
	if !a.known {
		return c.startedWith(a.claim, fence, first(responses[0]))
	}
	return common.ClaimResult{
		Verdict: common.Claimed,
		Fence:   fence,
		Job:     a.job.stored,
		Created: a.job.created,
		Written: written(a.claim.Gap),
	}
}

func (c *Claimer) startedWith(claim *common.Claim, fence int64, job *mvccpb.KeyValue) common.ClaimResult {
	if job == nil {
		return common.ClaimResult{Err: fmt.Errorf("a claim of revision %d has no job", fence), Unsure: true}
	}
	stored, err := common.Decode[common.StoredJob](job.Value)
	if err != nil {
		return common.ClaimResult{Err: fmt.Errorf("decode job %s: %w", job.Key, err), Unsure: true}
	}
	c.jobs.put(claim.Job, definition{version: job.ModRevision, created: job.CreateRevision, stored: stored})
	return common.ClaimResult{
		Verdict: common.Claimed,
		Fence:   fence,
		Job:     stored,
		Created: job.CreateRevision,
		Written: written(claim.Gap),
	}
}

// readStale finds out why the compares failed. If the record has our nonce, an earlier try of this claim was applied
// and its answer was lost.
func (c *Claimer) readStale(ctx context.Context, claim *common.Claim, a answer) common.ClaimResult {
	job, cursor := first(a.responses[0]), first(a.responses[1])
	if len(a.responses) > 2 {
		if kv := first(a.responses[2]); kv != nil {
			if record, err := common.Decode[common.Record](kv.Value); err == nil && record.Nonce == claim.Record.Nonce {
				return c.startedBefore(ctx, claim, kv.CreateRevision, job)
			}
		}
	}
	result := common.ClaimResult{Verdict: common.Stale, Unsure: a.lost}
	if job == nil {
		return result
	}
	state, err := jobState(job, cursor)
	if err != nil {
		result.Err = err
		return result
	}
	result.State = &state
	return result
}

// startedBefore returns the definition at the revision of a claim, not the current one.
func (c *Claimer) startedBefore(ctx context.Context, claim *common.Claim, fence int64,
	job *mvccpb.KeyValue) common.ClaimResult {
	if job == nil || job.ModRevision != claim.Version {
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		defer cancel()
		resp, err := c.client.Get(callCtx, common.JobKey(claim.Job), clientv3.WithRev(fence))
		if err != nil {
			return common.ClaimResult{
				Unsure: true,
				Err:    fmt.Errorf("read job %q as of revision %d: %w", claim.Job, fence, err),
			}
		}
		job = nil
		if len(resp.Kvs) > 0 {
			job = resp.Kvs[0]
		}
	}
	return c.startedWith(claim, fence, job)
}

func jobState(job, cursor *mvccpb.KeyValue) (common.JobState, error) {
	stored, err := common.Decode[common.StoredJob](job.Value)
	if err != nil {
		return common.JobState{}, fmt.Errorf("decode job %s: %w", job.Key, err)
	}
	state := common.JobState{StoredJob: stored, Version: job.ModRevision, Created: job.CreateRevision}
	if cursor == nil {
		return common.JobState{}, fmt.Errorf("job %s has no cursor", job.Key)
	}
	if state.Cursor, err = common.ParseTimeKey(string(cursor.Value)); err != nil {
		return common.JobState{}, fmt.Errorf("cursor of %s: %w", job.Key, err)
	}
	return state, nil
}

// first returns the value that a get found, or nil.
func first(op *etcdserverpb.ResponseOp) *mvccpb.KeyValue {
	kvs := op.GetResponseRange().GetKvs()
	if len(kvs) == 0 {
		return nil
	}
	return kvs[0]
}
