package common

import "time"

// LateEnd is how a run ended after another process had resolved it: a note beside the outcome, which it never changes.
// It is shown only beside the outcome lost, since a finish that is repeated after a lost answer writes one too.
type LateEnd struct {
	Run         string     `json:"run"`
	Job         string     `json:"job"`
	Status      Status     `json:"status" enum:"succeeded,failed,timed_out,killed,lost,refused,missed" doc:"Status on its worker."`
	Worker      string     `json:"worker" doc:"Id of the worker."`
	WorkerName  string     `json:"workerName,omitempty"`
	ExitCode    *int       `json:"exitCode,omitempty"`
	Signal      string     `json:"signal,omitempty"`
	StartedAt   *time.Time `json:"startedAt,omitempty"`
	EndedAt     *time.Time `json:"endedAt,omitempty"`
	OutputBytes int64      `json:"outputBytes"`
}

// Late returns the late end that an outcome is noted as.
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
