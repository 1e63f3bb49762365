package executor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/internal/common"
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
	usual := []variable{{"PATH", x.cfg.Path}, {"HOME", as.Home}, {"USER", as.Name}, {"LOGNAME", as.Name},
		{"SHELL", shellOf(&t.Job)}, {"LANG", "C.UTF-8"}, {"TZ", zone}}
	if parent := x.traceparent(&t.Record); parent != "" {
		usual = append(usual, variable{"TRACEPARENT", parent})
	}
	ours := []variable{
		{"CARILLON_JOB", t.Record.Job},
		{"CARILLON_PLANNED_AT", utc(t.Record.PlannedAt)},
		{"CARILLON_ATTEMPT", strconv.Itoa(t.Record.Attempt)},
		{"CARILLON_PREVIOUS_STATUS", string(t.PreviousStatus)},
		{"CARILLON_FENCE", strconv.FormatInt(t.Fence, 10)},
		{envRun, t.Record.Run},
		{envWorker, x.cfg.Worker},
		{envLife, x.cfg.Life},
		{"CARILLON_WORKER_NAME", x.cfg.Name},
	}
	if t.Interval != nil {
		ours = append(ours, variable{"CARILLON_INTERVAL_START", utc(t.Interval.Start)},
			variable{"CARILLON_INTERVAL_END", utc(t.Interval.End)})
	}
	if len(t.Record.Parents) > 0 {
		ours = append(ours, variable{"CARILLON_AFTER", parentRuns(t.Record.Parents)})
	}
	if replica := t.Record.Replica(); replica != "" {
		ours = append(ours, variable{"CARILLON_REPLICA", common.ReplicaLabel(replica)})
		if count := t.Record.Policy.Daemon.Count; count != common.AllWorkers {
			ours = append(ours, variable{"CARILLON_REPLICAS", strconv.Itoa(int(count))})
		}
	}
	if of := t.Record.Flow; of.OfSpread() {
		ours[0].value = of.Job
		ours = append(ours, variable{"CARILLON_SPREAD_RUN", of.Run})
	} else if of != nil {
		step, item, err := common.SplitNode(of.Node)
		if err != nil {
			step, item = of.Node, -1
		}
		ours = append(ours, variable{"CARILLON_FLOW", of.Job}, variable{"CARILLON_FLOW_RUN", of.Run},
			variable{"CARILLON_STEP", step})
		if item >= 0 {
			ours = append(ours, variable{"CARILLON_ITEM_INDEX", strconv.Itoa(item)})
		}
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
		if !named(ours, name) {
			add(variable{name, value})
		}
	}
	for name, value := range t.Job.Env {
		if _, over := params[name]; !over && !named(ours, name) {
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

// parentRuns returns the runs of the parents of a job, a line for each: job, run, planned time.
func parentRuns(parents []common.ParentRun) string {
	lines := make([]string, len(parents))
	for i, p := range parents {
		lines[i] = p.Job + " " + p.Run + " " + utc(p.PlannedAt)
	}
	return strings.Join(lines, "\n")
}

// traceparent returns the span that a command continues: that of the command if spans are exported, otherwise the one
// that requested the run; empty if there is none.
func (x *Executor) traceparent(r *common.Record) string {
	if !x.cfg.Traced {
		return r.Traceparent
	}
	return r.CommandTrace().Traceparent()
}

type variable struct{ name, value string }

// utc returns the text of a time; empty for the zero time.
func utc(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// named reports whether one of our variables has the name.
func named(ours []variable, name string) bool {
	return strings.HasPrefix(name, "CARILLON_") &&
		slices.ContainsFunc(ours, func(v variable) bool { return v.name == name })
}
