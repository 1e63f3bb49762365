package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/executor/proctree"
)

// sweepWait limits the duration of Sweep.
const sweepWait = 10 * time.Second

// Swept is the result of a sweep.
type Swept struct {
	Killed, Left int // number of processes that were killed, and that could not be killed
	// Doubtful is the number of processes that may have removed a mark of an earlier incarnation.
	Doubtful int
}

// Complete reports whether no process of an earlier, marked incarnation is left.
func (s Swept) Complete() bool { return s.Left == 0 && s.Doubtful == 0 }

// Sweep kills the processes that earlier incarnations of the worker left, with the process groups of their commands,
// until none is left or ten seconds have passed. It spares processes of this incarnation, this process and its
// ancestors. It identifies them by their environment, where it is readable, and by their mark, which they cannot raise,
// and so cannot hide; see [MarkProcess].
func Sweep(ctx context.Context, worker, life string) (Swept, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	mine := proctree.NewMark(worker, 0)
	own, err := proctree.LimitsOf(os.Getpid())
	if err != nil {
		return Swept{}, fmt.Errorf("read the mark of this process: %w", err)
	}
	spared := ancestors()
	ofEnvironment := func(p proctree.Process) bool {
		if spared[p.PID] {
			return false
		}
		env := environOf(p.PID)
		return worker != "" && env.get(envWorker) == worker && env.get(envLife) != life
	}
	ofMark := func(l proctree.Limits) bool { return l.Mark() != own.Mark() && l.Mark().SameWorker(mine) }
	seen := make(map[int]bool)
	for poll := shortPoll; ; poll = min(2*poll, longPoll) {
		found, err := scan(ofEnvironment)
		if err != nil {
			return Swept{Killed: len(seen), Left: len(found)}, err
		}
		for pid := range killAll(found, ofEnvironment) {
			seen[pid] = true
		}
		marked, doubtful, err := leftovers(spared, ofMark)
		if err != nil {
			return Swept{Killed: len(seen), Left: len(found) + len(marked)}, err
		}
		for _, pid := range marked {
			if proctree.KillMarked(pid, ofMark) == nil {
				seen[pid] = true
			}
		}
		if len(found) == 0 && len(marked) == 0 {
			return Swept{Killed: len(seen), Doubtful: doubtful}, nil
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return Swept{len(seen), len(found) + len(marked), doubtful}, nil
		}
	}
}

// leftovers returns the processes with a mark of an earlier incarnation, and the number of those that may have removed
// one. It leaves out descendants of this process.
func leftovers(spared map[int]bool, old func(proctree.Limits) bool) (marked []int, doubtful int, err error) {
	lowered := make(map[int]bool)
	all, err := proctree.Marked(func(pid int, l proctree.Limits) bool {
		lowered[pid] = l.Lowered() && !old(l)
		return old(l) || l.Lowered() && mayBeOurs(pid)
	})
	if err != nil || len(all) == 0 {
		return nil, 0, err
	}
	own := make(map[int]bool)
	for _, p := range proctree.Below(os.Getpid()) {
		own[p.PID] = true
	}
	for _, pid := range all {
		switch {
		case spared[pid] || own[pid]:
		case lowered[pid]:
			doubtful++
		default:
			marked = append(marked, pid)
		}
	}
	return marked, doubtful, nil
}

// mayBeOurs reports whether this worker could have started a process: one of its own user, whose limits it may read, or
// any process if it can run commands as other users.
func mayBeOurs(pid int) bool {
	return unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, new(unix.Rlimit)) == nil || Capable() == nil
}

// killAll kills processes, and those of their groups whose leader is old or gone: a group with another leader may
// contain other processes.
func killAll(found []proctree.Process, old func(proctree.Process) bool) map[int]bool {
	killed := make(map[int]bool)
	groups := make(map[int]bool)
	for _, p := range found {
		if p.Group <= 1 || p.Group == syscall.Getpgrp() {
			continue
		}
		if leader, seen := proctree.Look(p.Group); !seen || leader.Dead || old(leader) {
			groups[p.Group] = true
		}
	}
	for _, p := range find(func(p proctree.Process) bool { return groups[p.Group] }) {
		killed[p.PID] = true
	}
	for pgrp := range groups {
		killGroup(pgrp)
	}
	for _, p := range found {
		if p.Kill() == nil {
			killed[p.PID] = true
		}
	}
	return killed
}

// ancestors returns the ids of this process, its parent, and so on.
func ancestors() map[int]bool {
	line := make(map[int]bool)
	for pid := os.Getpid(); pid > 0 && !line[pid]; {
		line[pid] = true
		p, seen := proctree.Look(pid)
		if !seen {
			break
		}
		pid = p.Parent
	}
	return line
}

// RemoveWorkDirs removes the private folders that earlier incarnations left in the data folder. It must be called
// before New, while no run is in progress.
func RemoveWorkDirs(baseDir string) (removed int, err error) {
	dir := filepath.Join(baseDir, "work")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("list folders of runs: %w", err)
	}
	for _, e := range entries {
		if failure := os.RemoveAll(filepath.Join(dir, e.Name())); failure != nil {
			err = errors.Join(err, fmt.Errorf("remove folder of a run: %w", failure))
			continue
		}
		removed++
	}
	return removed, err
}

// PIDNamespace identifies the PID namespace of this process within one boot; it returns "" if the kernel does not
// provide it.
func PIDNamespace() string {
	name, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return name
}
