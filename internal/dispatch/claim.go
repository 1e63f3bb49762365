package dispatch

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// newClaim decides what to claim for a fire.
func (d *Dispatcher) newClaim(f scheduler.Fire, now time.Time) (common.Claim, error) {
	claim := common.Claim{Job: f.Job, Version: f.Version, From: f.Cursor}
	record := common.Record{Job: f.Job, JobUID: f.UID, JobVersion: f.Version, Group: f.Group, ClaimedAt: now.UTC(), Owner: d.cfg.Life,
		Nonce: common.NewID(), Policy: *f.Policy, TTL: d.cfg.TTL()}
	if t := f.Trigger; t != nil {
		claim.Trigger, claim.TriggerRevision = &t.Trigger, t.Revision
		record.Run, record.Fire, record.PlannedAt, record.Attempt = t.RunID(), t.Fire, t.PlannedAt, t.Attempt
		record.Cause, record.By, record.Note = t.Cause, t.By, t.Note
		claim.Record = record
		return claim, nil
	}
	decision, err := scheduler.Decide(f, now)
	if err != nil {
		return common.Claim{}, err
	}
	claim.To = decision.To
	if decision.Passed > 0 {
		gap := common.PassedOver(&common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: f.Job, Group: f.Group}, UID: f.UID},
			Version: f.Version, Cursor: f.Cursor}, decision.LastPassed, decision.Passed, common.StatusMissed,
			common.Reason{Code: "late", Text: "no worker took these fires within their deadline"})
		claim.Gap = &gap
	}
	if !decision.Run {
		return claim, nil
	}
	record.Fire = common.PlannedFire(f.UID, decision.To)
	record.Run, record.Attempt = common.RunID(record.Fire, 1), 1
	record.PlannedAt, record.Cause = decision.To.UTC(), decision.Cause
	claim.Record = record
	claim.Skipped = skipped(&record)
	return claim, nil
}

// skipped is the outcome where an earlier run of the job stands.
func skipped(r *common.Record) common.Run {
	run := r.AsRun(common.StatusSkipped)
	run.ID, run.Attempt = common.RunID(r.Fire, 0), 0
	run.Worker, run.WorkerName, run.ClaimedAt = "", "", nil
	run.Reason = &common.Reason{Code: "overlap", Text: "the run before it had not ended"}
	return run
}
