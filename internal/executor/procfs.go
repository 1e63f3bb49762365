package executor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// entry is a process as /proc shows it.
type entry struct {
	pid, ppid, pgrp int
}

// environ is the environment that a process was executed with.
type environ []byte

// find lists the living processes that match. Zombies do not live. What cannot be
// read, because it just ended or is another's, does not match.
func find(match func(entry) bool) []entry {
	found, _ := scan(match)
	return found
}

func scan(match func(entry) bool) ([]entry, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	names, err := dir.Readdirnames(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []entry
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if e, alive := look(pid); alive && match(e) {
			found = append(found, e)
		}
	}
	return found, nil
}

// look reads /proc/<pid>/stat, proc(5): the name in parentheses may hold anything,
// so the fields are counted from the last one that closes.
func look(pid int) (e entry, alive bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return entry{}, false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 3 || fields[0] == "Z" || fields[0] == "X" {
		return entry{}, false
	}
	e.pid = pid
	e.ppid, _ = strconv.Atoi(fields[1])
	e.pgrp, _ = strconv.Atoi(fields[2])
	return e, true
}

// hasTerminal tells whether this process has a controlling terminal, or may have one.
func hasTerminal() bool {
	data, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return true
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	return len(fields) < 5 || fields[4] != "0"
}

// env is empty where it may not be read.
func (e entry) env() environ {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(e.pid) + "/environ")
	if err != nil {
		return nil
	}
	return data
}

// get reads a variable; one that is not set is empty.
func (env environ) get(name string) string {
	for line := range bytes.SplitSeq(env, []byte{0}) {
		if key, value, ok := bytes.Cut(line, []byte("=")); ok && string(key) == name {
			return string(value)
		}
	}
	return ""
}

// kill kills the process if it still matches: a handle is taken first, so that it
// cannot hit another that got the same id meanwhile.
func (e entry) kill(match func(entry) bool) bool {
	proc, err := os.FindProcess(e.pid)
	if err != nil {
		return false
	}
	defer func() { _ = proc.Release() }()
	return match(e) && proc.Signal(syscall.SIGKILL) == nil
}
