package dispatch

import (
	"context"
	"time"

	"carillon/internal/scheduler"
)

// retryAfter is when a fire without a decision is tried again.
const retryAfter = time.Second

// scope holds the contexts of one call of Run.
type scope struct {
	life   context.Context // of runs and finishes, until Run returns
	open   context.Context // of fires, until Run's context ends or Halt is called
	claims context.Context // of claims in flight, for claimPatience longer
	shut   func()          // ends open
}

// until handles events until a condition holds, and returns true; or false once the limit has passed or hurry is
// closed.
func (d *Dispatcher) until(s scope, reached func() bool, hurry <-chan struct{}, limit <-chan time.Time) bool {
	halted := d.halted
	for {
		d.claimPending(s)
		d.readFires(s)
		d.commitOutcomes(s, false)
		if reached() {
			return true
		}
		var fires <-chan scheduler.Fire
		if s.open.Err() == nil {
			fires = d.cfg.Plan.Fires()
		}
		select {
		case f := <-fires:
			d.receive(f)
		case message := <-d.messages:
			message()
		case <-d.gathered:
			d.commitOutcomes(s, true)
		case <-d.started():
			d.commitOutcomes(s, true)
		case <-d.resumed: // pending fires of backfills are claimed
			d.resumed, d.resumeAt = nil, time.Time{}
		case <-d.idleStarts:
			d.idleStarts = nil
		case <-d.fenceTick:
			d.checkFence()
			d.checkLocks(s)
		case <-d.secondTick:
			if s.open.Err() == nil {
				d.giveUp(s)
				d.missed.flush(d.cfg.Now(), false)
			}
		case <-halted:
			halted = nil
			s.shut()
		case <-hurry:
			return false
		case <-limit:
			return false
		}
	}
}

// idle reports whether no run is active.
func (d *Dispatcher) idle() bool { return len(d.runs.active) == 0 }

// request calls a function in a helper goroutine, and then the function that it returns in Run.
func (d *Dispatcher) request(call func() (apply func())) { d.helpers.Go(func() { d.send(call()) }) }

// send lets Run execute a function. After Run has returned it does nothing.
func (d *Dispatcher) send(message func()) {
	select {
	case d.messages <- message:
	case <-d.done:
	}
}

// ask lets Run execute a function and waits for that. After Run has returned it does nothing and returns false.
func (d *Dispatcher) ask(message func()) bool {
	answered := make(chan struct{})
	d.send(func() {
		message()
		close(answered)
	})
	select {
	case <-answered:
		return true
	case <-d.done:
		return false
	}
}

// receive puts a fire into the queue for reads or for claims. The scheduler never waits.
func (d *Dispatcher) receive(f scheduler.Fire) {
	if i := (item{fire: f, asOf: d.cfg.Now()}); f.Action.Read {
		d.reads.put(i)
	} else {
		d.pending.put(i)
	}
}

// answer reports the result of a fire to the scheduler. It fails only when the worker stops, when results do not
// matter.
func (d *Dispatcher) answer(s scope, settled scheduler.Settled) {
	_ = d.cfg.Plan.Settle(s.life, settled)
}

// answerLater lets the scheduler send a fire again, or its successor.
func (d *Dispatcher) answerLater(s scope, f *scheduler.Fire, at time.Time) {
	d.answer(s, scheduler.Settled{Fire: *f, RetryAt: at})
}

// full reports whether the outboxes are full. Then no outcomes of unclaimed fires are written: the scheduler holds
// these fires, and none of them misses its deadline for lack of a worker or a slot.
func (d *Dispatcher) full(now time.Time) bool {
	if !d.cfg.Cluster.Full() {
		return false
	}
	d.fullAt, d.disturbed = now, now
	return true
}

// giveUp expires fires that waited here for a slot beyond their deadlines, unless another worker has claimed them.
// Those that must not be expired now, and fires that need more slots than this worker has, are returned to the
// scheduler.
func (d *Dispatcher) giveUp(s scope) {
	now := d.cfg.Now()
	full := d.full(now)
	late, large := d.pending.overdue(scheduler.Agreed(d.cfg.Cluster, now), d.cfg.Slots())
	free := d.free()
	for _, i := range late {
		if full {
			d.answerLater(s, &i.fire, now)
			continue
		}
		reason := noSlot
		if i.slots() <= free {
			reason = unanswered
		}
		i.fire.Action = scheduler.Action{Expire: true, Reason: reason}
		d.reads.put(i)
	}
	for i := range large {
		d.answerLater(s, &large[i].fire, now.Add(retryAfter))
	}
}
