package executor

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"carillon/internal/executor/proctree"
)

// environ is the initial environment of a process.
type environ []byte

// find returns the live processes that match. Zombies, and processes that cannot be read because they have just ended
// or belong to another user, do not match.
func find(match func(proctree.Process) bool) []proctree.Process {
	found, _ := scan(match)
	return found
}

func scan(match func(proctree.Process) bool) (found []proctree.Process, err error) {
	all, err := proctree.All()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	for _, p := range all {
		if !p.Dead && match(p) {
			found = append(found, p)
		}
	}
	return found, nil
}

// hasTerminal reports whether this process has, or may have, a controlling terminal.
func hasTerminal() bool {
	data, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return true
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	return len(fields) < 5 || fields[4] != "0"
}

// environOf returns the environment of a process; empty if it cannot be read.
func environOf(pid int) environ {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	return data
}

// get returns the value of a variable; empty if it is not set.
func (env environ) get(name string) string {
	for line := range bytes.SplitSeq(env, []byte{0}) {
		if key, value, ok := bytes.Cut(line, []byte("=")); ok && string(key) == name {
			return string(value)
		}
	}
	return ""
}
