package joblock

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/etcdkit/request"
)

// blockers are what a fire replaces under the overlap policy replace: the unresolved runs to kill, and the queued fire.
// Beside a backfill they are what a fire overlaps with.
type blockers struct {
	records  []seenRecord
	queued   *common.Trigger
	revision int64 // ModRevision of the queued trigger; 0: none
}

type seenRecord struct {
	key      string
	revision int64
	run      string
	worker   string       // empty if the record cannot be decoded
	head     *common.Head // of a flow run, in place of run and worker
	ofDate   bool         // it is a fire of a backfill
}

// mostReplaced bounds the runs that one fire kills: a job that allowed overlap before may have any number.
const mostReplaced = 20

// replace returns the part that replaces the blockers. If none have been read yet, or they have changed since, it reads
// them, and the claim is blocked until it is tried again with them.
func (a *attempt) replace() part {
	if a.blockers == nil {
		return a.readBlockers()
	}
	replaced := a.replaced()
	ops := append([]request.Op{a.queue()}, a.pass()...)
	if replaced != nil {
		ops = append(ops, a.outcome(replaced))
	}
	kill := common.Kill{
		By:   "carillon",
		Code: common.ReasonReplaced,
		Note: "replaced by the fire of " + a.claim.To.UTC().Format(time.RFC3339),
		At:   a.claim.Record.ClaimedAt,
	}
	unchanged := []request.Compare{request.Unchanged(a.queueKey(), a.blockers.revision)}
	for _, r := range a.blockers.records {
		unchanged = append(unchanged, request.Unchanged(r.key, r.revision))
		if r.head != nil {
			head := *r.head
			head.Kill = &common.FlowKill{By: kill.By, Note: kill.Note, Code: kill.Code, At: kill.At}
			ops = append(ops, request.Put(r.key, a.encode(&head)))
		}
		if r.worker != "" {
			kill.Run = r.run
			ops = append(ops, request.Put(common.KillKey(r.worker, r.run), a.encode(&kill)))
		}
	}
	return either(unchanged, verdict(common.Queued, ops, a.claim.Gap, replaced), a.readBlockers())
}

// yield returns the part for a fire that would be skipped: it is queued if a run in its way is of a backfill. If the
// runs have not been read yet, or they have changed since, it reads them, as replace does.
func (a *attempt) yield() part {
	if a.blockers == nil {
		return a.readBlockers()
	}
	var unchanged []request.Compare
	ofDate := false
	for _, r := range a.blockers.records {
		unchanged = append(unchanged, request.Unchanged(r.key, r.revision))
		ofDate = ofDate || r.ofDate
	}
	decided := a.skip()
	if ofDate {
		decided = a.wait(a.skipAs(a.claim.Yielded))
	}
	return either(unchanged, decided.and(a.pass()...), a.readBlockers())
}

// readBlockers returns the part that reads the unresolved runs and the queued fire.
func (a *attempt) readBlockers() part {
	return part{[]request.Op{
		request.GetUnder(a.runsOf(), mostReplaced),
		request.Get(a.queueKey()),
	}, func(answer answer) common.ClaimResult {
		found := &blockers{}
		for _, kv := range answer.responses[0].GetResponseRange().GetKvs() {
			seen := seenRecord{key: string(kv.Key), revision: kv.ModRevision}
			if a.claim.Head != nil {
				head, err := decodeAt(kv, func(h *common.Head) string { return common.FlowRunKey(h.Job, h.Run) })
				if err == nil && head.Kill == nil {
					seen.head = &head
				}
				seen.ofDate = err == nil && head.Parent.OfDate()
				found.records = append(found.records, seen)
				continue
			}
			record, err := decodeAt(kv, func(r *common.Record) string { return common.RecordKey(r.Job, r.Run) })
			if err == nil {
				seen.run, seen.worker, seen.ofDate = record.Run, record.Owner.Worker, record.Flow.OfDate()
			}
			found.records = append(found.records, seen)
		}
		if kv := first(answer.responses[1]); kv != nil {
			found.revision = kv.ModRevision
			if trigger, err := common.Decode[common.Trigger](kv.Value); err == nil {
				found.queued = &trigger
			}
		}
		a.blockers = found
		return common.ClaimResult{Verdict: common.Blocked}
	}}
}

// replaced returns the outcome of the replaced queued fire, or nil.
func (a *attempt) replaced() *common.Run {
	if a.blockers.queued == nil {
		return nil
	}
	run := a.blockers.queued.AsRun()
	run.ID, run.Attempt, run.DueAt = common.RunID(run.Fire, 0), 0, nil
	run.Status = common.StatusSkipped
	run.Reason = &common.Reason{Code: common.ReasonReplaced, Text: "a later fire replaced it"}
	return &run
}
