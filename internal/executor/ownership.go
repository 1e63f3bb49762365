package executor

import (
	"cmp"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/executor/proctree"
)

// verdict identifies the run of an adopted process. Once a run is found, it is final. If none is found, the process is
// examined again until sureAfter, since a process in the middle of execve(2) shows no identification for a moment.
type verdict struct {
	proctree.Process
	of     *process // nil: unknown
	lost   bool     // it belongs to a run of this incarnation that is over
	first  time.Time
	sure   bool   // no run was found, finally
	passed uint64 // the last pass that listed it
}

// judge returns the verdict on an adopted process. If the process has ended, it reaps it and returns nil.
func (k *tracker) judge(pid int) *verdict {
	if k.reaped(pid) {
		return nil
	}
	v := k.known[pid]
	if v == nil {
		q, found := proctree.Look(pid)
		if !found { // hidden from this process (hidepid), as if it is not dumpable
			q = proctree.Process{PID: pid, Start: ticks()}
			q.Group, _ = unix.Getpgid(pid)
			q.Session, _ = unix.Getsid(pid)
		}
		q.Dead = false // its first thread may have ended while others continue
		v = &verdict{Process: q, first: time.Now()}
		k.known[pid] = v
	}
	v.passed = k.passes
	if v.of != nil || v.sure {
		return v
	}
	v.sure = time.Since(v.first) >= sureAfter
	v.of, v.lost = k.whose(v.Process)
	if v.of == nil && k.reaped(pid) { // it ended during the examination
		return nil
	}
	return v
}

// reaped reaps an adopted process if it has ended, and reports whether it has. One that was killed was left behind by
// its run's command.
func (k *tracker) reaped(pid int) bool {
	of := k.runOf(pid)
	var status syscall.WaitStatus
	got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
	if got != pid && !errors.Is(err, syscall.ECHILD) {
		return false
	}
	if got == pid && of != nil && status.Signaled() && status.Signal() == syscall.SIGKILL {
		of.leftover.Add(1)
	}
	delete(k.known, pid)
	return true
}

// runOf returns the run of an adopted process that may have ended, from what was known before; nil: none is known.
func (k *tracker) runOf(pid int) *process {
	if v := k.known[pid]; v != nil && v.of != nil {
		return v.of
	}
	group, err := unix.Getpgid(pid)
	if err != nil {
		return nil
	}
	k.mu.Lock()
	of, seen := k.byPID[group], k.noted[pid]
	k.mu.Unlock()
	if of != nil || seen.of == nil {
		return of
	}
	if now, found := proctree.Look(pid); found && now.Start == seen.Start {
		return seen.of
	}
	return nil
}

// goesWith reports whether an adopted process is killed at the end of a run, because it belongs to the run or cannot
// belong to any active run, and whether it may belong to the run. A process without any identification may belong to
// any run that was active when it was started.
func (k *tracker) goesWith(p *process, v *verdict, oldest func() uint64) (goes, mine bool) {
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

// oldest returns the start time of the oldest run whose command is alive.
func (k *tracker) oldest() (began uint64) {
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

// whose returns the run of a process. It checks whether the process was seen below the command, its process group, its
// session, its mark, its environment, and whether it uses the run's private folder or output; the most expensive checks
// come last. lost reports that it belongs to a run that is over.
func (k *tracker) whose(a proctree.Process) (of *process, lost bool) {
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
		if of = k.lookUp(func() *process { return k.printing(file) }); of != nil {
			return of, false
		}
	}
	return nil, false
}

func (k *tracker) lookUp(of func() *process) *process {
	k.mu.Lock()
	defer k.mu.Unlock()
	return of()
}

// printing returns the run with a file, as named in /proc, as one of its outputs, or nil. The caller holds mu.
func (k *tracker) printing(file string) *process {
	if !strings.HasPrefix(file, "pipe:") {
		return nil
	}
	for p := range k.live {
		if p.outputs.isOf(file) {
			return p
		}
	}
	return nil
}

// inside returns the run whose private folder contains a folder, or nil. The caller holds mu.
func (k *tracker) inside(folder string) *process {
	for ; len(folder) > 1; folder = filepath.Dir(folder) {
		if p := k.byFolder[folder]; p != nil {
			return p
		}
	}
	return nil
}
