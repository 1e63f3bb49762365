package jobmgr

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/etcdkit"
)

// Plans returns all jobs that have a schedule, in no order: of each job only what planning needs, which is
// its identity, cursor, pause, jitter and retention.
func (c *Catalog) Plans() iter.Seq2[*common.JobState, schedule.Schedule] {
	return func(yield func(*common.JobState, schedule.Schedule) bool) {
		for _, job := range c.entries("") {
			if !yield(job.plan(), job.timetable) {
				return
			}
		}
	}
}

// fewCursors is the number up to which cursors are read one by one; for more, the whole range is read.
const fewCursors = 2000

// Cursors reads the cursors of jobs. Jobs without a readable cursor are left out.
func (s *Store) Cursors(ctx context.Context, jobs []string) (map[string]time.Time, error) {
	found := make(map[string]time.Time, len(jobs))
	take := func(job string, kv *mvccpb.KeyValue) {
		if cursor, err := common.ParseTimeKey(string(kv.Value)); err == nil {
			found[job] = cursor
		}
	}
	if len(jobs) > fewCursors {
		if err := allCursors(ctx, s.cfg.Client, take); err != nil {
			return nil, etcdkit.Wrap(err)
		}
		return found, nil
	}
	for part := range slices.Chunk(jobs, 2*cursorsPerTxn) {
		ops := make([]clientv3.Op, len(part))
		for i, job := range part {
			ops[i] = clientv3.OpGet(common.CursorKey(job))
		}
		err := s.readAll(ctx, ops, func(i int, kvs []*mvccpb.KeyValue, _ int64) {
			if len(kvs) > 0 {
				take(part[i], kvs[0])
			}
		})
		if err != nil {
			return nil, etcdkit.Wrap(fmt.Errorf("read cursors: %w", err))
		}
	}
	return found, nil
}

// Busy reports which of the jobs have an unresolved run.
func (s *Store) Busy(ctx context.Context, jobs []string) (map[string]bool, error) {
	busy := map[string]bool{}
	for part := range slices.Chunk(jobs, 2*cursorsPerTxn) {
		ops := make([]clientv3.Op, len(part))
		for i, job := range part {
			ops[i] = clientv3.OpGet(common.RecordsOf(job), clientv3.WithPrefix(), clientv3.WithCountOnly())
		}
		err := s.readAll(ctx, ops, func(i int, _ []*mvccpb.KeyValue, count int64) {
			if count > 0 {
				busy[part[i]] = true
			}
		})
		if err != nil {
			return nil, etcdkit.Wrap(fmt.Errorf("read records: %w", err))
		}
	}
	return busy, nil
}

// readAll executes reads in one transaction.
func (s *Store) readAll(ctx context.Context, ops []clientv3.Op,
	visit func(i int, kvs []*mvccpb.KeyValue, count int64)) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.cfg.Client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return err
	}
	for i, r := range resp.Responses {
		visit(i, r.GetResponseRange().Kvs, r.GetResponseRange().Count)
	}
	return nil
}
