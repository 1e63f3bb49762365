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
	timetable, err := s.cfg.Interner.OfJob(&job.Job)
	if err != nil {
		return nil, nil // a timetable that cannot be read had no fires
	}
	count, last, err := timetable.Passed(job.Cursor, now, mostCounted)
	if err != nil || count == 0 {
		return nil, nil
	}
	if count == mostCounted { // the entry stands for those that were not counted as well
		last, reason.Data = now, map[string]string{"count": "at_least"}
	}
	run := common.Missed(&job, last, count, reason)
	put, err := putOutcome(&run)
	return []clientv3.Op{put}, err
}

// putOutcome puts an outcome into the masters' outbox.
func putOutcome(run *common.Run) (clientv3.Op, error) {
	data, err := json.Marshal(run)
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("encode outcome of %s: %w", run.ID, err)
	}
	return clientv3.OpPut(common.OutboxKey(common.MasterOutbox, run.ID), string(data)), nil
}
