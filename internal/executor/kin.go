package executor

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/bootclock"
	"carillon/internal/proctree"
)

// reapEvery is how often what ended between the ends of runs is reaped.
const reapEvery = time.Second

// sureAfter is how long after the first look the last one is made at what nobody is known for.
const sureAfter = time.Second

// clockTick is the unit in which /proc tells when a process was started.
const clockTick = 10 * time.Millisecond

// kin is what stems from the runs, and outlived the process that started it: as a
// subreaper, this process gets it as its children. The kernel lists them under the
// first thread. Commands are started by other threads and listed under those, so that
// one short list tells whether anything was left behind at all, and nothing that a run
// waits for is ever reaped here. A nil kin is that of an executor that adopts nobody.
type kin struct {
	worker, life string
	list         int // descriptor of the first thread's list of children

	// Runs are looked up by what tells that a process is theirs, from their start until
	// nothing of them is left. All of it is guarded by mu, which nobody holds for long.
	mu      sync.Mutex
	live    map[*process]bool
	byRun   map[string]*process
	byPID   map[int]*process    // of the command: the id of its group and session as well
	byPlace map[string]*process // its private folder and its outputs, as /proc names them
	noted   map[int]note

	passing sync.Mutex       // held for a pass, before mu
	known   map[int]*verdict // about the adopted, whose ids stay theirs until a pass reaps them; guarded by passing
	passes  uint64           // guarded by passing
	text    []byte           // the list as it was read last; guarded by passing
}

// note is a process that was seen to stem from a run.
type note struct {
	proctree.Process
	of *process
}

// adopt makes this process a subreaper.
func adopt(worker, life string) (*kin, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become a subreaper: %w", err)
	}
	list, err := unix.Open("/proc/self/task/"+strconv.Itoa(os.Getpid())+"/children", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("list adopted processes: %w", err)
	}
	return &kin{worker: worker, life: life, list: list,
		live: make(map[*process]bool), byRun: make(map[string]*process), byPID: make(map[int]*process),
		byPlace: make(map[string]*process), noted: make(map[int]note), known: make(map[int]*verdict)}, nil
}

func (k *kin) close() error {
	if k == nil {
		return nil
	}
	return unix.Close(k.list)
}

// enter is told of a run before it is started.
func (k *kin) enter(p *process) {
	if k == nil {
		return
	}
	p.began = uint64(bootclock.Now() / clockTick)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.live[p] = true
	k.byRun[p.run] = p
	for _, place := range p.places() {
		k.byPlace[place] = p
	}
}

// name is told what the run's command is called.
func (k *kin) name(p *process, pid int) {
	if k == nil {
		p.pid = pid
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p.pid = pid
	k.byPID[pid] = p
}

// endCommand is told that the command was reaped: its id is only that of a group now.
func (k *kin) endCommand(p *process) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p.ending = true
}

// leave is told that nothing stems from a run any more.
func (k *kin) leave(p *process) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.live, p)
	forget(k.byRun, p.run, p)
	forget(k.byPID, p.pid, p)
	for _, place := range p.places() {
		forget(k.byPlace, place, p)
	}
	for pid := range p.noted {
		if k.noted[pid].of == p {
			delete(k.noted, pid)
		}
	}
}

// forget spares who has the name by now.
func forget[K comparable](runs map[K]*process, name K, p *process) {
	if runs[name] == p {
		delete(runs, name)
	}
}

// places are names in /proc that only what stems from the run has to do with; some may be empty.
func (p *process) places() [3]string { return [...]string{p.folder, p.pipes[0], p.pipes[1]} }

// note remembers what stems from a command that lives, so that it is still known for
// the run's when the command does not.
func (k *kin) note(p *process) {
	if k != nil {
		k.noteAll(p, proctree.Below(p.pid))
	}
}

func (k *kin) noteAll(p *process, list []proctree.Process) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.noted == nil {
		p.noted = make(map[int]proctree.Process)
	}
	for _, q := range list {
		p.noted[q.PID] = q
		k.noted[q.PID] = note{q, p}
	}
}

// killNoted kills what was noted.
func (k *kin) killNoted(p *process) {
	if k == nil {
		return
	}
	k.mu.Lock()
	list := slices.Collect(maps.Values(p.noted))
	k.mu.Unlock()
	for _, q := range list {
		_ = q.Kill()
	}
}

// end kills what stems from a run whose command has ended, and returns when it is gone.
// It tells whether there was nothing in the first place, and how many could not be
// killed in time.
func (k *kin) end(p *process) (clean bool, left int) {
	k.endCommand(p)
	defer k.leave(p)
	left, reaped := k.pass(p)
	if left == 0 && reaped == 0 {
		return true, 0
	}
	clean = left == 0
	over := time.NewTimer(settleWait)
	defer over.Stop()
	for pause := time.Millisecond; left > 0 || reaped > 0; {
		wait := time.Duration(0) // what was reaped may have left something behind after the list was read
		if left > 0 {
			wait, pause = pause, min(2*pause, longPoll)
		}
		select {
		case <-over.C:
			return false, left
		case <-time.After(wait):
			left, reaped = k.pass(p)
			clean = clean && left == 0
		}
	}
	return clean, 0
}

// pass reaps the adopted that have ended, and kills those of a run and those that are no living run's
// with all that stems from them. It tells how many lived that are the run's, or may be, and how many were
// reaped. p may be nil.
func (k *kin) pass(p *process) (lived, reaped int) {
	k.passing.Lock()
	defer k.passing.Unlock()
	k.passes++
	listed := k.adopted()
	if len(listed) == 0 { // the usual case
		clear(k.known)
		return 0, 0
	}
	oldest := sync.OnceValue(k.oldest) // found out after the list was read: who is in it was started by then
	for _, pid := range listed {
		if k.isCommand(pid) {
			continue
		}
		v := k.judge(pid)
		if v == nil {
			reaped++
			continue
		}
		goes, mine := k.goesWith(p, v, oldest)
		if !goes {
			continue
		}
		below := append(proctree.Below(pid), v.Process)
		if p != nil {
			k.noteAll(p, below) // they are adopted when this one is gone
		}
		for _, q := range below {
			if !q.Dead {
				_ = q.Kill()
				if mine {
					lived++
				}
			}
		}
	}
	if len(k.known) > len(listed) {
		maps.DeleteFunc(k.known, func(_ int, v *verdict) bool { return v.passed != k.passes })
	}
	return lived, reaped
}

// adopted lists all that were adopted. The kernel gives a page at a time. Nobody leaves the
// list but by a pass, so that none is missed between two pages.
func (k *kin) adopted() []int {
	k.text = k.text[:0]
	for {
		k.text = slices.Grow(k.text, 4096)
		n, err := unix.Pread(k.list, k.text[len(k.text):cap(k.text)], int64(len(k.text)))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || n == 0:
			return proctree.Parse(k.text)
		default:
			k.text = k.text[:len(k.text)+n]
		}
	}
}

// isCommand spares a command whose thread ended, and which was moved to the first one.
func (k *kin) isCommand(pid int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.byPID[pid]
	return p != nil && !p.ending
}

// reapUntil reaps, and kills what no living run can be the source of, until quit is closed.
func (k *kin) reapUntil(quit <-chan struct{}) {
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			k.pass(nil)
		case <-quit:
			return
		}
	}
}
