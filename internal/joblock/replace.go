package joblock

import (
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// standing is what a fire finds in its way under the overlap policy replace: the
// runs to kill, and the fire that waits already, whose place it takes.
type standing struct {
	records  []seenRecord
	queued   *common.Trigger
	revision int64 // ModRevision of the queued trigger; 0: there is none
}

type seenRecord struct {
	key      string
	revision int64
	run      string
	worker   string // empty where the record cannot be read
}

// mostReplaced bounds the runs that one fire kills: a job that allowed overlap before may have any number.
const mostReplaced = 20

// look reads what stands in the way.
func (s *standing) look(job string) []clientv3.Op {
	return []clientv3.Op{clientv3.OpGet(common.RecordsOf(job), clientv3.WithPrefix(), clientv3.WithLimit(mostReplaced)),
		clientv3.OpGet(common.TriggerKey(job, common.QueuedTrigger))}
}

// readStanding takes in the answers to look.
func readStanding(responses []*etcdserverpb.ResponseOp) *standing {
	s := &standing{}
	for _, kv := range responses[0].GetResponseRange().GetKvs() {
		seen := seenRecord{key: string(kv.Key), revision: kv.ModRevision}
		if record, err := decodeAt(kv, func(r *common.Record) string { return common.RecordKey(r.Job, r.Run) }); err == nil {
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

// compares hold while everything is as it was seen.
func (s *standing) compares(job string) []clientv3.Cmp {
	cmps := []clientv3.Cmp{etcdkit.Unchanged(common.TriggerKey(job, common.QueuedTrigger), s.revision)}
	for _, r := range s.records {
		cmps = append(cmps, etcdkit.Unchanged(r.key, r.revision))
	}
	return cmps
}

// replace queues the fire, accounts for the one whose place it takes, and wishes
// the runs that stand in its way to end.
func (b *builder) replace(s *standing) []clientv3.Op {
	ops := append([]clientv3.Op{b.queue()}, b.pass()...)
	if replaced := b.replaced(s); replaced != nil {
		ops = append(ops, b.outcome(replaced))
	}
	kill := common.Kill{By: "carillon", Code: common.ReasonReplaced, Note: "replaced by the fire of " + b.claim.To.UTC().Format(time.RFC3339), At: b.claim.Record.ClaimedAt}
	for _, r := range s.records {
		if r.worker != "" {
			kill.Run = r.run
			ops = append(ops, clientv3.OpPut(common.KillKey(r.worker, r.run), b.encode(&kill)))
		}
	}
	return ops
}

// replaced is the outcome of the fire that waited, if one did.
func (b *builder) replaced(s *standing) *common.Run {
	if s == nil || s.queued == nil {
		return nil
	}
	run := s.queued.AsRun()
	run.ID, run.Attempt, run.DueAt = common.RunID(run.Fire, 0), 0, nil
	run.Status = common.StatusSkipped
	run.Reason = &common.Reason{Code: common.ReasonReplaced, Text: "a later fire took its place"}
	return &run
}
