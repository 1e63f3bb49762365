package jobmgr

import (
	"encoding/json"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// mostCounted bounds the work of counting the fires of a gap: eleven days of one a second.
const mostCounted = 1_000_000

// gapOp accounts for the fires of a job after its cursor, up to now: one entry in
// the ledger, or none where no fire is passed.
func (s *Store) gapOp(job common.JobState, now time.Time, reason common.Reason) ([]clientv3.Op, error) {
	count, last := s.passed(&job, now)
	if count == 0 {
		return nil, nil
	}
	if count == mostCounted { // the entry stands for those that were not counted as well
		last, reason.Data = now, map[string]string{"count": "at_least"}
	}
	run := common.PassedOver(&job, last, count, common.StatusMissed, reason)
	put, err := putOutcome(&run)
	return []clientv3.Op{put}, err
}

// passed counts the fires of a job after its cursor, up to now. A timetable that
// cannot be read, or planned, had none.
func (s *Store) passed(job *common.JobState, now time.Time) (count int64, last time.Time) {
	timetable, err := s.cfg.Interner.OfJob(&job.Job)
	if err != nil {
		return 0, time.Time{}
	}
	if count, last, err = timetable.Passed(job.Cursor, now, mostCounted); err != nil {
		return 0, time.Time{}
	}
	return count, last
}

// putOutcome puts an outcome into the masters' outbox.
func putOutcome(run *common.Run) (clientv3.Op, error) {
	data, err := json.Marshal(run)
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("encode outcome of %s: %w", run.ID, err)
	}
	return clientv3.OpPut(common.OutboxKey(common.MasterOutbox, run.ID), string(data)), nil
}
