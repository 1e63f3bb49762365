package flow

import (
	"cmp"
	"maps"
	"slices"

	"carillon/internal/common"
)

// Spread returns the flow that a job with runOn is: one step, a map over the workers that the head of a flow run names.
// Its runs are those of the job's own command.
func Spread(job *common.Job) common.Job {
	onLost := job.OnLost
	if job.RunOn.Workers == common.AllWorkers && onLost != common.LostDetach { // no other worker could take its place
		onLost = common.LostAbandon
	}
	env := maps.Clone(job.Env)
	if _, own := env["TZ"]; !own && job.Zone() != "" { // steps have no time zone
		if env == nil {
			env = map[string]string{}
		}
		env["TZ"] = job.Zone()
	}
	return common.Job{
		Name:        job.Name,
		Group:       job.Group,
		Env:         env,
		Params:      job.Params,
		Concurrency: cmp.Or(job.RunOn.Concurrency, common.MaxConcurrency),
		Steps: []common.Step{{
			Name:             common.SpreadStep,
			ForEach:          common.OfWorkers(job.RunOn),
			Command:          job.Command,
			Args:             job.Args,
			Stdin:            job.Stdin,
			Shell:            job.Shell,
			WorkDir:          job.WorkDir,
			User:             job.User,
			Timeout:          job.Timeout,
			KillGrace:        job.KillGrace,
			MemoryMax:        job.MemoryMax,
			TasksMax:         job.TasksMax,
			SuccessExitCodes: job.SuccessExitCodes,
			Output:           job.Output,
			Outputs:          job.Outputs,
			Retry:            job.Retry,
			OnLost:           onLost,
			LostAfter:        job.LostAfter,
			Placement:        job.Placement,
			Priority:         job.Priority,
			Slots:            job.Slots,
		}},
	}
}

// Current returns the digest of a stored job's definition: empty if none is stored, or if it is not that of the job,
// whose command a master without support for runOn has changed.
func Current(job *common.StoredJob) string {
	if !job.HasBody() {
		return ""
	}
	if job.RunOn != nil {
		spread := Spread(&job.Job)
		if _, ref, err := Refer(&spread); err != nil || ref.Digest != job.Flow.Digest {
			return ""
		}
	}
	return job.Flow.Digest
}

// spreadFaults returns the faults of a job with runOn that only its step has: what a step would replace by values is
// refused, so that it is neither run as it is nor replaced.
func spreadFaults(job *common.Job) (faults common.Faults) {
	plain := func(location, value string) {
		if isTemplate(value) {
			faults.Add(location, "misplaced", nil, "must not contain ${{ beside runOn: there are no steps to read from")
		}
	}
	plain("command", job.Command)
	for i, arg := range job.Args {
		plain("args["+itoa(i)+"]", arg)
	}
	plain("stdin", job.Stdin)
	for _, name := range slices.Sorted(maps.Keys(job.Env)) {
		plain("env."+common.Excerpt(name), job.Env[name])
	}
	return faults
}
