package executor

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/executor/proctree"
)

// reapEvery is how often adopted processes are reaped between the ends of runs.
const reapEvery = time.Second

// unsureWait is how long the end of a run waits to distinguish a command that is being started from its own processes.
const unsureWait = time.Second

// sureAfter is how long a process without a known run is examined again.
const sureAfter = time.Second

// clockTick is the unit of start times in /proc.
const clockTick = proctree.Tick

// tracker tracks the descendants of runs that outlived their parents: since this process is a subreaper, they become
// its children. The kernel lists them under the first thread. Commands are started by other threads and listed under
// those, with the siblings that they create (CLONE_PARENT). So two short lists show whether any process was left
// behind, and a process that a run waits for is never reaped here. A nil tracker is valid: the executor adopts no
// processes.
type tracker struct {
	worker, life string
	list         int // descriptor of the first thread's list of children
	marks        *marker

	// Indexes of the runs by the identification of their processes, from the start of a run until none of its processes
	// is left. Guarded by mu, which is held only briefly.
	mu       sync.Mutex
	live     map[*process]bool
	forkers  map[*siblings]bool
	byRun    map[string]*process
	byMark   map[uint64]*process
	byPID    map[int]*process    // by the id of the command, which is also that of its group and session
	byFolder map[string]*process // by private folder
	noted    map[int]note
	next     *look // nil: no run waits for one

	passing sync.Mutex       // held during a pass; locked before mu
	known   map[int]*verdict // adopted processes, whose ids are not reused before a pass reaps them; guarded by passing
	passes  uint64           // guarded by passing
	text    []byte           // buffer of the last list; guarded by passing
}

// note is a process that was seen among the descendants of a run.
type note struct {
	proctree.Process
	of *process
}

// adopt makes this process a subreaper.
func adopt(worker, life string, marks *marker) (*tracker, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become a subreaper: %w", err)
	}
	list, err := openChildren(os.Getpid())
	if err != nil {
		return nil, err
	}
	return &tracker{
		worker:   worker,
		life:     life,
		list:     list,
		marks:    marks,
		live:     make(map[*process]bool),
		forkers:  make(map[*siblings]bool),
		byRun:    make(map[string]*process),
		byMark:   make(map[uint64]*process),
		byPID:    make(map[int]*process),
		byFolder: make(map[string]*process),
		noted:    make(map[int]note),
		known:    make(map[int]*verdict),
	}, nil
}

func (k *tracker) close() error {
	if k == nil {
		return nil
	}
	return unix.Close(k.list)
}

// enter registers a run before its command is started.
func (k *tracker) enter(p *process) {
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
	k.byFolder[p.folder] = p
}

// name sets the process id of the run's command.
func (k *tracker) name(p *process, pid int) {
	if k == nil {
		p.pid = pid
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p.pid = pid
	k.byPID[pid] = p
}

// endCommand records that the command was reaped: its id is only that of its group now.
func (k *tracker) endCommand(p *process) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p.ending = true
}

// leave removes a run that has no processes left.
func (k *tracker) leave(p *process) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.live, p)
	forget(k.byRun, p.run, p)
	forget(k.byPID, p.pid, p)
	forget(k.byMark, p.number, p)
	forget(k.byFolder, p.folder, p)
	for pid := range p.noted {
		if k.noted[pid].of == p {
			delete(k.noted, pid)
		}
	}
}

// forget removes a run from an index, unless another run has its key by now.
func forget[K comparable](runs map[K]*process, name K, p *process) {
	if runs[name] == p {
		delete(runs, name)
	}
}

// note records the descendants of a live command, so that they are still identified after its end.
func (k *tracker) note(p *process) {
	if k != nil {
		k.noteAll(p, proctree.Below(p.pid))
	}
}

func (k *tracker) noteAll(p *process, list []proctree.Process) {
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

// adopted returns the adopted processes that belong to runs, as the last passes found.
func (k *tracker) adopted() map[*process][]int {
	if k == nil {
		return nil
	}
	k.passing.Lock()
	defer k.passing.Unlock()
	of := map[*process][]int{}
	for pid, v := range k.known {
		if v.of != nil {
			of[v.of] = append(of[v.of], pid)
		}
	}
	return of
}

// killNoted kills the recorded descendants.
func (k *tracker) killNoted(p *process) {
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

// end kills the remaining descendants of a run whose command has ended, and returns when they are gone. clean reports
// that there were none; left is the number that could not be killed in time. It waits for processes that may belong to
// this run or another one for at most hold, or until now is closed, and then kills them.
func (k *tracker) end(p *process, hold time.Duration, now <-chan struct{}) (clean bool, left int) {
	k.endCommand(p)
	defer k.leave(p)
	if k.nothingLeft(p, now) {
		return true, 0
	}
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

// endOwn kills the processes of the run, and with all also those that may belong to it. doubtful is the number of
// processes that may belong to it and were left alive.
func (k *tracker) endOwn(p *process, all bool) (clean bool, left, doubtful int) {
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
		wait := time.Duration(0) // a reaped process may have left children after the list was read
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

// found is the result of a pass: the number of processes that belong or may belong to the run and were killed; the
// number that had ended; the number that may belong to the run and were left alive; and whether some processes were
// left out because they may be commands that are being started.
type found struct {
	lived, reaped, doubtful int
	unsure                  bool
}

// pass reaps adopted processes that have ended. It kills those that belong to a run or to no active run, with their
// descendants; with all, also those that may belong to the run. p may be nil.
func (k *tracker) pass(p *process, all bool) (f found) {
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
	oldest := sync.OnceValue(k.oldest) // computed after the list was read: all listed processes were started before
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
			k.noteAll(p, append(below, v.Process)) // they will be adopted when this one is gone
		}
		_ = unix.Kill(pid, unix.SIGKILL) // a child that is not reaped: its id cannot have been reused
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

// reapUntil reaps adopted processes, and kills those that cannot belong to an active run, until quit is closed.
func (k *tracker) reapUntil(quit <-chan struct{}) {
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
