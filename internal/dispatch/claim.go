package dispatch

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// claimPatience is how long the answer to a claim is awaited when the worker stops: the claim may have been granted.
const claimPatience = 10 * time.Second

// claimPending claims pending fires that fit into the free slots, one batch at a time. When the worker stops, unclaimed
// fires are left to other workers or to a later incarnation.
func (d *Dispatcher) claimPending(s scope) {
	for !d.claiming && d.pending.len() > 0 && s.open.Err() == nil && !d.isHalted() {
		batch := d.pending.take(d.cfg.MaxBatch, d.free())
		if len(batch) == 0 {
			return
		}
		d.cfg.Metrics.QueueDepth("claims", d.pending.len())
		if fires, claims := d.prepare(s, batch); len(claims) > 0 {
			d.claim(s, fires, claims)
		}
	}
}

func (d *Dispatcher) claim(s scope, fires []scheduler.Fire, claims []common.Claim) {
	d.claiming = true
	d.runs.expect(claims)
	d.request(func() func() {
		began := time.Now()
		results := d.cfg.Claimer.Claim(s.claims, claims)
		d.cfg.Metrics.ClaimBatch(len(claims), time.Since(began), results[0].Err != nil)
		return func() {
			d.claiming = false
			var written []common.Run
			unsure := false
			for i := range results {
				d.settle(s, fires[i], &claims[i], &results[i])
				written = append(written, results[i].Written...)
				unsure = unsure || results[i].Unsure
			}
			d.runs.expect(nil)
			if len(written) > 0 {
				d.cfg.Written(written)
			}
			if unsure {
				d.cfg.Unsure()
			}
		}
	})
}

// free returns the number of free slots.
func (d *Dispatcher) free() int { return d.cfg.Slots() - d.runs.used }

// prepare returns the claims of a batch. A fire that waited for a slot so long that another worker may have claimed it
// is looked up first.
func (d *Dispatcher) prepare(s scope, batch []item) ([]scheduler.Fire, []common.Claim) {
	fires := make([]scheduler.Fire, 0, len(batch))
	claims := make([]common.Claim, 0, len(batch))
	now := d.cfg.Now()
	trouble := d.cfg.Cluster.Trouble() != ""
	for i := range batch {
		if d.ending.hold(batch[i]) {
			continue
		}
		if t := batch[i].fire.Trigger; t != nil && d.runs.returning(t.RunID()) {
			d.answer(s, scheduler.Settled{Fire: batch[i].fire, RetryAt: now.Add(retryAfter)})
			continue
		}
		if d.ranking.stale(&batch[i].fire, batch[i].asOf, now) {
			d.reads.put(batch[i])
			continue
		}
		if trouble && batch[i].action.kind == claim || now.Sub(batch[i].asOf) > fresh { // the rank may have changed
			untaken := common.FireState{Cursor: batch[i].fire.Cursor}
			if settled, open := d.applyState(&batch[i], &untaken, now); !open {
				d.answer(s, settled)
			}
			continue
		}
		claim, ok, err := d.newClaim(&batch[i], now)
		if err != nil {
			d.cfg.Log.Error("fire_undecidable", "job", batch[i].fire.Job, "error", err)
		}
		if err != nil || !ok {
			d.answer(s, scheduler.Settled{Fire: batch[i].fire, RetryAt: now.Add(retryIneligible)})
			continue
		}
		fires, claims = append(fires, batch[i].fire), append(claims, claim)
	}
	return fires, claims
}

// newClaim returns the claim for a fire; false if there is nothing to do yet.
func (d *Dispatcher) newClaim(i *item, now time.Time) (claim common.Claim, ok bool, err error) {
	f := &i.fire
	claim = common.Claim{Job: f.Job, Version: f.Version, From: f.Cursor}
	record := common.Record{
		Job:        f.Job,
		JobUID:     f.UID,
		JobVersion: f.Version,
		Group:      f.Group,
		ClaimedAt:  now.UTC(),
		Owner:      d.cfg.Life,
		Nonce:      common.NewID(),
		Policy:     f.Terms.Policy,
		TTL:        d.cfg.TTL(),
	}
	if t := f.Trigger; t != nil {
		claim.Trigger, claim.TriggerRevision = &t.Trigger, t.Revision
		record.Run, record.Fire, record.PlannedAt, record.Attempt = t.RunID(), t.Fire, t.PlannedAt, t.Attempt
		record.Cause, record.By, record.Note, record.Params = t.Cause, t.By, t.Note, t.Params
		claim.Record, claim.Earlier = record, earlier(f, agreed(d.cfg.Cluster, now))
		return claim, true, nil
	}
	var decision scheduler.Decision
	if i.action.kind == expire {
		decision, err = scheduler.Expire(*f, agreed(d.cfg.Cluster, now), i.action.inTime)
	} else {
		decision, err = scheduler.Decide(*f, agreed(d.cfg.Cluster, now))
	}
	if err != nil || decision.Nothing() {
		return common.Claim{}, false, err
	}
	claim.To = decision.To
	if decision.Passed > 0 {
		claim.Gap = passedOver(i, &decision, d.ranking.waited(f))
	}
	if !decision.Run {
		return claim, true, nil
	}
	record.Fire = common.PlannedFire(f.UID, decision.To)
	record.Run, record.Attempt = common.RunID(record.Fire, 1), 1
	record.PlannedAt, record.Cause = decision.To.UTC(), decision.Cause
	claim.Record, claim.Earlier = record, earlier(f, agreed(d.cfg.Cluster, now))
	switch overlap := f.Terms.Overlap; {
	case !overlap.Forbids():
	case decision.Cause == common.CauseCatchUp && f.Terms.CatchUp == common.CatchUpAll:
		claim.Patient = true // caught-up fires run one after the other
	case overlap == common.OverlapQueue:
		claim.Queue = queued(&record, agreed(d.cfg.Cluster, now))
		claim.Skipped = skipped(&record, common.ReasonQueueFull, "another fire was already queued")
	case overlap == common.OverlapReplace:
		claim.Queue = queued(&record, agreed(d.cfg.Cluster, now))
	default:
		claim.Skipped = skipped(&record, common.ReasonOverlap, "the previous run had not ended")
	}
	return claim, true, nil
}

// earlier returns the attempts that must start before a fire of a job with the overlap policy queue: those that are
// due, and those that were created after the fire was sent; nil for other jobs.
func earlier(f *scheduler.Fire, now time.Time) *common.Earlier {
	if f.Terms.Overlap != common.OverlapQueue {
		return nil
	}
	e := &common.Earlier{Seen: f.Seen}
	for _, a := range f.Earlier {
		if !a.NotBefore.After(now) {
			e.Due = append(e.Due, a.Trigger)
		}
	}
	return e
}

// passedOver returns the outcome of passed fires. waited reports that the outboxes were too full for them.
func passedOver(i *item, decision *scheduler.Decision, waited bool) *common.Run {
	f := &i.fire
	status, reason := common.StatusMissed, late
	switch {
	case decision.Paused:
		status, reason = common.StatusSkipped, common.Reason{Code: common.ReasonPaused, Text: "the job was paused"}
	case i.action.kind == expire && i.action.inTime:
		reason = i.action.reason
	case waited:
		reason = noRoom
	}
	job := common.StoredJob{Job: common.Job{Name: f.Job, Group: f.Group}, UID: f.UID}
	state := common.JobState{StoredJob: job, Version: f.Version, Cursor: f.Cursor}
	run := common.PassedOver(&state, decision.LastPassed, decision.Passed, status, reason)
	return &run
}

// skipped returns the outcome of a fire that does not run because of an unresolved run of its job.
func skipped(r *common.Record, code, text string) common.Run {
	run := r.AsRun(common.StatusSkipped)
	run.ID, run.Attempt = common.RunID(r.Fire, 0), 0
	run.Worker, run.WorkerName, run.ClaimedAt = "", "", nil
	run.Reason = &common.Reason{Code: code, Text: text}
	return run
}

// queued returns the trigger of a fire that waits for the end of the previous run.
func queued(r *common.Record, now time.Time) *common.Trigger {
	return &common.Trigger{
		ID:        common.QueuedTrigger,
		Job:       r.Job,
		JobUID:    r.JobUID,
		Group:     r.Group,
		Fire:      r.Fire,
		PlannedAt: r.PlannedAt,
		Attempt:   r.Attempt,
		Cause:     r.Cause,
		NotBefore: now.UTC(),
	}
}
