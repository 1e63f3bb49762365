package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"carillon/internal/proctree"
)

// sweepWait is how long Sweep tries.
const sweepWait = 10 * time.Second

// Sweep kills what earlier lives of the worker left running, with the process groups
// of those commands, until nothing is left or ten seconds have passed. It spares what
// this life started, itself and what it descends from. It tells how many processes
// it killed and how many it still sees; it sees only what this account may look at.
func Sweep(ctx context.Context, worker, life string) (killed, left int, err error) {
	ctx, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	spared := ancestors()
	old := func(p proctree.Process) bool {
		if spared[p.PID] {
			return false
		}
		env := environOf(p.PID)
		return worker != "" && env.get(envWorker) == worker && env.get(envLife) != life
	}
	seen := make(map[int]bool)
	for poll := shortPoll; ; poll = min(2*poll, longPoll) {
		found, err := scan(old)
		if err != nil {
			return len(seen), len(found), err
		}
		for pid := range killAll(found, old) {
			seen[pid] = true
		}
		if len(found) == 0 {
			return len(seen), 0, nil
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return len(seen), len(found), nil
		}
	}
}

// killAll kills processes and the groups that they lead or whose leader is gone:
// a group that somebody else leads is not theirs.
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

// ancestors are this process, its parent, and so on.
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

// RemoveWorkDirs removes the private folders that earlier lives left in the data
// folder. It is called before New, while no run goes on.
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

// BootID names this start of the machine; empty where the kernel does not tell.
func BootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// PIDNamespace names the set of processes that this one can see, within one start
// of the machine; empty where the kernel does not tell.
func PIDNamespace() string {
	name, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return name
}
