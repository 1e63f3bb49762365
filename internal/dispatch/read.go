package dispatch

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// readFires reads from etcd whether the queued fires were claimed by other workers. Unclaimed fires are claimed, if
// this worker is still eligible, or expired.
func (d *Dispatcher) readFires(s scope) {
	if d.reading || d.reads.len() == 0 || s.open.Err() != nil {
		return
	}
	batch := d.reads.take(d.cfg.MaxBatch)
	d.cfg.Metrics.QueueDepth("looks", d.reads.len())
	queries := make([]common.FireQuery, len(batch))
	now := d.cfg.Now()
	for i := range batch {
		queries[i] = queryOf(&batch[i].fire, now)
	}
	d.reading = true
	d.request(func() func() {
		states := d.cfg.Claimer.ReadFires(s.open, queries)
		return func() {
			d.reading = false
			now := d.cfg.Now()
			for i := range batch {
				f := &batch[i].fire
				settled, open := d.applyState(f, &states[i], now)
				if open && !f.Action.Expire {
					if eligible, _ := d.ranking.Recheck(f, now); !eligible { // no longer, since the read took some time
						settled.RetryAt, open = now, false
					}
				}
				if !open {
					d.answer(s, settled)
					continue
				}
				d.pending.put(item{fire: *f, asOf: now})
			}
		}
	})
}

// queryOf returns the read for a fire. It includes unresolved runs if one of them would only make the claim wait.
func queryOf(f *scheduler.Fire, now time.Time) common.FireQuery {
	q := common.FireQuery{Job: f.Job, Flow: f.Flow != nil}
	if f.Trigger != nil {
		q.Trigger, q.Revision, q.Runs = f.Trigger.ID, f.Trigger.Revision, f.Terms.Overlap.Forbids()
	} else {
		q.Runs = f.Terms.CatchUp == common.CatchUpAll && f.Terms.Overlap.Forbids() &&
			(f.FoundTogether() || now.After(f.Deadline()))
	}
	return q
}

// applyState reports whether a fire is still unclaimed; otherwise it returns the fire's result.
func (d *Dispatcher) applyState(f *scheduler.Fire, found *common.FireState,
	now time.Time) (settled scheduler.Settled, open bool) {
	settled = scheduler.Settled{Fire: *f}
	switch {
	case found.Err != nil:
		d.disturbed, settled.RetryAt = now, now.Add(retryAfter)
	case found.Taken:
		settled.Gone = true
	case found.Busy:
		settled.RetryAt = now.Add(retryAfter)
	case f.Trigger == nil && !found.Cursor.Equal(f.Cursor):
		if settled.Cursor = found.Cursor; found.Cursor.Before(f.Cursor) { // the answer is older than the plan
			settled.RetryAt = now.Add(retryAfter)
		}
	default:
		return settled, true
	}
	return settled, false
}
