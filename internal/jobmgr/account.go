package jobmgr

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// mostCounted bounds the work of counting the fires of a gap: eleven days of one a second.
const mostCounted = 1_000_000

func editedReason() common.Reason {
	return common.Reason{Code: common.ReasonEdited, Text: "the timetable was changed before these fires were taken"}
}

// pausedReason is that of the fires which a job passes over because it was paused.
func pausedReason(job *common.Job) common.Reason {
	r := common.Reason{Code: common.ReasonPaused, Text: "the job was paused"}
	if job.PauseNote != "" {
		r.Data = map[string]string{"note": job.PauseNote}
		r.Text += ": " + job.PauseNote
	}
	return r
}

// lastPaused is the last instant of a pause: at its end the job fires again.
func lastPaused(until time.Time) time.Time { return until.Add(-1) }

// passOver accounts for the fires that saving the job in place of the old one lets
// its cursor pass, and gives the cursor as it stands then. A pause passes what came
// up to its end when it is over; a timetable that is changed begins now. Pausing
// itself passes nothing.
func (s *Store) passOver(old common.JobState, job *common.Job, now time.Time) (cursor time.Time, ops []clientv3.Op, err error) {
	edited := timetableChanged(&old.Job, job)
	pass := func(to time.Time, status common.Status, reason common.Reason) {
		if err != nil || !to.After(old.Cursor) {
			return
		}
		var gap []clientv3.Op
		if gap, err = s.gapOp(old, to, status, reason); err == nil {
			ops, old.Cursor = append(ops, gap...), to
		}
	}
	if old.Paused && (edited || !job.Paused) {
		end := now
		if old.PauseUntil != nil && old.PauseUntil.Before(now) { // as a worker would have done
			_, end = s.passed(&old, lastPaused(*old.PauseUntil))
		}
		pass(end, common.StatusSkipped, pausedReason(&old.Job))
	}
	if edited {
		pass(now, common.StatusMissed, editedReason())
	}
	return old.Cursor, ops, err
}

// gapOp accounts for the fires of a job after its cursor, up to a time: one entry in
// the ledger, or none where no fire is passed.
func (s *Store) gapOp(job common.JobState, to time.Time, status common.Status, reason common.Reason) ([]clientv3.Op, error) {
	count, last := s.passed(&job, to)
	if count == 0 {
		return nil, nil
	}
	if count == mostCounted { // the entry stands for those that were not counted as well
		last = to
		reason.Data = maps.Clone(reason.Data)
		if reason.Data == nil {
			reason.Data = map[string]string{}
		}
		reason.Data["count"] = "at_least"
	}
	run := common.PassedOver(&job, last, count, status, reason)
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
