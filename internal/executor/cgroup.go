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

	"carillon/internal/proctree"
)

// cgroups makes a control group (version 2) for each run, below the one that this
// process has for itself, as under systemd with Delegate=yes: what is in it can be killed in
// one stroke, and cannot leave. No controller is turned on, so that this process may stay
// where it is. A nil cgroups makes none.
type cgroups struct {
	path string
	log  *slog.Logger
	made atomic.Uint64
	off  atomic.Bool
}

// leafPrefix begins the names of the groups of runs.
const leafPrefix = "run-"

// findCgroups tells why there are none, if so.
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
	c := &cgroups{path: path, log: log}
	if err := c.try(os.Getpid(), os.Getppid()); err != nil {
		return nil, err
	}
	return c, nil
}

// cgroupPath gives the folder of a process's group, cgroups(7), from its /proc/<pid>/cgroup
// and mountinfo.
func cgroupPath(own, mounts string) (string, error) {
	for line := range strings.Lines(own) {
		group, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::")
		if !found || strings.HasPrefix(group, "/../") { // of another namespace
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

// try finds out whether the group is this process's own, and whether runs can have
// theirs below it. Those that an earlier life left there are ended.
func (c *cgroups) try(mine ...int) error {
	members, err := os.ReadFile(filepath.Join(c.path, "cgroup.procs"))
	if err != nil {
		return err
	}
	for _, pid := range proctree.Parse(members) {
		if !slices.Contains(mine, pid) {
			return fmt.Errorf("the cgroup %s has other processes in it", c.path)
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

// leaf is the group of a run. A nil leaf is that of a run without one.
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

// leaf gives a run its group, as long as that works. A shortage, which passes, is an error.
func (c *cgroups) leaf() (*leaf, error) {
	if c == nil || c.off.Load() {
		return nil, nil
	}
	l, err := c.make()
	if err != nil && short(err) {
		return nil, fmt.Errorf("make a cgroup: %w", err)
	}
	if err != nil {
		c.turnOff(err)
		return nil, nil
	}
	return l, nil
}

func (c *cgroups) turnOff(err error) {
	if !c.off.Swap(true) {
		c.log.Info("cgroups_unused", "error", err)
	}
}

// kill kills all that is in the group, and tells whether there was anything.
func (l *leaf) kill() (lived bool) {
	if l == nil || !l.populated() {
		return false
	}
	_ = os.WriteFile(filepath.Join(l.path, "cgroup.kill"), []byte("1"), 0) // the sweep of the tree kills as well
	return true
}

func (l *leaf) populated() bool {
	events, err := os.ReadFile(filepath.Join(l.path, "cgroup.events"))
	return err == nil && strings.Contains(string(events), "populated 1")
}

// close closes the handle with which a command is started in the group.
func (l *leaf) close() {
	if l != nil && l.dir != nil {
		_ = l.dir.Close()
		l.dir = nil
	}
}

// remove removes the group when nothing is in it any more, and tells whether that was so
// in time.
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
