package flow

import (
	"cmp"
	"fmt"
	"maps"

	"carillon/internal/common"
)

// Inline returns the job that a node of an inline step runs: the fields of the step, with the defaults of the flow.
// Variables that are computed at the start of the node are parameters of this job, so that its trigger can set these
// and no others.
func (g *Graph) Inline(name string) (common.Job, error) {
	i, known := g.index[name]
	if !known || g.steps[i].def.Kind() != common.InlineStep {
		return common.Job{}, fmt.Errorf("flow %q has no inline step %.80q", g.job.Name, name)
	}
	s := &g.steps[i]
	job := g.inline(s.def)
	job.Params = make(map[string]common.Param)
	for param, p := range g.job.Params {
		if _, own := s.def.Env[param]; !own {
			job.Params[param] = p
		}
	}
	job.Env = maps.Clone(g.job.Env)
	if job.Env == nil {
		job.Env = map[string]string{}
	}
	maps.Copy(job.Env, s.def.Env)
	for variable, value := range job.Env {
		if _, own := s.def.Env[variable]; !own && job.Type == common.TypeFunc && job.NamesSecret(variable) {
			delete(job.Env, variable) // a function gets no secrets
			continue
		}
		if isTemplate(value) {
			delete(job.Env, variable)
			job.Params[variable] = common.Param{}
		}
	}
	if f := s.def.ForEach; f != nil && !f.IsOfWorkers() {
		delete(job.Env, f.Variable())
		job.Params[f.Variable()] = common.Param{}
	}
	return job, nil
}

// inline returns the job that an inline step is, without env and params.
func (g *Graph) inline(def *common.Step) common.Job {
	flow := &g.job
	job := common.Job{
		Name:             common.StepJob(flow.Name, def.Name),
		Title:            def.Title,
		Group:            flow.Group,
		Type:             def.Type,
		With:             def.With,
		Command:          def.Command,
		Args:             def.Args,
		Stdin:            def.Stdin,
		Shell:            def.Shell,
		WorkDir:          cmp.Or(def.WorkDir, flow.WorkDir),
		User:             cmp.Or(def.User, flow.User),
		Timeout:          timeoutOf(def),
		KillGrace:        cmp.Or(def.KillGrace, flow.KillGrace),
		MemoryMax:        cmp.Or(def.MemoryMax, flow.MemoryMax),
		TasksMax:         cmp.Or(def.TasksMax, flow.TasksMax),
		SuccessExitCodes: def.SuccessExitCodes,
		Overlap:          common.OverlapAllow,
		Output:           cmp.Or(def.Output, flow.Output),
		Outputs:          def.Outputs,
		Retry:            def.Retry,
		OnLost:           cmp.Or(def.OnLost, flow.OnLost),
		LostAfter:        cmp.Or(def.LostAfter, flow.LostAfter),
		Placement:        cmp.Or(def.Placement, flow.Placement),
		Priority:         cmp.Or(def.Priority, flow.Priority),
		Slots:            def.Slots,
	}
	if len(def.Args) == 0 && !def.IsTyped() {
		job.Shell = cmp.Or(def.Shell, flow.Shell)
	}
	if job.HasNoProcess() { // defaults for commands do not apply
		job.User, job.WorkDir, job.MemoryMax, job.TasksMax = def.User, def.WorkDir, def.MemoryMax, def.TasksMax
	}
	return job
}

// timeoutOf returns the timeout of the runs of a step.
func timeoutOf(def *common.Step) common.Duration {
	if def.Finally {
		return cmp.Or(def.Timeout, common.DefaultCleanUpTimeout)
	}
	return def.Timeout
}
