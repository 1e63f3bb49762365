package executor

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/bootclock"
	"carillon/internal/proctree"
)

// reapEvery is how often what ended between the ends of runs is reaped.
const reapEvery = time.Second

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

	mu   sync.Mutex
	live map[*process]bool // of which something may stem; guarded by mu, with their noted
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
	return &kin{worker: worker, life: life, list: list, live: make(map[*process]bool)}, nil
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
}

// name is told what the run's command is called.
func (k *kin) name(p *process, pid int) {
	if k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
	}
	p.pid = pid
}

// leave is told that nothing stems from a run any more.
func (k *kin) leave(p *process) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.live, p)
}

// note remembers what stems from a command that lives, so that it is still known for
// the run's when the command does not.
func (k *kin) note(p *process) {
	if k == nil {
		return
	}
	below := proctree.Below(p.pid)
	k.mu.Lock()
	defer k.mu.Unlock()
	p.note(below)
}

// killNoted kills what was noted.
func (k *kin) killNoted(p *process) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, q := range p.noted {
		_ = q.Kill()
	}
}

// end kills what stems from a run whose command has ended, and returns when it is gone.
// It tells whether there was nothing in the first place, and how many could not be
// killed in time.
func (k *kin) end(p *process) (clean bool, left int) {
	k.leave(p)
	if left = k.pass(p); left == 0 {
		return true, 0
	}
	over := time.After(settleWait)
	for pause := time.Millisecond; left > 0; pause = min(2*pause, longPoll) {
		select {
		case <-time.After(pause):
			left = k.pass(p)
		case <-over:
			return false, left
		}
	}
	return false, 0
}

// pass reaps the adopted that have ended, and kills those of a run and those that are no living run's
// with all that stems from them. It tells how many lived. p may be nil.
func (k *kin) pass(p *process) (lived int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range k.adopted() {
		if !k.goesWith(p, a) {
			continue
		}
		below := append(proctree.Below(a.PID), a)
		if p != nil {
			p.note(below) // they are adopted when a is gone
		}
		for _, q := range below {
			if !q.Dead {
				lived++
				_ = q.Kill()
			}
		}
	}
	return lived
}

// adopted lists the adopted that live, and reaps the others. It is called under mu.
func (k *kin) adopted() (list []proctree.Process) {
	var buf [4096]byte
	for {
		n, err := unix.Pread(k.list, buf[:], 0)
		if err == nil && n == 0 {
			return nil // the usual case
		}
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil
		}
		text := string(buf[:n])
		if n == len(buf) {
			text = text[:strings.LastIndexByte(text, ' ')+1] // the rest comes when these are gone
		}
		for _, pid := range proctree.Parse([]byte(text)) {
			q, found := proctree.Look(pid)
			switch {
			case !found || k.isCommand(pid):
			case q.Dead:
				_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			default:
				list = append(list, q)
			}
		}
		return list
	}
}

// isCommand spares a command whose thread ended, and which was moved to the first one.
func (k *kin) isCommand(pid int) bool {
	for p := range k.live {
		if p.pid == pid {
			return true
		}
	}
	return false
}

// goesWith tells whether what was adopted ends with a run: it is the run's, or it can
// be no living run's. One that gave up all that would tell whose it is may be that of
// any run that was going on when it was started.
func (k *kin) goesWith(p *process, a proctree.Process) bool {
	s := signsOf(a)
	if p != nil && k.is(p, s) {
		return true
	}
	doubtful := false
	for other := range k.live {
		if other == p {
			continue
		}
		if k.is(other, s) {
			return false
		}
		doubtful = doubtful || a.Start >= other.began
	}
	return !doubtful || k.ours(s)
}

// signs are what tells whose a process is.
type signs struct {
	proctree.Process
	env    environ
	folder string
	files  map[string]bool
}

func signsOf(a proctree.Process) *signs {
	s := &signs{Process: a, env: environOf(a.PID), files: make(map[string]bool)}
	of := "/proc/" + strconv.Itoa(a.PID)
	s.folder, _ = os.Readlink(of + "/cwd")
	entries, _ := os.ReadDir(of + "/fd")
	for _, e := range entries {
		if file, err := os.Readlink(of + "/fd/" + e.Name()); err == nil {
			s.files[file] = true
		}
	}
	return s
}

// ours tells whether the process was started by a command of this life.
func (k *kin) ours(s *signs) bool {
	return s.env.get(envRun) != "" && s.env.get(envWorker) == k.worker && s.env.get(envLife) == k.life
}

// is tells whether the process is known for the run's: by its group, its session, its
// environment, the run's private folder, or the run's output.
func (k *kin) is(p *process, s *signs) bool {
	if noted, found := p.noted[s.PID]; found && noted.Start == s.Start {
		return true
	}
	if s.Group == p.pid || s.Session == p.pid || k.ours(s) && s.env.get(envRun) == p.run {
		return true
	}
	if p.folder != "" && (s.folder == p.folder || strings.HasPrefix(s.folder, p.folder+"/")) {
		return true
	}
	return s.files[p.pipes[0]] || s.files[p.pipes[1]]
}

func (p *process) note(list []proctree.Process) {
	if p.noted == nil {
		p.noted = make(map[int]proctree.Process)
	}
	for _, q := range list {
		p.noted[q.PID] = q
	}
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
