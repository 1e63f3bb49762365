package dispatch

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// look reads from etcd whether fires were claimed by other workers, batch after batch. Unclaimed fires are claimed or
// expired, if this worker's rank still allows it.
func (d *Dispatcher) look(ctx, life context.Context) {
	for {
		batch, ok := d.looks.take(ctx, d.cfg.MaxBatch, func(i *item) string { return placeOf(&i.fire) })
		if !ok || ctx.Err() != nil {
			return
		}
		d.cfg.Metrics.QueueDepth("looks", d.looks.len())
		looks := make([]common.FireQuery, len(batch))
		now := d.cfg.Now()
		for i := range batch {
			looks[i] = lookAt(&batch[i].fire, now)
		}
		found := d.cfg.Claimer.ReadFires(ctx, looks)
		now = d.cfg.Now()
		for i := range batch {
			if settled, open := d.looked(&batch[i], &found[i], now); !open {
				d.answer(life, settled)
			}
		}
	}
}

func placeOf(f *scheduler.Fire) string {
	if f.Trigger != nil {
		return f.Job + "/" + f.Trigger.ID
	}
	return f.Job
}

// lookAt returns the read for a fire. It includes unresolved runs if one of them would only make the claim wait.
func lookAt(f *scheduler.Fire, now time.Time) common.FireQuery {
	look := common.FireQuery{Job: f.Job}
	if f.Trigger != nil {
		look.Trigger, look.Revision, look.Runs = f.Trigger.ID, f.Trigger.Revision, f.Terms.Overlap.Forbids()
	} else {
		look.Runs = f.Terms.CatchUp == common.CatchUpAll && f.Terms.Overlap.Forbids() && now.After(f.Deadline())
	}
	return look
}

// looked queues a fire that is still unclaimed; otherwise it returns the fire's result.
func (d *Dispatcher) looked(i *item, found *common.FireState, now time.Time) (settled scheduler.Settled, open bool) {
	f := &i.fire
	settled = scheduler.Settled{Fire: *f}
	switch {
	case found.Err != nil:
		d.turns.disturb(now)
		settled.RetryAt = now.Add(retryAfter)
		return settled, false
	case found.Taken:
		settled.Gone = true
		return settled, false
	case found.Busy:
		settled.RetryAt = now.Add(retryAfter)
		return settled, false
	case f.Trigger == nil && !found.Cursor.Equal(f.Cursor):
		if found.Cursor.Before(f.Cursor) { // the answer is older than the plan
			settled.RetryAt = now.Add(retryAfter)
		}
		settled.Cursor = found.Cursor
		return settled, false
	}
	next := d.turns.of(f, now)
	if next.act == wait {
		settled.RetryAt = next.at
		return settled, false
	}
	if i.turn.act == expire { // it waited for a slot: that reason is kept, whatever holds now
		next = i.turn
	}
	d.pending.put(item{fire: *f, turn: next, asOf: now})
	return settled, true
}
