package executor

import (
	"cmp"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/proctree"
)

// verdict tells whose an adopted process is. One that was once seen to be a run's stays
// that run's; about one that nobody is known for, it is made more than once, since who is
// about to execute a program shows nothing for a moment.
type verdict struct {
	proctree.Process
	of     *process
	lost   bool // it is that of a run of this life which is over
	first  time.Time
	sure   bool
	passed uint64 // when it was last listed
}

// judge reaps an adopted process that has ended, and then gives nil. About one that lives it tells
// whose it is. Its signs are read when it is new.
func (k *kin) judge(pid int) *verdict {
	if ended(pid) {
		delete(k.known, pid)
		return nil
	}
	v := k.known[pid]
	if v == nil {
		q, found := proctree.Look(pid)
		if !found { // it is hidden from us (hidepid), as one that is not dumpable
			q = proctree.Process{PID: pid, Start: ticks()}
			q.Group, _ = unix.Getpgid(pid)
			q.Session, _ = unix.Getsid(pid)
		}
		q.Dead = false // its first thread may have ended, while others go on
		v = &verdict{Process: q, first: time.Now()}
		k.known[pid] = v
	}
	v.passed = k.passes
	if v.of != nil || v.sure {
		return v
	}
	v.sure = time.Since(v.first) >= sureAfter
	v.of, v.lost = k.whose(v.Process)
	if v.of == nil && ended(pid) { // while it was looked at: its signs were gone
		delete(k.known, pid)
		return nil
	}
	return v
}

// ended reaps a process if it has ended.
func ended(pid int) bool {
	got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	return got == pid || errors.Is(err, syscall.ECHILD)
}

// goesWith tells whether what was adopted ends with a run, and whether it may be the run's: it is
// the run's, or it can be no living run's. One that gave up all that would tell whose it is may
// be that of any run that was going on when it was started.
func (k *kin) goesWith(p *process, v *verdict, oldest func() uint64) (goes, mine bool) {
	switch {
	case v.of != nil && v.of == p:
		return true, true
	case v.of != nil:
		k.mu.Lock()
		defer k.mu.Unlock()
		return !k.live[v.of], false
	case v.lost:
		return true, false
	default:
		return v.Start < oldest(), p != nil && v.Start >= p.began
	}
}

// oldest is when the oldest of the runs whose commands live began.
func (k *kin) oldest() (began uint64) {
	began = math.MaxUint64
	k.mu.Lock()
	defer k.mu.Unlock()
	for p := range k.live {
		if !p.ending {
			began = min(began, p.began)
		}
	}
	return began
}

// whose tells whose a process is: by having been seen below the command, by its group, its session, its mark, its
// environment, the run's private folder, or the run's output. The signs that cost the most
// to read come last.
func (k *kin) whose(a proctree.Process) (of *process, lost bool) {
	if of = k.lookUp(func() *process {
		if seen, found := k.noted[a.PID]; found && seen.Start == a.Start {
			return seen.of
		}
		return cmp.Or(k.byPID[a.Group], k.byPID[a.Session])
	}); of != nil {
		return of, false
	}
	if number := k.marks.runOf(a.PID); number != 0 {
		of = k.lookUp(func() *process { return k.byMark[number] })
		return of, of == nil
	}
	env := environOf(a.PID)
	run := env.get(envRun)
	if run != "" && env.get(envWorker) == k.worker && env.get(envLife) == k.life {
		of = k.lookUp(func() *process { return k.byRun[run] })
		return of, of == nil
	}
	proc := "/proc/" + strconv.Itoa(a.PID)
	if folder, err := os.Readlink(proc + "/cwd"); err == nil {
		if of = k.lookUp(func() *process { return k.inside(folder) }); of != nil {
			return of, false
		}
	}
	entries, _ := os.ReadDir(proc + "/fd")
	for _, e := range entries {
		file, err := os.Readlink(proc + "/fd/" + e.Name())
		if err != nil {
			continue
		}
		if of = k.lookUp(func() *process { return k.byPlace[file] }); of != nil {
			return of, false
		}
	}
	return nil, false
}

func (k *kin) lookUp(of func() *process) *process {
	k.mu.Lock()
	defer k.mu.Unlock()
	return of()
}

// inside gives the run in whose private folder a folder is. It is called under mu.
func (k *kin) inside(folder string) *process {
	for ; len(folder) > 1; folder = filepath.Dir(folder) {
		if p := k.byPlace[folder]; p != nil {
			return p
		}
	}
	return nil
}
