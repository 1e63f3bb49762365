package joblock

import (
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// standing holds what a fire replaces under the overlap policy replace: the unresolved runs to kill, and the queued
// fire.
type standing struct {
	records  []seenRecord
	queued   *common.Trigger
	revision int64 // ModRevision of the queued trigger; 0: none
}

type seenRecord struct {
	key      string
	revision int64
	run      string
	worker   string // empty if the record cannot be decoded
}

// mostReplaced bounds the runs that one fire kills: a job that allowed overlap before may have any number.
const mostReplaced = 20

// look returns the operations that read them.
func (s *standing) look(job string) []clientv3.Op {
	return []clientv3.Op{clientv3.OpGet(common.RecordsOf(job), clientv3.WithPrefix(), clientv3.WithLimit(mostReplaced)),
		clientv3.OpGet(common.TriggerKey(job, common.QueuedTrigger))}
}

// readStanding decodes the answers to look.
func readStanding(responses []*etcdserverpb.ResponseOp) *standing {
	s := &standing{}
	for _, kv := range responses[0].GetResponseRange().GetKvs() {
		seen := seenRecord{key: string(kv.Key), revision: kv.ModRevision}
		if record, err := decodeAt(kv, func(r *common.Record) string {
			return common.RecordKey(r.Job, r.Run)
		}); err == nil {
			seen.run, seen.worker = record.Run, record.Owner.Worker
		}
		s.records = append(s.records, seen)
	}
	if kv := first(responses[1]); kv != nil {
		s.revision = kv.ModRevision
		if trigger, err := common.Decode[common.Trigger](kv.Value); err == nil {
			s.queued = &trigger
		}
	}
	return s
}

// compares returns compares that succeed if nothing has changed since.
func (s *standing) compares(job string) []clientv3.Cmp {
	cmps := []clientv3.Cmp{etcdkit.Unchanged(common.TriggerKey(job, common.QueuedTrigger), s.revision)}
	for _, r := range s.records {
		cmps = append(cmps, etcdkit.Unchanged(r.key, r.revision))
	}
	return cmps
}

// replace queues the fire, writes the outcome of the queued fire that it replaces, and creates kill requests for the
// unresolved runs.
func (b *builder) replace(s *standing) []clientv3.Op {
	ops := append([]clientv3.Op{b.queue()}, b.pass()...)
	if replaced := b.replaced(s); replaced != nil {
		ops = append(ops, b.outcome(replaced))
	}
	kill := common.Kill{
		By:   "carillon",
		Code: common.ReasonReplaced,
		Note: "replaced by the fire of " + b.claim.To.UTC().Format(time.RFC3339),
		At:   b.claim.Record.ClaimedAt,
	}
	for _, r := range s.records {
		if r.worker != "" {
			kill.Run = r.run
			ops = append(ops, clientv3.OpPut(common.KillKey(r.worker, r.run), b.encode(&kill)))
		}
	}
	return ops
}

// replaced returns the outcome of the replaced queued fire, or nil.
func (b *builder) replaced(s *standing) *common.Run {
	if s == nil || s.queued == nil {
		return nil
	}
	run := s.queued.AsRun()
	run.ID, run.Attempt, run.DueAt = common.RunID(run.Fire, 0), 0, nil
	run.Status = common.StatusSkipped
	run.Reason = &common.Reason{Code: common.ReasonReplaced, Text: "a later fire replaced it"}
	return &run
}
