package dispatch

import (
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// claimPatience is how long the answer to a claim is awaited when the worker stops: the claim may have been granted.
const claimPatience = 10 * time.Second

// longClaim is how long etcd must not have answered a claim for that to count as an outage.
const longClaim = 10 * time.Second

// claimPending claims pending fires that fit into the free slots, one batch at a time. When the worker stops, unclaimed
// fires are left to other workers or to a later incarnation.
func (d *Dispatcher) claimPending(s scope) {
	for !d.claiming && d.pending.len() > 0 && s.open.Err() == nil && !d.isHalted() {
		batch := d.pending.take(d.cfg.MaxBatch, room{
			free:       d.free(),
			background: d.cfg.Background() - d.runs.background,
			yields:     d.backgroundYields(),
		})
		if len(batch) == 0 {
			return
		}
		if batch[len(batch)-1].background() {
			d.background.claimed()
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
	d.cfg.Starts.add(len(claims))
	d.request(func() func() {
		began := time.Now()
		results := d.cfg.Claimer.Claim(s.claims, claims)
		took := time.Since(began)
		d.cfg.Metrics.ClaimBatch(len(claims), took, results[0].Err != nil)
		return func() {
			d.claiming = false
			if took > longClaim { // etcd did not answer meanwhile
				d.disturbed = d.cfg.Now()
			}
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

// prepare returns the claims of a batch. Fires that are not claimed now are read again, or returned to the scheduler.
func (d *Dispatcher) prepare(s scope, batch []item) ([]scheduler.Fire, []common.Claim) {
	fires := make([]scheduler.Fire, 0, len(batch))
	claims := make([]common.Claim, 0, len(batch))
	now := d.cfg.Now()
	trouble, full := d.cfg.Cluster.Trouble() != "", d.full(now)
	for i := range batch {
		f := &batch[i].fire
		if d.runs.awaited(f) {
			d.awaited = true
			d.answerLater(s, f, now.Add(retryAfter)) // or when that run ends
			continue
		}
		if f.Action.Expire && full { // they have filled up since that was decided
			d.answerLater(s, f, now)
			continue
		}
		if waited := now.Sub(batch[i].asOf) > scheduler.Fresh; waited || trouble {
			eligible, read := d.ranking.Recheck(f, now)
			if !eligible && !f.Action.Expire {
				d.answerLater(s, f, now) // it is ranked again
				continue
			}
			if waited && read {
				d.reads.put(batch[i])
				continue
			}
		}
		claim, ok, err := d.newClaim(f, now)
		if err == nil && ok && !d.pickSlots(f, &claim) {
			d.answerLater(s, f, now.Add(poolRetry))
			continue
		}
		if claim.Head != nil && err == nil && ok && !d.cfg.FlowLoad.Reserve(claim.Head, f.Bounded(), now) {
			d.answerLater(s, f, now) // it is ranked again
			continue
		}
		if err != nil {
			d.cfg.Log.Error("fire_undecidable", "job", f.Job, "error", err)
		}
		if err != nil || !ok {
			d.answerLater(s, f, now.Add(scheduler.RetryIneligible))
			continue
		}
		fires, claims = append(fires, *f), append(claims, claim)
	}
	return fires, claims
}

// newClaim returns the claim for a fire; false if there is nothing to do yet.
func (d *Dispatcher) newClaim(f *scheduler.Fire, now time.Time) (claim common.Claim, ok bool, err error) {
	inTime := d.inTime(f)
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
		record.Base, record.Retry, record.Restarts, record.RunsAs = t.Base, t.Retry, t.Restarts, f.RunsAs
		record.NoAfter, record.Parents = t.NoAfter, t.Parents
		if t.Cause == common.CauseRetry || t.Cause == common.CauseRerun || t.Cause == common.CauseAfter ||
			t.Cause == common.CauseDaemon || t.Flow != nil {
			record.ReadyAt = new(t.NotBefore.UTC())
		}
		if t.Flow != nil {
			record.JobUID, record.Flow = "", t.Flow
		}
		if t.Inline != nil {
			claim.Definition = &t.Inline.Job
		}
		record.After, record.Cause, record.By, record.Note, record.Params = t.After, t.Cause, t.By, t.Note, t.Params
		record.Schedule, record.Traceparent = t.Schedule, t.Traceparent
		f.Schedule.Fill(&record)
		claim.Record, claim.Earlier = record, earlier(f, scheduler.Agreed(d.cfg.Cluster, now))
		claim.Head, ok = d.headOf(f, &record)
		return claim, ok, nil
	}
	if !d.disturbed.After(now) { // otherwise the clock has been set back since
		f.NoteOutage(d.disturbed)
	}
	var decision scheduler.Decision
	if f.Action.Expire {
		decision, err = scheduler.Expire(*f, scheduler.Agreed(d.cfg.Cluster, now), inTime)
	} else {
		decision, err = scheduler.Decide(*f, scheduler.Agreed(d.cfg.Cluster, now))
	}
	if err != nil || decision.Nothing() {
		return common.Claim{}, false, err
	}
	claim.To = decision.To
	if decision.Passed > 0 {
		claim.Gap = passedOver(f, &decision, inTime, f.Due.Before(d.fullAt))
	}
	if !decision.Run {
		return claim, true, nil
	}
	record.Fire = common.PlannedFire(f.UID, decision.To)
	record.Run, record.Attempt = common.RunID(record.Fire, 1), 1
	record.PlannedAt, record.Cause = decision.To.UTC(), decision.Cause
	if w := f.Window; w != nil && w.Holds() && decision.To.Before(w.End) {
		record.ReadyAt = new(w.End.UTC())
	}
	f.Schedule.Fill(&record)
	claim.Record, claim.Earlier = record, earlier(f, scheduler.Agreed(d.cfg.Cluster, now))
	if claim.Head, ok = d.headOf(f, &record); !ok {
		return common.Claim{}, false, nil
	}
	switch overlap := f.Terms.Overlap; {
	case !overlap.Forbids():
		if f.Follows && decision.Cause == common.CauseCatchUp && f.Terms.CatchUp == common.CatchUpAll {
			claim.Behind = common.PlannedFire(f.UID, f.Cursor)
		}
	case decision.Cause == common.CauseCatchUp && f.Terms.CatchUp == common.CatchUpAll:
		claim.Patient = true // caught-up fires run one after the other
	case overlap == common.OverlapQueue:
		claim.Queue = queued(&record, scheduler.Agreed(d.cfg.Cluster, now))
		claim.Skipped = unlessLate(f, skipped(&record, common.ReasonQueueFull, "another fire was already queued"))
	case overlap == common.OverlapReplace:
		claim.Queue = queued(&record, scheduler.Agreed(d.cfg.Cluster, now))
	default:
		claim.Skipped = unlessLate(f, skipped(&record, common.ReasonOverlap, "the previous run had not ended"))
		if d.cfg.Backfilled != nil && d.cfg.Backfilled(f.Job) { // it waits for a run of that, and goes first then
			claim.Queue = queued(&record, scheduler.Agreed(d.cfg.Cluster, now))
			claim.Yielded = new(unlessLate(f, skipped(&record, common.ReasonBackfill,
				"a run of a backfill had not ended, and another fire was already queued")))
		}
	}
	return claim, true, nil
}

// headOf returns the head of the flow run that a fire begins; nil for jobs whose fires begin none. ok is false if no
// worker could take part in it.
func (d *Dispatcher) headOf(f *scheduler.Fire, r *common.Record) (head *common.Head, ok bool) {
	if f.Flow == nil {
		return nil, true
	}
	head = &common.Head{
		Kind:       common.KindFlow,
		Run:        r.Run,
		Fire:       r.Fire,
		Attempt:    r.Attempt,
		After:      r.After,
		Job:        f.Job,
		UID:        f.UID,
		JobVersion: f.Version,
		Group:      f.Group,
		Digest:     f.Flow.Digest,
		PlannedAt:  r.PlannedAt,
		ReadyAt:    r.ReadyAt,
		ClaimedAt:  r.ClaimedAt,
		Cause:      r.Cause,
		By:         r.By,
		Note:       r.Note,
		NoAfter:    r.NoAfter,
		Parents:    r.Parents,
		Params:     r.Params,
		Schedule:   r.Schedule,
		Parent:     r.Flow,
		Interval:   f.Schedule.IntervalOf(r),
		Nonce:      r.Nonce,
		Needs:      f.Flow.Needs,
		Before:     r.Base,
		Retry:      r.Retry,
		Nodes:      f.Flow.Nodes,

		Traceparent: r.Traceparent,
	}
	if t := f.Trigger; t != nil && t.Digest != "" { // a re-run, whose steps are numbered by this definition
		head.Digest, head.Base, head.Origin = t.Digest, t.Keep, t.Origin
		head.Needs = f.FlowNeeds()
	}
	if t := f.Trigger; t != nil {
		head.Starters = t.Starters
	}
	if head.NoAfter && !slices.Contains(head.Needs, common.FeatureNoAfter) {
		head.Needs = common.Adding(head.Needs, common.FeatureNoAfter)
	}
	if f.Flow.Timeout > 0 {
		head.Deadline = r.ClaimedAt.Add(f.Flow.Timeout)
	}
	if r.Flow != nil {
		head.Depth = r.Flow.Depth + 1
	}
	if f.Flow.RunOn != nil {
		return head, d.spread(f, head)
	}
	return head, true
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

// inTime reports whether a fire was found before its deadline and etcd has answered since: then it was not claimed for
// lack of an eligible worker or slot.
func (d *Dispatcher) inTime(f *scheduler.Fire) bool {
	return !f.Since.After(f.Deadline()) && f.Since.After(d.disturbed)
}

// Reasons of missed fires.
var (
	late       = common.Reason{Code: common.ReasonLate, Text: "no worker claimed it before its deadline"}
	noSlot     = common.Reason{Code: common.ReasonNoSlot, Text: "the eligible workers had no free slot"}
	unanswered = common.Reason{Code: common.ReasonLate, Text: "etcd accepted no claims before its deadline"}
	noRoom     = common.Reason{
		Code: common.ReasonOutboxFull,
		Text: "the log store was unavailable, and the outboxes were full beyond its deadline",
	}
)

// lateReason is the reason of a fire that was due in an outage.
func lateReason(f *scheduler.Fire) *common.Reason {
	until := f.Late.UTC().Format(time.RFC3339)
	return &common.Reason{Code: common.ReasonLate, Text: "no worker could claim it until " + until,
		Data: map[string]string{"until": until}}
}

// passedOver returns the outcome of passed fires. inTime reports that no worker or slot was there for them, waited that
// the outboxes were too full for them.
func passedOver(f *scheduler.Fire, decision *scheduler.Decision, inTime, waited bool) *common.Run {
	status, reason := common.StatusMissed, late
	switch {
	case decision.Paused:
		status, reason = common.StatusSkipped, common.Reason{Code: common.ReasonPaused, Text: "the job was paused"}
	case decision.Maintained:
		status, reason = common.StatusSkipped, f.Window.Reason(true)
	case f.Action.Expire && inTime:
		if f.Action.Reason.Code != "" {
			reason = f.Action.Reason
		}
	case waited:
		reason = noRoom
	case f.FoundTogether():
		reason = *lateReason(f)
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

// unlessLate returns an outcome of a fire that an unresolved run forbids. One that was due in an outage was missed: it
// did not overlap at its time.
func unlessLate(f *scheduler.Fire, run common.Run) common.Run {
	if f.FoundTogether() {
		run.Status, run.Reason = common.StatusMissed, lateReason(f)
	}
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
		Params:    r.Params,
		Schedule:  r.Schedule,
		NotBefore: now.UTC(),

		Traceparent: r.Traceparent,
	}
}
