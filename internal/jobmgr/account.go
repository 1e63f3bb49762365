package jobmgr

import (
	"fmt"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// mostCounted bounds how many fires of a gap are counted: eleven days at one per second.
const mostCounted = 1_000_000

func editedReason() common.Reason {
	return common.Reason{Code: common.ReasonEdited, Text: "the schedule was changed before these fires were claimed"}
}

// pausedReason returns the reason of fires that are skipped because the job was paused.
func pausedReason(job *common.Job) common.Reason {
	r := common.Reason{Code: common.ReasonPaused, Text: "the job was paused"}
	if job.PauseNote != "" {
		r.Data = map[string]string{"note": job.PauseNote}
		r.Text += ": " + job.PauseNote
	}
	return r
}

// unreadable reports why this version cannot count the fires of a job, or nil if it can. An unknown feature
// may change the meaning of the schedule, so a cron expression that parses proves nothing.
func (s *Store) unreadable(job *common.StoredJob) error {
	if lacking := job.ScheduleNeeds(); len(lacking) > 0 {
		return fmt.Errorf("it needs %s", strings.Join(lacking, ", "))
	}
	_, err := s.cfg.Interner.OfJob(&job.Job)
	return err
}

// errUnreadable returns the error that refuses to move the cursor of a job whose schedule this version cannot
// read.
func errUnreadable(job *common.StoredJob, err error) error {
	return &common.Error{Code: common.CodeConflict, Reason: "schedule_unreadable", Err: err,
		Message: fmt.Sprintf("this master cannot read the schedule of job %q, so it cannot account for its fires",
			job.Name),
		Hint: "send the request to a master of the version that saved the job; replace a broken schedule, or " +
			"delete the job"}
}

// passFires accounts for the fires that the cursor passes when the job replaces the old one, and returns the
// new cursor. The end of a pause passes the fires up to it; a changed schedule begins now. Pausing passes
// nothing. An unreadable schedule is passed only if a readable one replaces it: otherwise a master of another
// version can still count its fires.
func (s *Store) passFires(t *etcdkit.Txn, old common.JobState, job *common.StoredJob,
	now time.Time) (cursor time.Time, err error) {
	edited := timetableChanged(&old.Job, &job.Job)
	ends := old.Paused && (edited || !job.Paused)
	if !edited && !ends {
		return old.Cursor, nil
	}
	if why := s.unreadable(&old.StoredJob); why != nil && (!edited || s.unreadable(job) != nil) {
		return old.Cursor, errUnreadable(&old.StoredJob, why)
	}
	pass := func(to time.Time, status common.Status, reason common.Reason) {
		if to.After(old.Cursor) {
			s.putGap(t, old, to, status, reason, nil)
			old.Cursor = to
		}
	}
	if ends {
		end := now
		if old.PauseUntil != nil && old.PauseUntil.Before(now) { // as a worker does
			end = old.PauseUntil.Add(-1) // at its end the job fires again
			if _, last, err := s.passed(&old, end); err == nil {
				end = last
			}
		}
		pass(end, common.StatusSkipped, pausedReason(&old.Job))
	}
	if edited {
		pass(now, common.StatusMissed, editedReason())
	}
	return old.Cursor, nil
}

// putGap accounts for the fires of a job after its cursor, up to a time: one gap entry in the ledger, or none
// if no fire is passed. If the fires cannot be counted (unreadable, or because of the schedule), the entry
// covers the whole period. It reports whether fires are passed.
func (s *Store) putGap(t *etcdkit.Txn, job common.JobState, to time.Time, status common.Status, reason common.Reason,
	unreadable error) bool {
	count, last, err := s.passed(&job, to)
	if unreadable != nil {
		err = unreadable
	}
	switch {
	case err != nil && !to.After(job.Cursor):
		return false
	case err != nil:
		count, last = 0, to
		reason.Text += "; this version cannot read the schedule, so their number is unknown"
	case count == 0:
		return false
	case count == mostCounted: // the entry covers the fires that were not counted as well
		last = to
	}
	if err != nil || count == mostCounted {
		reason = reason.AtLeast()
	}
	run := common.PassedOver(&job, last, count, status, reason)
	putOutcome(t, &run)
	return true
}

// passed counts the fires of a job after its cursor, up to now.
func (s *Store) passed(job *common.JobState, now time.Time) (count int64, last time.Time, err error) {
	if err := s.unreadable(&job.StoredJob); err != nil {
		return 0, time.Time{}, err
	}
	timetable, err := s.cfg.Interner.OfJob(&job.Job)
	if err != nil {
		return 0, time.Time{}, err
	}
	return timetable.Passed(job.Cursor, now, mostCounted)
}

// putOutcome adds the write of an outcome into the masters' outbox.
func putOutcome(t *etcdkit.Txn, run *common.Run) {
	t.Put(common.OutboxKey(common.MasterOutbox, run.ID), run)
}
