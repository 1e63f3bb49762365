package executor

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"carillon/internal/executor/proctree"
)

// cgroups creates a control group (version 2) for each run, below the one that is delegated to this process, as under
// systemd with Delegate=: all its processes can be killed at once, and its memory and number of tasks are limited where
// the controllers are delegated. A group that enables controllers for its children must not contain processes: this
// process and its guardian then move to a group of their own. A nil cgroups creates none.
type cgroups struct {
	path        string
	controllers []string // the enabled ones of memory and pids
	log         *slog.Logger
	made        atomic.Uint64
	off         atomic.Bool
}

const (
	// leafPrefix is the name prefix of the groups of runs.
	leafPrefix = "run-"
	// workerLeaf is the group of this process and its guardian, where they need one.
	workerLeaf = "carillon.main"

	controllerMemory = "memory"
	controllerPids   = "pids"
)

// findCgroups returns an error if cgroups cannot be used.
func findCgroups(log *slog.Logger) (*cgroups, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	path, err := cgroupPath(string(own), string(mounts))
	if err != nil {
		return nil, err
	}
	if filepath.Base(path) == workerLeaf {
		path = filepath.Dir(path)
	}
	c := &cgroups{path: path, log: log}
	mine := []int{os.Getpid(), os.Getppid()}
	if err := c.try(mine...); err != nil {
		return nil, err
	}
	if err := c.control(mine); err != nil {
		log.Warn("cgroup_limits_unused", "error", err)
	}
	return c, nil
}

// control enables the controllers that limit runs, as far as they are delegated.
func (c *cgroups) control(mine []int) error {
	data, err := os.ReadFile(filepath.Join(c.path, "cgroup.controllers"))
	if err != nil {
		return err
	}
	var on []string
	for name := range strings.FieldsSeq(string(data)) {
		if name == controllerMemory || name == controllerPids {
			on = append(on, name)
		}
	}
	if len(on) == 0 {
		return fmt.Errorf("neither the memory nor the pids controller is delegated to %s", c.path)
	}
	leaf := filepath.Join(c.path, workerLeaf)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	members, err := os.ReadFile(filepath.Join(c.path, "cgroup.procs"))
	if err != nil {
		return err
	}
	for _, pid := range proctree.Parse(members) {
		if !slices.Contains(mine, pid) {
			continue // if it remains there, enabling the controllers fails
		}
		if err := os.WriteFile(filepath.Join(leaf, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			return err
		}
	}
	enable := []byte("+" + strings.Join(on, " +"))
	if err := os.WriteFile(filepath.Join(c.path, "cgroup.subtree_control"), enable, 0); err != nil {
		return err
	}
	c.controllers = on
	return nil
}

// can reports whether a controller is enabled.
func (c *cgroups) can(controller string) bool {
	return c != nil && !c.off.Load() && slices.Contains(c.controllers, controller)
}

// cgroupPath returns the folder of a process's group, cgroups(7), from its /proc/<pid>/cgroup and mountinfo.
func cgroupPath(own, mounts string) (string, error) {
	for line := range strings.Lines(own) {
		group, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::")
		if !found || strings.HasPrefix(group, "/../") { // in another namespace
			continue
		}
		for mount := range strings.Lines(mounts) {
			left, right, _ := strings.Cut(mount, " - ")
			fields, kind := strings.Fields(left), strings.Fields(right)
			if len(fields) < 5 || len(kind) == 0 || kind[0] != "cgroup2" {
				continue
			}
			if below, err := filepath.Rel(fields[3], group); err == nil && filepath.IsLocal(below) {
				return filepath.Join(fields[4], below), nil
			}
		}
	}
	return "", errors.New("no cgroup v2 is mounted")
}

// try checks that the group contains only the given processes, and that groups for runs can be created below it. It
// kills and removes groups of an earlier incarnation.
func (c *cgroups) try(mine ...int) error {
	for _, group := range []string{c.path, filepath.Join(c.path, workerLeaf)} {
		members, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
		if err != nil && (group == c.path || !errors.Is(err, os.ErrNotExist)) {
			return err
		}
		for _, pid := range proctree.Parse(members) {
			if !slices.Contains(mine, pid) {
				return fmt.Errorf("the cgroup %s has other processes in it", group)
			}
		}
	}
	entries, err := os.ReadDir(c.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), leafPrefix) {
			l := &leaf{path: filepath.Join(c.path, e.Name())}
			l.kill()
			l.remove()
		}
	}
	l, err := c.make()
	if err != nil {
		return err
	}
	defer l.remove()
	kill, err := os.OpenFile(filepath.Join(l.path, "cgroup.kill"), os.O_WRONLY, 0) // since Linux 5.14
	if err != nil {
		return err
	}
	return kill.Close()
}

// leaf is the group of a run. A nil leaf is valid: the run has no group.
type leaf struct {
	path string
	dir  *os.File
}

func (c *cgroups) make() (*leaf, error) {
	l := &leaf{path: filepath.Join(c.path, leafPrefix+strconv.FormatUint(c.made.Add(1), 10))}
	if err := os.Mkdir(l.path, 0o755); err != nil {
		return nil, err
	}
	var err error
	if l.dir, err = os.Open(l.path); err != nil {
		return nil, errors.Join(err, os.Remove(l.path))
	}
	return l, nil
}

// descriptor returns the descriptor of the group's folder; 0 if there is none.
func (l *leaf) descriptor() int {
	if l == nil {
		return 0
	}
	return int(l.dir.Fd())
}

// leaf creates the group of a run. It returns an error for a temporary shortage of resources; after any other failure
// no more groups are created, and it returns nil.
func (c *cgroups) leaf(limits limits) (*leaf, error) {
	if c == nil || c.off.Load() {
		return nil, nil
	}
	l, err := c.make()
	if err == nil {
		err = c.limit(l, limits)
	}
	if err != nil && short(err) {
		l.remove()
		return nil, fmt.Errorf("create a cgroup: %w", err)
	}
	if err != nil {
		c.turnOff(err)
		l.remove()
		return nil, nil
	}
	return l, nil
}

func (c *cgroups) turnOff(err error) {
	if !c.off.Swap(true) {
		c.log.Info("cgroups_unused", "error", err)
	}
}

// kill kills all processes in the group, and returns how many there were.
func (l *leaf) kill() (lived int) {
	if l == nil || !l.populated() {
		return 0
	}
	list, _ := os.ReadFile(filepath.Join(l.path, "cgroup.procs"))          // only counted
	_ = os.WriteFile(filepath.Join(l.path, "cgroup.kill"), []byte("1"), 0) // the sweep of the tree kills as well
	return max(1, strings.Count(string(list), "\n"))
}

func (l *leaf) populated() bool {
	events, err := os.ReadFile(filepath.Join(l.path, "cgroup.events"))
	return err == nil && strings.Contains(string(events), "populated 1")
}

// close closes the descriptor that is used to start a command in the group.
func (l *leaf) close() {
	if l != nil && l.dir != nil {
		_ = l.dir.Close()
		l.dir = nil
	}
}

// remove removes the group when it is empty, and reports whether it became empty within settleWait.
func (l *leaf) remove() bool {
	if l == nil {
		return true
	}
	l.close()
	over := time.After(settleWait)
	for pause := time.Millisecond; l.populated(); pause = min(2*pause, longPoll) {
		select {
		case <-time.After(pause):
		case <-over:
			return false
		}
	}
	return os.Remove(l.path) == nil
}
