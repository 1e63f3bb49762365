package executor

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// Variables that mark a command and all that it starts.
const (
	envWorker = "CARILLON_WORKER"
	envLife   = "CARILLON_LIFE"
	envRun    = "CARILLON_RUN_ID"
)

type environment map[string]string

// environment is built from nothing: what this process was started with, passwords
// of etcd and of the log store among it, is none of a command's business. The job's
// variables come over the usual ones, its parameters over those, and ours over all.
func (x *Executor) environment(t *Task) environment {
	zone := t.Job.Timezone
	if zone == "" {
		zone = "UTC"
	}
	env := environment{
		"PATH":    x.cfg.Path,
		"HOME":    x.home,
		"USER":    x.user,
		"LOGNAME": x.user,
		"SHELL":   shellOf(&t.Job),
		"LANG":    "C.UTF-8",
		"TZ":      zone,
	}
	maps.Copy(env, t.Job.Env)
	maps.Copy(env, t.Job.ParamValues(t.Record.Params))
	maps.Copy(env, environment{
		"CARILLON_JOB":             t.Record.Job,
		"CARILLON_PLANNED_AT":      t.Record.PlannedAt.UTC().Format(time.RFC3339Nano),
		"CARILLON_ATTEMPT":         strconv.Itoa(t.Record.Attempt),
		"CARILLON_PREVIOUS_STATUS": string(t.PreviousStatus),
		"CARILLON_FENCE":           strconv.FormatInt(t.Fence, 10),
		envRun:                     t.Record.Run,
		envWorker:                  x.cfg.Worker,
		envLife:                    x.cfg.Life,
	})
	return env
}

func (e environment) list() []string {
	list := make([]string, 0, len(e))
	for _, name := range slices.Sorted(maps.Keys(e)) {
		list = append(list, name+"="+e[name])
	}
	return list
}
