package executor

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/proctree"
)

// reapEvery is how often what ended between the ends of runs is reaped.
const reapEvery = time.Second

// unsureWait is how long the end of a run waits to tell a command that is being started from a process of its own.
const unsureWait = time.Second

// sureAfter is how long after the first look the last one is made at what nobody is known for.
const sureAfter = time.Second

// clockTick is the unit in which /proc tells when a process was started.
const clockTick = 10 * time.Millisecond

// kin is what stems from the runs, and outlived the process that started it: as a
// subreaper, this process gets it as its children. The kernel lists them under the
// first thread. Commands are started by other threads and listed under those, with what they
// start beside themselves (CLONE_PARENT), so that two short lists tell whether anything was left behind
// at all, and nothing that a run waits for is ever reaped here. A nil kin is that of an executor that adopts nobody.
type kin struct {
	worker, life string
	list         int // descriptor of the first thread's list of children
	marks        *marker

	// Runs are looked up by what tells that a process is theirs, from their start until
	// nothing of them is left. All of it is guarded by mu, which nobody holds for long.
	mu      sync.Mutex
	live    map[*process]bool
	forkers map[*siblings]bool
	byRun   map[string]*process
	byMark  map[uint64]*process
	byPID   map[int]*process    // of the command: the id of its group and session as well
	byPlace map[string]*process // its private folder and its outputs, as /proc names them
	noted   map[int]note

	passing sync.Mutex       // held for a pass, before mu
	known   map[int]*verdict // about the adopted, whose ids stay theirs until a pass reaps them; guarded by passing
	passes  uint64           // guarded by passing
	text    []byte           // a list as it was read last; guarded by passing
}

// note is a process that was seen to stem from a run.
type note struct {
	proctree.Process
	of *process
}

// adopt makes this process a subreaper.
func adopt(worker, life string, marks *marker) (*kin, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become a subreaper: %w", err)
	}
	list, err := openChildren(os.Getpid())
	if err != nil {
		return nil, err
	}
	return &kin{worker: worker, life: life, list: list, marks: marks, forkers: make(map[*siblings]bool), byMark: make(map[uint64]*process),
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
	p.began = ticks()
	p.number = k.marks.number()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.live[p] = true
	if p.number != 0 {
		k.byMark[p.number] = p
	}
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
	forget(k.byMark, p.number, p)
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
// killed in time. A process that may be the run's, or another's, is waited for as long as hold says, or until
// now is closed, and then killed.
func (k *kin) end(p *process, hold time.Duration, now <-chan struct{}) (clean bool, left int) {
	k.endCommand(p)
	defer k.leave(p)
	clean, left, doubtful := k.endOwn(p, false)
	if left > 0 || doubtful == 0 || hold <= 0 {
		return clean, left
	}
	over := time.NewTimer(hold)
	defer over.Stop()
	for doubtful > 0 {
		select {
		case <-over.C:
			_, left, _ = k.endOwn(p, true)
			return false, left
		case <-now:
			_, left, _ = k.endOwn(p, true)
			return false, left
		case <-time.After(longPoll):
			_, left, doubtful = k.endOwn(p, false)
		}
	}
	return false, left
}

// endOwn kills what is the run's, or with all what may be, and tells how many of another's, or the run's, go on.
func (k *kin) endOwn(p *process, all bool) (clean bool, left, doubtful int) {
	began, over := time.Now(), time.NewTimer(settleWait)
	defer over.Stop()
	clean = true
	for pause := time.Millisecond; ; {
		f := k.pass(p, all)
		clean = clean && f.lived == 0
		unsure := f.unsure && time.Since(began) < unsureWait
		if f.lived == 0 && f.reaped == 0 && !unsure {
			return clean, 0, f.doubtful
		}
		wait := time.Duration(0) // what was reaped may have left something behind after the list was read
		if f.lived > 0 || unsure {
			wait, pause = pause, min(2*pause, longPoll)
		}
		select {
		case <-over.C:
			return false, f.lived, f.doubtful
		case <-time.After(wait):
		}
	}
}

// found is what a pass found: how many that are the run's, or may be, were alive and were killed; how many had ended;
// how many that may be the run's were left alive; and whether there were some that may be a command just started.
type found struct {
	lived, reaped, doubtful int
	unsure                  bool
}

// pass reaps the adopted that have ended, and kills those of a run and those that are no living run's
// with all that stems from them; with all, also those that may be the run's. p may be nil.
func (k *kin) pass(p *process, all bool) (f found) {
	k.passing.Lock()
	defer k.passing.Unlock()
	k.passes++
	var listed []int
	listed, f.unsure = k.listed(p)
	if len(listed) == 0 { // the usual case
		if p == nil {
			clear(k.known)
		}
		return f
	}
	oldest := sync.OnceValue(k.oldest) // found out after the list was read: who is in it was started by then
	for _, pid := range listed {
		v := k.judge(pid)
		if v == nil {
			f.reaped++
			continue
		}
		goes, mine := k.goesWith(p, v, oldest)
		if !goes && !(mine && all) {
			if mine {
				f.doubtful++
			}
			continue
		}
		below := proctree.Below(pid)
		if p != nil {
			k.noteAll(p, append(below, v.Process)) // they are adopted when this one is gone
		}
		_ = unix.Kill(pid, unix.SIGKILL) // our child, and not reaped: its id is its own
		if mine {
			f.lived++
		}
		for _, q := range below {
			if !q.Dead {
				_ = q.Kill()
				if mine {
					f.lived++
				}
			}
		}
	}
	if p == nil { // all lists were read
		maps.DeleteFunc(k.known, func(_ int, v *verdict) bool { return v.passed != k.passes })
	}
	return f
}

// reapUntil reaps, and kills what no living run can be the source of, until quit is closed.
func (k *kin) reapUntil(quit <-chan struct{}) {
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			k.pass(nil, false)
		case <-quit:
			return
		}
	}
}
