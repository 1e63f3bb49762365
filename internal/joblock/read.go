package joblock

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit/request"
)

// start returns the part that puts lock and record, and reads the job's definition unless it is cached.
func (c *Claimer) start(a *attempt) part {
	claim, r := a.claim, &a.claim.Record
	puts := []request.Op{
		request.PutUnder(common.LockKey(claim.Job, r.Run), a.encode(&r.Owner), a.lease),
		request.Put(common.RecordKey(claim.Job, r.Run), a.encode(r)),
	}
	if a.known {
		cached := a.job
		return part{puts, func(answer answer) common.ClaimResult { return claimed(claim, answer.revision, cached) }}
	}
	get := request.Get(common.JobKey(claim.Job))
	return part{append([]request.Op{get}, puts...), func(answer answer) common.ClaimResult {
		return c.claimedWith(claim, answer.revision, first(answer.responses[0]))
	}}
}

// begin returns the part that puts the head of a flow run, which has neither a lock nor a process.
func (a *attempt) begin() part {
	head := a.claim.Head
	return verdict(common.Begun, []request.Op{request.Put(common.FlowRunKey(head.Job, head.Run), a.encode(head))},
		a.claim.Gap)
}

// sameHead holds as long as the flow run of a node has not ended.
func sameHead(of *common.FlowNode) request.Compare {
	return request.Same(common.FlowRunKey(of.Job, of.Run), of.Created)
}

// claimed returns the result of a granted claim.
func claimed(claim *common.Claim, fence int64, job definition) common.ClaimResult {
	return common.ClaimResult{
		Verdict: common.Claimed,
		Fence:   fence,
		Job:     job.stored,
		Created: job.created,
		Written: list([]*common.Run{claim.Gap}),
	}
}

// claimedWith does the same with the key of the job's definition.
func (c *Claimer) claimedWith(claim *common.Claim, fence int64, job *mvccpb.KeyValue) common.ClaimResult {
	if job == nil {
		return common.ClaimResult{Err: fmt.Errorf("a claim of revision %d has no job", fence), Unsure: true}
	}
	stored, err := common.Decode[common.StoredJob](job.Value)
	if err != nil {
		return common.ClaimResult{Err: fmt.Errorf("decode job %s: %w", job.Key, err), Unsure: true}
	}
	read := definition{version: job.ModRevision, created: job.CreateRevision, stored: stored}
	c.jobs.put(claim.Job, read)
	return claimed(claim, fence, read)
}

// stale returns the part that finds out why the compares failed. If the record has our nonce, an earlier try of this
// claim was applied and its answer was lost.
func (c *Claimer) stale(ctx context.Context, claim *common.Claim) part {
	gets := []request.Op{request.Get(common.JobKey(claim.Job)), request.Get(common.CursorKey(claim.Job))}
	switch {
	case claim.Head != nil:
		gets = append(gets, request.Get(common.FlowRunKey(claim.Job, claim.Head.Run)))
	case claim.Record.Run != "":
		gets = append(gets, request.Get(common.RecordKey(claim.Job, claim.Record.Run)))
	}
	return part{gets, func(a answer) common.ClaimResult {
		job, cursor := first(a.responses[0]), first(a.responses[1])
		if claim.Record.Run != "" {
			if kv := first(a.responses[2]); kv != nil && nonceOf(claim, kv) == claim.Record.Nonce {
				if claim.Head != nil {
					return common.ClaimResult{Verdict: common.Begun, Written: list([]*common.Run{claim.Gap})}
				}
				return c.claimedBefore(ctx, claim, kv.CreateRevision, job)
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
	}}
}

// nonceOf returns the nonce of a record, or of a head; empty if it cannot be read.
func nonceOf(claim *common.Claim, kv *mvccpb.KeyValue) string {
	if claim.Head != nil {
		head, err := common.Decode[common.Head](kv.Value)
		if err != nil {
			return ""
		}
		return head.Nonce
	}
	record, err := common.Decode[common.Record](kv.Value)
	if err != nil {
		return ""
	}
	return record.Nonce
}

// claimedBefore reads the definition at the revision of a claim, not the current one.
func (c *Claimer) claimedBefore(ctx context.Context, claim *common.Claim, fence int64,
	job *mvccpb.KeyValue) common.ClaimResult {
	if claim.Definition != nil {
		return claimed(claim, fence, definition{created: claim.Record.Flow.Created, stored: *claim.Definition})
	}
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
	return c.claimedWith(claim, fence, job)
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
