package carillon

import (
	"maps"
	"time"
)

// Option sets fields of the job of a function.
type Option func(*Job)

// Title sets the display name.
func Title(title string) Option { return func(j *Job) { j.Title = title } }

// Description sets the description.
func Description(text string) Option { return func(j *Job) { j.Description = text } }

// Group sets the group, in place of Config.Group.
func Group(name string) Option { return func(j *Job) { j.Group = name } }

// Labels adds labels.
func Labels(labels map[string]string) Option {
	return func(j *Job) {
		if j.Labels == nil {
			j.Labels = map[string]string{}
		}
		maps.Copy(j.Labels, labels)
	}
}

// Timezone sets the IANA time zone of the schedule.
func Timezone(zone string) Option { return func(j *Job) { j.Timezone = zone } }

// Jitter delays each fire by up to a time, always the same for the same fire.
func Jitter(most time.Duration) Option { return func(j *Job) { j.Jitter = most.String() } }

// Schedules sets several schedules, in place of the cron line, which must be empty then, the time zone and the jitter.
func Schedules(all ...Schedule) Option {
	return func(j *Job) { j.Schedules = append(j.Schedules, all...) }
}

// After makes the job run when each of these jobs has succeeded since its last such fire.
func After(jobs ...string) Option { return func(j *Job) { j.After = append(j.After, jobs...) } }

// Overlap sets what a fire does while an earlier run is unresolved: skip, queue, replace or allow.
func Overlap(policy string) Option { return func(j *Job) { j.Overlap = policy } }

// Retry retries failed runs at most so many times, with a backoff that doubles.
func Retry(most int, backoff time.Duration) Option {
	return func(j *Job) { j.Retry = &RetryPolicy{Max: most, Backoff: backoff.String()} }
}

// RetryCodes retries only runs that have ended with one of these exit codes; see Exit.
func RetryCodes(codes ...int) Option {
	return func(j *Job) {
		if j.Retry == nil {
			j.Retry = &RetryPolicy{}
		}
		j.Retry.ExitCodes = append(j.Retry.ExitCodes, codes...)
	}
}

// SuccessCodes sets the exit codes that count as success. Default: 0.
func SuccessCodes(codes ...int) Option { return func(j *Job) { j.SuccessExitCodes = codes } }

// Timeout ends the context of the function after a time.
func Timeout(limit time.Duration) Option { return func(j *Job) { j.Timeout = limit.String() } }

// KillGrace sets how long the function is expected to take to return once its context has ended.
func KillGrace(grace time.Duration) Option { return func(j *Job) { j.KillGrace = grace.String() } }

// LostAfter sets how long a process that cannot reach etcd lets the function continue.
func LostAfter(limit time.Duration) Option { return func(j *Job) { j.LostAfter = limit.String() } }

// OnLost sets what follows when a run is lost with its process: rerun, abandon or detach.
func OnLost(policy string) Option { return func(j *Job) { j.OnLost = policy } }

// StartDeadline sets how long after its planned time a fire counts as late.
func StartDeadline(limit time.Duration) Option {
	return func(j *Job) { j.StartDeadline = limit.String() }
}

// CatchUp selects the late fires that still run: none, latest or all, no older than window.
func CatchUp(policy string, window time.Duration) Option {
	return func(j *Job) { j.CatchUp = &CatchUpPolicy{Policy: policy, Window: window.String()} }
}

// Parameter declares a parameter, with its default.
func Parameter(name, value string) Option {
	return func(j *Job) {
		if j.Params == nil {
			j.Params = map[string]Param{}
		}
		j.Params[name] = Param{Default: value}
	}
}

// Outputs declares the outputs that the function sets with Run.Output.
func Outputs(names ...string) Option {
	return func(j *Job) {
		if j.Outputs == nil {
			j.Outputs = map[string]Output{}
		}
		for _, name := range names {
			j.Outputs[name] = Output{}
		}
	}
}

// Slots sets how many slots of its process a run uses.
func Slots(n int) Option { return func(j *Job) { j.Slots = n } }

// Priority sets the order in which fires get free slots, from 1 to 9, 9 first.
func Priority(n int) Option { return func(j *Job) { j.Priority = n } }

// Select restricts the job to processes whose labels match a selector.
func Select(selector string) Option {
	return func(j *Job) { j.Placement = &Placement{Selector: selector} }
}

// Notify notifies channels of events: failed, missed, lost, late, recovered, paused, output.
func Notify(events []string, channels ...string) Option {
	return func(j *Job) { j.Notify = &NotifyPolicy{On: events, To: channels} }
}

// Paused creates the job paused. A later change of the program does not pause or resume it.
func Paused(note string) Option {
	return func(j *Job) { j.Paused, j.PauseNote = true, note }
}

// With sets any fields of the job.
func With(set func(*Job)) Option { return set }
