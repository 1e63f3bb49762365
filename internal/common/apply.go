package common

// Effect says what saving a job does, or would do.
type Effect string

// What it can do.
const (
	EffectCreated   Effect = "created"
	EffectChanged   Effect = "changed"
	EffectUnchanged Effect = "unchanged"
)

// Saved is a job that was saved, or would be.
type Saved struct {
	Effect Effect
	Before *Job // as it was; nil where there was none
	State  JobState
}
