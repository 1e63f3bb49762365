package common

import "time"

// TriggerRequest asks for a run outside the plan.
type TriggerRequest struct {
	Job    string
	Note   string
	Params map[string]string
	Worker string // only there; name or id; empty for any
	// Key of idempotency: asked twice with the same key by the same actor within a
	// day, it is done once. Empty for none.
	Key string
	// May is asked with the group of the job; what it says against the run is the answer.
	// Nil allows it.
	May func(group string) error `json:"-"`
}

// KillRequest asks for the end of a run.
type KillRequest struct {
	Signal Signal // with which it begins; TERM where there is none
	Note   string
}

// PauseRequest asks that a job does not fire, until a time or until it is resumed.
type PauseRequest struct {
	Note  string
	Until *time.Time
}
