package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/common"
)

// limits are those of a run. They hold where it has a cgroup and their controller is on.
type limits struct {
	memory int64 // in bytes; 0: none
	tasks  int   // processes and threads
	asked  bool  // the job asks for one: it must not run without
}

// errUnlimited says that the cgroups have failed since the worker said that it has them.
var errUnlimited = errors.New("the limits that the job asks for cannot be set any more")

func limitsOf(job *common.Job) limits {
	l := limits{memory: job.MemoryMax.Or(0), tasks: job.TasksMax, asked: job.MemoryMax != "" || job.TasksMax != 0}
	if l.tasks == 0 {
		l.tasks = common.DefaultTasksMax
	}
	return l
}

// limit sets the limits of a run's group. When its memory runs out all of it is killed: half of a run is none.
func (c *cgroups) limit(l *leaf, limits limits) error {
	values := map[string]string{}
	if slices.Contains(c.controllers, controllerPids) {
		values["pids.max"] = strconv.Itoa(limits.tasks)
	}
	if limits.memory > 0 && slices.Contains(c.controllers, controllerMemory) {
		values["memory.max"], values["memory.oom.group"] = strconv.FormatInt(limits.memory, 10), "1"
	}
	for name, value := range values {
		if err := os.WriteFile(filepath.Join(l.path, name), []byte(value), 0); err != nil {
			return fmt.Errorf("limit a run: %w", err)
		}
	}
	return nil
}

// hit returns the outcome of a run that failed and had reached a limit; nil if it had reached none.
func (l *leaf) hit(limits limits) *outcome {
	if l == nil {
		return nil
	}
	switch {
	case limits.memory > 0 && l.events("memory.events", "oom_kill") > 0:
		most := strconv.FormatInt(limits.memory, 10)
		return failed(common.ReasonOutOfMemory, "the run needed more than its %s bytes of memory", most).with("max", most)
	case l.events("pids.events", "max") > 0:
		most := strconv.Itoa(limits.tasks)
		return failed(common.ReasonTooManyTasks, "the run tried to have more than its %s processes and threads", most).with("max", most)
	}
	return nil
}

// events reads how often something has happened to a group; 0 where that is not counted.
func (l *leaf) events(file, name string) int {
	data, err := os.ReadFile(filepath.Join(l.path, file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if count, found := strings.CutPrefix(line, name+" "); found {
			n, _ := strconv.Atoi(strings.TrimSpace(count)) // 0 where it is none
			return n
		}
	}
	return 0
}

// Features are what this worker can do beyond what workers of any version can: some depend on the machine.
func (x *Executor) Features() (able []string) {
	for _, feature := range common.Features {
		if feature == common.FeatureMemoryMax && !x.cgroups.can(controllerMemory) || feature == common.FeatureTasksMax && !x.cgroups.can(controllerPids) {
			continue
		}
		able = append(able, feature)
	}
	return able
}
