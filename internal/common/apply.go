package common

// Effect is the result of saving a job, or of a dry run.
type Effect string

// Effects of saving a job.
const (
	EffectCreated   Effect = "created"
	EffectChanged   Effect = "changed"
	EffectUnchanged Effect = "unchanged"
)

// Saved is a saved job, or the result of a dry run.
type Saved struct {
	Effect Effect
	Before *Job // nil for a new job
	State  JobState
}
