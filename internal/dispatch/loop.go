package dispatch

import (
	"context"
	"time"

	"carillon/internal/scheduler"
)

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
			d.receive(s, f)
		case message := <-d.messages:
			message()
		case <-d.gathered:
			d.gathered = nil
			d.commitOutcomes(s, true)
		case <-d.fenceTick:
			d.checkFence()
			d.checkLocks(s)
		case <-d.secondTick:
			if s.open.Err() == nil {
				d.giveUp()
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

// receive postpones a fire, or puts it into the queue for reads or for claims. The scheduler never waits.
func (d *Dispatcher) receive(s scope, f scheduler.Fire) {
	now := d.cfg.Now()
	switch action := d.ranking.decide(&f, now); {
	case action.kind == wait:
		d.answer(s, scheduler.Settled{Fire: f, RetryAt: action.at})
	case action.read:
		d.reads.put(item{fire: f, action: action})
	default:
		d.pending.put(item{fire: f, action: action, asOf: now})
	}
}

// answer reports the result of a fire to the scheduler. It fails only when the worker stops, when results do not
// matter.
func (d *Dispatcher) answer(s scope, settled scheduler.Settled) {
	_ = d.cfg.Plan.Settle(s.life, settled)
}

// giveUp expires fires that waited here for a slot beyond their deadlines, unless another worker has claimed them.
// Fires that need more slots than this worker has are looked up again, since another worker may have claimed them.
func (d *Dispatcher) giveUp() {
	late, large := d.pending.overdue(agreed(d.cfg.Cluster, d.cfg.Now()), d.cfg.Slots())
	free := d.free()
	for _, i := range late {
		reason := noSlot
		if i.slots() <= free {
			reason = unanswered
		}
		i.action = d.ranking.overdue(&i.fire, reason)
		d.reads.put(i)
	}
	d.reads.put(large...)
}
