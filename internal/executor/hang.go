package executor

import (
	"context"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/proctree"
)

const (
	// hangAfter is how long a start may take before it counts as one that hangs.
	hangAfter = 10 * time.Second
	// abandonEvery is how often the child of a start that hangs is killed, once its run is to end.
	abandonEvery = time.Second
	// mostRelieved is how many forkers there are at most in place of those that hang.
	mostRelieved = 32
)

// relief counts the forkers that were started in place of those that hang. They stay, since the kernel
// ends commands with the thread that started them. Guarded by starts.mu.
type relief struct {
	made int // forkers beyond the first ones
	used int // starts that hang and have given their place back
}

// place is a start's place in the gate.
type place struct {
	x     *Executor
	given bool // it was given back early
}

func (p *place) leave() {
	if !p.given {
		<-p.x.gate
	}
}

// await returns the result of a start. One that hangs gives its place at the gate to others, for whom
// there is another forker; when its run is to end meanwhile, the process that has not become the command is killed.
func (x *Executor) await(ctx context.Context, t *Task, o *forkOrder, gate *place) error {
	slow := time.NewTimer(hangAfter)
	defer slow.Stop()
	select {
	case err := <-o.done:
		return err
	case <-slow.C:
	}
	x.hang(gate)
	x.cfg.Log.Warn("start_hangs", "job", t.Record.Job, "run", t.Record.Run, "program", o.spec.path)
	defer x.unhang(gate)
	stop, again := ctx.Done(), time.NewTicker(abandonEvery)
	defer again.Stop()
	kill, killed := t.KillNow, (<-chan struct{})(x.killed)
	for {
		select {
		case err := <-o.done:
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
			o.process.abandoned.Store(true)
			o.killChild()
		}
	}
}

// hang notes that a start hangs, and makes room for others as long as that is allowed.
func (x *Executor) hang(gate *place) {
	s := x.starts
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hung++; s.hung == 1 {
		s.hungAt = x.cfg.Now().Add(-hangAfter)
	}
	switch {
	case s.relief.used < s.relief.made: // an earlier one made room for it
	case s.relief.made < mostRelieved:
		s.relief.made++
		x.own.Go(x.forker)
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

// killChild kills the process that was forked for the order and still is a copy of this one: the last
// child of the forker's thread, which waits for it.
func (o *forkOrder) killChild() {
	thread := strconv.Itoa(int(o.thread.Load()))
	data, err := os.ReadFile("/proc/self/task/" + thread + "/children")
	if err != nil {
		return
	}
	children := proctree.Parse(data)
	if len(children) == 0 {
		return
	}
	last, found := proctree.Look(children[len(children)-1])
	if !found || last.Start < o.began || !sameProgram(last.PID) {
		return
	}
	_ = last.Kill() // it is tried again
}

// sameProgram reports whether a process executes what this one does.
func sameProgram(pid int) bool {
	var own, other unix.Stat_t
	return unix.Stat("/proc/self/exe", &own) == nil && unix.Stat("/proc/"+strconv.Itoa(pid)+"/exe", &other) == nil &&
		own.Dev == other.Dev && own.Ino == other.Ino
}
