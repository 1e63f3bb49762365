package common

import "time"

// LateEnd is what a worker tells of a run that ended after somebody else had resolved
// it: a note beside the outcome, which it never changes. It is shown only where that
// outcome is "lost", since a finish that is repeated after a lost answer writes one too.
type LateEnd struct {
	Run         string     `json:"run"`
	Job         string     `json:"job"`
	Status      Status     `json:"status"` // as the worker saw it
	Worker      string     `json:"worker"`
	WorkerName  string     `json:"workerName,omitempty"`
	ExitCode    *int       `json:"exitCode,omitempty"`
	Signal      string     `json:"signal,omitempty"`
	StartedAt   *time.Time `json:"startedAt,omitempty"`
	EndedAt     *time.Time `json:"endedAt,omitempty"`
	OutputBytes int64      `json:"outputBytes"`
}

// Late makes the note of an outcome that came too late.
func (r *Run) Late() LateEnd {
	return LateEnd{
		Run:         r.ID,
		Job:         r.Job,
		Status:      r.Status,
		Worker:      r.Worker,
		WorkerName:  r.WorkerName,
		ExitCode:    r.ExitCode,
		Signal:      r.Signal,
		StartedAt:   r.StartedAt,
		EndedAt:     r.EndedAt,
		OutputBytes: r.OutputBytes,
	}
}
