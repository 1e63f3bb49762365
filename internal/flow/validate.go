package flow

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"carillon/internal/common"
)

// Faults returns all faults of a job, which may be a flow, except those of its schedule.
func Faults(job *common.Job) common.Faults {
	if job.IsFlow() {
		return Validate(job)
	}
	faults := job.Faults()
	if job.RunOn != nil && len(faults) == 0 {
		return spreadFaults(job)
	}
	return faults
}

// Validate returns all faults of a definition, at most 1,000, with their locations: those of the flow's own fields
// and those at steps[i]. Whether the jobs that steps name exist is checked where jobs are stored; see Loop for flows
// that lead back to themselves.
func Validate(job *common.Job) common.Faults {
	b := build(job, common.MaxFlowNodes)
	own := job.FlowFaults()
	if len(job.Steps) > common.MaxSteps {
		return append(own, b.faults...)
	}
	b.flowFields()
	for i := range job.Steps {
		b.fields(i)
	}
	b.references()
	if len(b.faults) == 0 && len(own) == 0 {
		data, err := canonical(&Definition{Job: bodyJob(job, readsOf(job))})
		if err != nil || len(data) > common.MaxFlowBytes {
			b.add("", "too_large", nil, "is larger than 8 MiB").With("size", "8 MiB")
		}
	}
	all := append(own, b.faults...)
	return all[:min(len(all), maxFaults)]
}

// flowFields checks the fields of the flow that no other job has.
func (b *builder) flowFields() {
	job := &b.graph.job
	if n := job.Concurrency; n < 0 || n > common.MaxConcurrency {
		b.add("concurrency", "range", n, "must be from 1 to %d", common.MaxConcurrency).
			With("least", 1, "most", common.MaxConcurrency)
	}
	if n := len(Secrets(job)); n > common.MaxFlowSecrets {
		b.add("steps", "too_many", n, "must refer to at most %d secrets", common.MaxFlowSecrets).
			With("most", common.MaxFlowSecrets)
	}
	if n := len(b.graph.final); n > common.MaxCleanUps {
		b.add("steps", "too_many", n, "must contain at most %d clean-up steps", common.MaxCleanUps).
			With("most", common.MaxCleanUps)
	} else if n > 0 && n == len(b.graph.steps) {
		b.add("steps", "required", nil, "must contain a step without finally")
	}
	b.targets("env", b.graph.env)
	for _, name := range slices.Sorted(maps.Keys(job.Params)) {
		b.plain("params."+common.Excerpt(name)+".default", job.Params[name].Default)
	}
	for _, f := range []struct{ location, value string }{
		{"title", job.Title}, {"workDir", job.WorkDir}, {"shell", job.Shell}, {"user", job.User},
	} {
		b.plain(f.location, f.value)
	}
}

// nested adds faults below a location.
func (b *builder) nested(prefix string, faults []common.Fault) {
	for _, f := range faults {
		if len(b.faults) < maxFaults {
			f.Location = prefix + f.Location
			b.faults = append(b.faults, f)
		}
	}
}

// fields checks the fields of one step.
func (b *builder) fields(i int) {
	def := b.graph.steps[i].def
	prefix := "steps[" + itoa(i) + "]."
	b.kind(i)
	b.rule(i)
	b.cleanUp(i)
	b.forEach(i)
	switch def.Kind() {
	case common.InlineStep:
		job := b.graph.inline(def)
		job.Env = def.Env // those of the flow are checked once
		faults := job.StepFaults()
		if whole, err := b.graph.Inline(def.Name); err == nil {
			faults = append(faults, whole.UnknownNames()...)
		}
		if def.Command == "" && len(def.Args) == 0 { // kind reports it
			faults = slices.DeleteFunc(faults, func(f common.Fault) bool { return f.Location == "command" })
		}
		if def.Finally { // cleanUp reports it, with the range of clean-up steps
			faults = slices.DeleteFunc(faults, func(f common.Fault) bool {
				return f.Location == "timeout" && f.Code == "range"
			})
		}
		b.nested(prefix, faults)
		b.targets(prefix+"env", b.graph.steps[i].texts)
	case common.JobStep:
		if !common.ValidName(def.Job) {
			b.add(prefix+"job", "name", def.Job, "%s", common.NameRule)
		}
		if len(def.Params) > common.MaxParams {
			b.add(prefix+"params", "too_many", len(def.Params), "must be at most %d", common.MaxParams).
				With("most", common.MaxParams)
		}
		b.nested(prefix, def.RetryFaults())
	case common.ApprovalStep:
		b.nested(prefix, def.Approval.ApprovalFaults())
		most, own := b.graph.job.Timeout.Or(0), def.Approval.Timeout.Or(0)
		if most > 0 && own >= most {
			b.add(prefix+"approval.timeout", "range", def.Approval.Timeout,
				"must be shorter than the timeout of the flow, %s", b.graph.job.Timeout).
				With("most", string(b.graph.job.Timeout))
		}
	case common.WaitStep:
		b.nested(prefix, def.Wait.WaitFaults(b.graph.job.Name))
		most, own := b.graph.job.Timeout.Or(0), def.Wait.Timeout.Or(0)
		if most > 0 && own >= most {
			b.add(prefix+"wait.timeout", "range", def.Wait.Timeout,
				"must be shorter than the timeout of the flow, %s", b.graph.job.Timeout).
				With("most", string(b.graph.job.Timeout))
		}
	}
	b.plainFields(i)
	own := *def // edges and items have bounds of their own
	own.After, own.ForEach = nil, nil
	if data, err := json.Marshal(&own); err == nil && len(data) > common.MaxStepBytes {
		b.add(prefix[:len(prefix)-1], "too_large", nil, "is larger than 64 KiB").With("size", "64 KiB")
	}
}

// targets checks the names of variables that are set from references.
func (b *builder) targets(location string, texts []text) {
	if len(texts) > common.MaxParams {
		b.add(location, "too_many", len(texts), "must contain at most %d values with ${{", common.MaxParams).
			With("most", common.MaxParams)
	}
	for _, t := range texts {
		if common.DecidesWhatRuns(t.name) {
			b.add(location+"."+common.Excerpt(t.name), "env_reserved", t.name,
				"cannot contain ${{: the variable decides what a run executes, or is set by the worker")
		}
	}
}

// plainFields checks that no other field of a step contains references: they would be run as code.
func (b *builder) plainFields(i int) {
	def := b.graph.steps[i].def
	b.plain(at(i, "command"), def.Command)
	for n, arg := range def.Args {
		b.plain(at(i, "args["+itoa(n)+"]"), arg)
	}
	def.With.Strings(func(location, text string) { b.plain(at(i, "with."+location), text) })
	for _, f := range [...]struct{ name, value string }{{"stdin", def.Stdin}, {"shell", def.Shell},
		{"workDir", def.WorkDir}, {"user", def.User}, {"title", def.Title}, {"job", def.Job}} {
		b.plain(at(i, f.name), f.value)
	}
	if def.Approval != nil {
		for _, name := range def.Approval.Params.Names() {
			b.plain(at(i, "approval.params."+common.Excerpt(name)+".default"), def.Approval.Params[name].Default)
		}
	}
	if def.Wait != nil {
		b.plain(at(i, "wait.job"), def.Wait.Job)
	}
	if def.ForEach != nil {
		for n, item := range def.ForEach.Items {
			b.plain(at(i, "forEach.items["+itoa(n)+"]"), item)
		}
	}
}

func (b *builder) plain(location, value string) {
	if !isTemplate(value) || len(b.faults) >= maxFaults {
		return
	}
	f := common.NewFault(location, "misplaced", nil, "must not contain ${{, which is allowed in params, env and the "+
		"text of an approval only").
		WithHint("set a variable: env: {DAY: '${{ steps.extract.outputs.day }}'}, and use \"$DAY\" in the command")
	b.faults = append(b.faults, f)
}

func itoa(n int) string { return strconv.Itoa(n) }
