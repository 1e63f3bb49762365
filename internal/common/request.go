package common

import "time"

// TriggerRequest requests a run outside the schedule.
type TriggerRequest struct {
	Job    string
	Note   string
	Params map[string]string
	Worker string // only this worker, by name or id; any if empty
	// Key is the idempotency key: a request that is repeated with it by the same actor within a day is executed once.
	// Empty for none.
	Key string
	Pre Precondition `json:"-"` // of a new trigger
}

// KillRequest requests the end of a run.
type KillRequest struct {
	Signal Signal // the first signal; TERM if empty
	Note   string
}

// PauseRequest requests to pause a job, until a time or until it is resumed.
type PauseRequest struct {
	Note  string
	Until *time.Time
}
