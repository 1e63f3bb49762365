package executor

import (
	"context"
	"time"
)

const (
	// hangAfter is how long a start may take before it counts as hanging.
	hangAfter = 10 * time.Second
	// abandonEvery is how often the child of a hanging start is killed after its run was stopped.
	abandonEvery = time.Second
	// mostRelieved is the maximum number of additional forkers that replace hanging ones.
	mostRelieved = 32
)

// relief counts the additional forkers that replace hanging ones. They are never ended, since the kernel kills commands
// when the thread that started them ends. Guarded by starts.mu.
type relief struct {
	made int // additional forkers
	used int // hanging starts that have released their place in the gate
}

// place is a start's place in the gate.
type place struct {
	x     *Executor
	given bool // it was released early
}

func (p *place) leave() {
	if !p.given {
		<-p.x.gate
	}
}

// await returns the result of a start. A hanging start releases its place in the gate, and an additional forker serves
// other starts; if its run is stopped meanwhile, the child that has not executed the command yet is
// killed, and an order whose program is still being looked for is abandoned.
func (x *Executor) await(ctx context.Context, t *Task, o *forkOrder, gate *place) error {
	slow := time.NewTimer(hangAfter)
	defer slow.Stop()
	select {
	case err := <-o.done:
		return err
	case <-slow.C:
	}
	x.hang(gate)
	x.cfg.Log.Warn("start_hangs", "job", t.Record.Job, "run", t.Record.Run, "program", o.spec.args[0])
	stop, again := ctx.Done(), time.NewTicker(abandonEvery)
	defer again.Stop()
	kill, killed := t.KillNow, (<-chan struct{})(x.killed)
	for {
		select {
		case err := <-o.done:
			x.unhang(gate)
			return err
		case <-stop:
			stop = nil
		case <-kill:
			kill = nil
		case <-killed:
			killed = nil
		case <-again.C:
		}
		if stop == nil || kill == nil && t.KillNow != nil || killed == nil {
			if o.phase.CompareAndSwap(searching, abandoned) {
				x.abandon(o, gate)
				return x.mayStart(o)
			}
			if o.killChild() {
				o.process.abandoned.Store(true)
			}
		}
	}
}

// abandon leaves an order behind whose program is still being looked for: no signal ends that. The start goes on to
// count as hanging, and keeps its place if it has not released it, until the forker is free again.
func (x *Executor) abandon(o *forkOrder, gate *place) {
	held := *gate
	gate.given = true
	go func() {
		<-o.done
		x.unhang(&held)
		held.leave()
	}()
}

// hang registers a hanging start and releases its place in the gate, unless mostRelieved is reached.
func (x *Executor) hang(gate *place) {
	s := x.starts
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hung++; s.hung == 1 {
		s.hungAt = x.cfg.Now().Add(-hangAfter)
	}
	switch {
	case s.relief.used < s.relief.made: // an additional forker exists from an earlier one
	case s.relief.made < mostRelieved:
		s.relief.made++
		x.addForker()
	default:
		s.full = s.hung-s.relief.used >= cap(x.gate)
		return
	}
	s.relief.used++
	gate.given = true
	<-x.gate
}

func (x *Executor) unhang(gate *place) {
	s := x.starts
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hung--
	s.full = false
	if gate.given {
		s.relief.used--
	}
}
