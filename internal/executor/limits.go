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
	"carillon/internal/executor/inside"
)

// limits are the resource limits of a run. They apply if it has a cgroup with the controller enabled.
type limits struct {
	memory int64 // in bytes; 0: none
	tasks  int   // processes and threads
	asked  bool  // the job sets a limit, and must not run without it
}

// errUnlimited is returned if cgroups have failed since the worker registered the feature.
var errUnlimited = errors.New("the resource limits of the job cannot be set any more")

func limitsOf(job *common.Job) limits {
	l := limits{memory: job.MemoryMax.Or(0), tasks: job.TasksMax, asked: job.MemoryMax != "" || job.TasksMax != 0}
	if l.tasks == 0 {
		l.tasks = common.DefaultTasksMax
	}
	return l
}

// limit sets the limits of a run's group. When the memory limit is reached, all processes of the run are killed, not
// only one of them.
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

// hit returns the outcome of a failed run that reached a limit; nil if it reached none.
func (l *leaf) hit(limits limits) *inside.Outcome {
	if l == nil {
		return nil
	}
	switch {
	case limits.memory > 0 && l.events("memory.events", "oom_kill") > 0:
		most := strconv.FormatInt(limits.memory, 10)
		return inside.Failed(common.ReasonOutOfMemory, "the run exceeded its memory limit of %s bytes", most).
			With("max", most)
	case l.events("pids.events", "max") > 0:
		most := strconv.Itoa(limits.tasks)
		return inside.Failed(common.ReasonTooManyTasks, "the run exceeded its limit of %s processes and threads", most).
			With("max", most)
	}
	return nil
}

// events returns the count of an event of a group; 0 if it is not counted.
func (l *leaf) events(file, name string) int {
	n, _ := l.sum(file, name)
	return int(n)
}

// sum adds up named values of a file of a group. known is false if the file has none of them.
func (l *leaf) sum(file string, names ...string) (sum int64, known bool) {
	if l == nil {
		return 0, false
	}
	data, err := os.ReadFile(filepath.Join(l.path, file))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, " ")
		if !slices.Contains(names, name) {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		sum, known = sum+n, known || err == nil
	}
	return sum, known
}

// Features returns the features of a worker.
// Resource limits depend on the machine.
func (x *Executor) Features() (able []string) {
	for _, feature := range common.Features {
		switch {
		case feature == common.FeatureMemoryMax && !x.cgroups.can(controllerMemory):
		case feature == common.FeatureTasksMax && !x.cgroups.can(controllerPids):
		default:
			able = append(able, feature)
		}
	}
	return append(able, x.typeFeatures()...)
}
