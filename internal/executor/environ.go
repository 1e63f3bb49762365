package executor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Variables that mark a command and all that it starts.
const (
	envWorker = "CARILLON_WORKER"
	envLife   = "CARILLON_LIFE"
	envRun    = "CARILLON_RUN_ID"
)

// environment returns the environment of a command, sorted, and its PATH. It is built from an empty set, since the
// worker's own environment may contain passwords of etcd and of the log store. The job's variables, with the values of
// the secrets that they reference, override the usual ones, parameters override those, and Carillon's own override all.
func (x *Executor) environment(t *Task, g granted) (env []string, path string) {
	params := t.Job.ParamValues(t.Record.Params)
	zone := t.Job.Timezone
	if zone == "" {
		zone = "UTC"
	}
	as := cmp.Or(g.as, &x.self)
	usual := [...]variable{{"PATH", x.cfg.Path}, {"HOME", as.Home}, {"USER", as.Name}, {"LOGNAME", as.Name},
		{"SHELL", shellOf(&t.Job)}, {"LANG", "C.UTF-8"}, {"TZ", zone}}
	ours := [...]variable{
		{"CARILLON_JOB", t.Record.Job},
		{"CARILLON_PLANNED_AT", t.Record.PlannedAt.UTC().Format(time.RFC3339Nano)},
		{"CARILLON_ATTEMPT", strconv.Itoa(t.Record.Attempt)},
		{"CARILLON_PREVIOUS_STATUS", string(t.PreviousStatus)},
		{"CARILLON_FENCE", strconv.FormatInt(t.Fence, 10)},
		{envRun, t.Record.Run},
		{envWorker, x.cfg.Worker},
		{envLife, x.cfg.Life},
		{"CARILLON_WORKER_NAME", x.cfg.Name},
	}
	env = make([]string, 0, len(usual)+len(t.Job.Env)+len(params)+len(ours))
	add := func(v variable) {
		env = append(env, v.name+"="+v.value)
		if v.name == "PATH" {
			path = v.value
		}
	}
	for _, v := range ours {
		add(v)
	}
	for name, value := range params {
		if !named(ours[:], name) {
			add(variable{name, value})
		}
	}
	for name, value := range t.Job.Env {
		if _, over := params[name]; !over && !named(ours[:], name) {
			if secret, found := g.secrets[name]; found {
				value = secret
			}
			add(variable{name, value})
		}
	}
	for _, v := range usual {
		_, byParam := params[v.name]
		if _, byJob := t.Job.Env[v.name]; !byParam && !byJob {
			add(v)
		}
	}
	slices.Sort(env)
	return env, path
}

type variable struct{ name, value string }

// named reports whether one of our variables has the name.
func named(ours []variable, name string) bool {
	return strings.HasPrefix(name, "CARILLON_") &&
		slices.ContainsFunc(ours, func(v variable) bool { return v.name == name })
}
