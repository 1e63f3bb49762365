// Package proctree finds the descendants of a process in /proc, and kills them (Linux only).
//
// Promise: Below returns all current descendants of a process that /proc shows; Kill kills the process that was read
// and never another one that has received its id since.
//
// Limits: a process whose ancestors have all ended is a descendant of the process that adopted it. A process that is
// forked during the scan may be missed: kill and scan again until nothing is left.
package proctree

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Process is the state of a process, read from /proc.
type Process struct {
	PID, Parent, Group, Session int
	Start                       uint64 // start time, in ticks of the boot clock
	Dead                        bool   // it has ended and was not reaped yet
	Stopped                     bool   // by a signal, or by a debugger

	CPU    time.Duration // CPU time of all its threads
	Waited time.Duration // CPU time of its ended children that it waited for, and of theirs
	Memory int64         // resident, in bytes
}

// Tick is the unit of times in /proc.
const Tick = 10 * time.Millisecond

// Look reads /proc/<pid>/stat, proc(5). The process name in parentheses may contain any bytes, so the fields are
// counted from the last closing parenthesis.
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
	p.CPU, p.Waited = inTicks(fields[11])+inTicks(fields[12]), inTicks(fields[13])+inTicks(fields[14])
	if len(fields) > 21 {
		pages, _ := strconv.ParseInt(fields[21], 10, 64)
		p.Memory = pages * int64(os.Getpagesize())
	}
	return p, true
}

func inTicks(text string) time.Duration {
	n, _ := strconv.ParseInt(text, 10, 64)
	return time.Duration(n) * Tick
}

// IO returns how many bytes a process, and its ended children that it waited for, read from storage and wrote to it;
// known is false if this process may not read that. It may belong to a process that has ended and was not reaped.
func IO(pid int) (read, written int64, known bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/io")
	if err != nil {
		return 0, 0, false
	}
	for line := range bytes.Lines(data) {
		name, value, _ := bytes.Cut(line, []byte(": "))
		n, _ := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
		switch string(name) {
		case "read_bytes":
			read = n
		case "write_bytes":
			written = n
		}
	}
	return read, written, true
}

// forked is the flag of a process that has not executed a program since it was forked (PF_FORKNOEXEC of the kernel).
const forked = 0x40

// Forked reports whether a process has not executed a program since it was forked, also of one that has ended and was
// not reaped. It returns false if /proc does not show the process.
func Forked(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 7 {
		return false
	}
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	return err == nil && flags&forked != 0
}

// All returns all processes that /proc shows.
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

// visible returns the ids of all processes that /proc shows.
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

// Living returns those of the process groups that have a live member. It reads the group of every process, which costs
// much less than Look.
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

// Below returns the descendants of a process, parents before their children.
func Below(root int) []Process {
	children := listed
	if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children"); err != nil {
		children = scanned() // a kernel without CONFIG_PROC_CHILDREN
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

// listed returns the children of all threads of a process.
func listed(pid int) (children []int) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	dir, err := os.Open(tasks)
	if err != nil {
		return nil
	}
	threads, _ := dir.Readdirnames(-1)
	_ = dir.Close() // only read
	for _, thread := range threads {
		data, err := os.ReadFile(tasks + thread + "/children")
		if err != nil {
			continue
		}
		children = append(children, Parse(data)...)
	}
	return children
}

// scanned reads the parents of all processes, and returns a function that returns the children of one.
func scanned() func(pid int) []int {
	of := make(map[int][]int)
	all, _ := All()
	for _, p := range all {
		of[p.Parent] = append(of[p.Parent], p.PID)
	}
	return func(pid int) []int { return of[pid] }
}

// Parse parses a list of process ids in the format of /proc/<pid>/task/<tid>/children.
func Parse(list []byte) (pids []int) {
	for field := range bytes.FieldsSeq(list) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Kill kills the process if it still exists. It opens a pidfd before it compares the start time, so that it cannot kill
// another process that has received the id since. It returns nil if the process has ended.
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
		err = unix.Kill(p.PID, unix.SIGKILL) // a kernel before 5.3, or no free descriptor
	}
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}
