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
	Signal Signal `json:"signal,omitempty" enum:"TERM,INT,QUIT,HUP,USR1,USR2,KILL" doc:"The signal to send first; default TERM. Processes still alive after the job's killGrace get KILL; with KILL there is no grace period. A pending run is cancelled, whatever the signal."`
	Note   string `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the run."`
}

// PauseRequest requests to pause a job, until a time or until it is resumed.
type PauseRequest struct {
	Note  string     `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the job. Recommended."`
	Until *time.Time `json:"until,omitempty" doc:"When the job resumes automatically. Default: not before it is resumed."`
}
