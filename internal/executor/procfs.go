package executor

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"carillon/internal/proctree"
)

// environ is the environment that a process was executed with.
type environ []byte

// find lists the living processes that match. Zombies do not live. What cannot be
// read, because it just ended or is another's, does not match.
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

// hasTerminal tells whether this process has a controlling terminal, or may have one.
func hasTerminal() bool {
	data, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return true
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	return len(fields) < 5 || fields[4] != "0"
}

// environOf is empty where it may not be read.
func environOf(pid int) environ {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
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
