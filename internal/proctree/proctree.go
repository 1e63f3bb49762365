// Package proctree reads from /proc which processes stem from which, and kills them
// (Linux only).
//
// Promise: Below names all that stem from a process at that moment, as far as /proc
// shows it; Kill hits the process that was seen and no other that got its id since.
//
// Limits: a process whose parents all ended before the look stems from whoever adopted
// it. What forks while it is looked at may be missed: kill and look again until nothing
// is left.
package proctree

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Process is a process as /proc showed it.
type Process struct {
	PID, Parent, Group, Session int
	Start                       uint64 // when it was started, in ticks of the boot clock
	Dead                        bool   // it has ended, but its parent has not asked how
	Stopped                     bool   // by a signal, or by a debugger
}

// Look reads /proc/<pid>/stat, proc(5): the name in parentheses may hold anything,
// so the fields are counted from the last one that closes.
func Look(pid int) (p Process, found bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 20 {
		return Process{}, false
	}
	p = Process{PID: pid, Dead: fields[0] == "Z" || fields[0] == "X", Stopped: fields[0] == "T" || fields[0] == "t"}
	for i, to := range []*int{&p.Parent, &p.Group, &p.Session} {
		*to, _ = strconv.Atoi(fields[i+1])
	}
	p.Start, _ = strconv.ParseUint(fields[19], 10, 64)
	return p, true
}

// All lists every process that can be seen.
func All() ([]Process, error) {
	pids, err := visible()
	if err != nil {
		return nil, err
	}
	var all []Process
	for _, pid := range pids {
		if p, found := Look(pid); found {
			all = append(all, p)
		}
	}
	return all, nil
}

// visible lists the ids of all processes.
func visible() (pids []int, err error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, err
	}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Living tells which of some process groups have a member that lives. It asks for the group
// of every process, which costs much less than to Look at it.
func Living(groups map[int]bool) (living map[int]bool, err error) {
	pids, err := visible()
	if err != nil {
		return nil, err
	}
	living = make(map[int]bool)
	for _, pid := range pids {
		group, err := unix.Getpgid(pid)
		if err != nil || !groups[group] || living[group] {
			continue
		}
		if p, found := Look(pid); found && !p.Dead && p.Group == group {
			living[group] = true
		}
	}
	return living, nil
}

// Below lists what stems from a process, parents before their children.
func Below(root int) []Process {
	children := listed
	if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children"); err != nil {
		children = scanned() // a kernel without that list
	}
	var below []Process
	seen := map[int]bool{root: true}
	for next := []int{root}; len(next) > 0; next = next[1:] {
		for _, pid := range children(next[0]) {
			if p, found := Look(pid); found && !seen[pid] {
				seen[pid] = true
				below = append(below, p)
				next = append(next, pid)
			}
		}
	}
	return below
}

// listed reads the children of each thread of a process.
func listed(pid int) (children []int) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	dir, err := os.Open(tasks)
	if err != nil {
		return nil
	}
	threads, _ := dir.Readdirnames(-1)
	_ = dir.Close() // only read from
	for _, thread := range threads {
		data, err := os.ReadFile(tasks + thread + "/children")
		if err != nil {
			continue
		}
		children = append(children, Parse(data)...)
	}
	return children
}

// scanned looks at all processes for their parents.
func scanned() func(pid int) []int {
	of := make(map[int][]int)
	all, _ := All()
	for _, p := range all {
		of[p.Parent] = append(of[p.Parent], p.PID)
	}
	return func(pid int) []int { return of[pid] }
}

// Parse reads a list of children as the kernel prints it.
func Parse(list []byte) (pids []int) {
	for field := range bytes.FieldsSeq(list) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Kill kills the process, if it is still the one that was seen: a handle is taken
// before that is looked at. One that has ended needs no killing.
func (p Process) Kill() error {
	if p.Dead {
		return nil
	}
	handle, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err == nil {
		defer func() { _ = unix.Close(handle) }() // only a handle
	}
	if now, found := Look(p.PID); !found || now.Start != p.Start {
		return nil
	}
	if err == nil {
		err = unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0)
	} else {
		err = unix.Kill(p.PID, unix.SIGKILL) // a kernel before 5.3, or one without descriptors to spare
	}
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}
